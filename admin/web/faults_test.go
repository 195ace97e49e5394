package web

import (
	"net/http"
	"strings"
	"testing"

	"pmg/config"
)

// A page that fails, and one that there is not, are pages with a way back. The others are served on.
func TestFaults(t *testing.T) {
	t.Parallel()
	base, _ := start(t)
	b := visitor(t, base, config.LookScope)
	for _, c := range []struct {
		path string
		code int
		want string
	}{
		{"/ui/routing?to=fault&account=a", http.StatusInternalServerError, "This page cannot be shown"},
		{"/ui/nosuch", http.StatusNotFound, "Not found"},
		{"/ui/connectors/nosuch/more", http.StatusNotFound, "Not found"},
		{"/", http.StatusSeeOther, ""},
		{"/ui/routing?to=46&account=a", http.StatusOK, "To:46"},
	} {
		code, body, _ := ask(t, b, "GET", base+c.path, nil)
		if code != c.code || !strings.Contains(body, c.want) || !strings.Contains(body, `<a href="/ui/"`) {
			t.Errorf("%s: %d %s", c.path, code, body)
		}
	}
}
