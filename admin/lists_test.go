package admin

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Numbers are added to a list and removed, and what cannot be an entry is refused. A list that cannot be written is no fault of the
// request.
func TestChangeLists(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "stops.txt"), []byte("# none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lists := "lists: [{name: stops, file: " + filepath.Join(dir, "stops.txt") + "}]\n"
	r := start(t, parse(t, wholeConfig+lists, t.TempDir(), sink.Addr()), false)
	for _, c := range []struct {
		method, path string
		code         int
		want         string
	}{
		{"POST", "lists/add?list=stops&number=%2B46701&number=46701&number=46702", 200, `{"changed":2}`},
		{"POST", "lists/add?list=stops&number=46701", 200, `{"changed":0}`},
		{"GET", "listed?number=46701", 200, `{"lists":["stops"]}`},
		{"POST", "lists/remove?list=stops&number=46701", 200, `{"changed":1}`},
		{"GET", "listed?number=46701", 200, `{"lists":[]}`},
		{"POST", "lists/add?list=stops", 400, "give 1 to 1000 numbers"},
		{"POST", "lists/add?list=stop&number=46701", 404, "has no list of this name"},
		{"POST", "lists/add?list=stops&number=4670*", 422, "prefixes must be in the file"},
		{"POST", "lists/add?list=stops&number=4670174o605", 422, "a letter among the digits"},
		{"GET", "lists/add?list=stops&number=46701", 405, ""},
	} {
		if code, body := orders(t, c.method, r.url+Base+"/"+c.path); code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %q", c.method, c.path, code, body)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if code, body := orders(t, "POST", r.url+Base+"/lists/add?list=stops&number=46703"); code != 500 {
		t.Errorf("without its directory: %d %q", code, body)
	}
}

func orders(t *testing.T, method, url string) (int, string) {
	t.Helper()
	q, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := client().Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(body)
}
