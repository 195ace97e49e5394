package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// U1: a reload can be requested by POST, but not by GET or by a web page of another site.
func TestReloadRequest(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), false)
	ask := func(method, form, origin, want string, wantCode int) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, r.url+"/admin/v1/reload?"+form, nil)
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			request.Header.Set("Origin", origin)
		}
		answer, err := client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != wantCode || !strings.Contains(string(body), want) {
			t.Errorf("%s %q from %q: got %d %s, want %d %s", method, form, origin, answer.StatusCode, body, wantCode, want)
		}
	}
	ask("POST", "", "", `file \"\", force false"`, 200)
	ask("POST", "file=/pmg.yaml&force=1", r.url, `file \"/pmg.yaml\", force true"`, 200)
	ask("POST", "file=bad", "", "cannot reload: bad", 409)
	ask("GET", "", "", "", 405)
	ask("POST", "", "http://evil.example", "cross-origin", 403)
}

// reload is the ReloadFunc of the gateways of all tests.
func reload(_ context.Context, file string, force bool) (string, error) {
	if file == "bad" {
		return "", errors.New("cannot reload: bad")
	}
	return fmt.Sprintf("file %q, force %t", file, force), nil
}
