package web

import (
	"net/http"
	"strings"
	"testing"

	"pmg/admin"
	"pmg/config"
)

// What servers have replied is shown to those who may see texts, and to nobody else, on the page as in its stream.
func TestReplies(t *testing.T) {
	t.Parallel()
	base, _ := start(t)
	path := strings.Replace(hooksName, "{name}", "%3Cb%3E%22x", 1) + "?replies=1"
	look, operate := visitor(t, base, config.LookScope), visitor(t, base, config.OperateScope)
	for _, path := range []string{"/ui/" + path, "/ui/stream/" + path} {
		if code, _, _ := ask(t, look, "GET", base+path, nil); code != http.StatusForbidden {
			t.Errorf("%s: %d", path, code)
		}
	}
	if code, body, _ := ask(t, operate, "GET", base+"/ui/"+path, nil); code != http.StatusOK || !strings.Contains(body, ">reply<") {
		t.Errorf("%d %s", code, body)
	}
}

// The page about one thing shows as many sessions as any table, and says where the others are.
func TestFirstSessions(t *testing.T) {
	t.Parallel()
	for n, more := range map[int]int{0: 0, most: 0, most + 3: 3} {
		if open := firstOf(make([]admin.Session, n), "clients/"); len(open.Rows) != min(n, most) || open.More != more || open.Filter != "clients/" {
			t.Errorf("%d sessions: %d rows, %d more, %q", n, len(open.Rows), open.More, open.Filter)
		}
	}
}
