package admin

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pmg/config"
	"pmg/internal/testkit/testutil"
	"pmg/internal/token"
)

// startLists runs a gateway with a list of each text, whose files are in dir.
func startLists(t *testing.T, texts map[string]string) (r *running, dir string) {
	t.Helper()
	dir = t.TempDir()
	lists := "lists:\n"
	for name, text := range texts {
		file := filepath.Join(dir, name+".txt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		lists += "  - {name: " + name + ", file: " + file + "}\n"
	}
	cfg := parse(t, clientsOnly+lists, t.TempDir())
	cfg.Admin.Audit = filepath.Join(dir, "audit")
	r = start(t, cfg, false)
	r.setTokens([]config.Token{
		{Name: "test", Hash: token.Hash(testToken), Scope: config.AdministerScope}, {Name: "looker", Hash: token.Hash("pmg_look"), Scope: config.LookScope},
		{Name: "operator", Hash: token.Hash("pmg_operate"), Scope: config.OperateScope},
	})
	return r, dir
}

// asks sends a request with a token.
func (r *running) asks(token, method, path, body string) (code int, answer string) {
	r.t.Helper()
	q, err := http.NewRequest(method, r.url+Base+"/"+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded") // as curl -d does
	c := http.Client{Transport: authorized(token)}
	a, err := c.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer a.Body.Close()
	b, _ := io.ReadAll(a.Body)
	return a.StatusCode, string(b)
}

// One number is added with a reason, shown with its history, and removed, by those who may; what is wrong is refused. The audit log
// has the reasons, and no number.
func TestListedNumber(t *testing.T) {
	t.Parallel()
	r, dir := startLists(t, map[string]string{"stops": "468*\n46709\n", "names": "ACME\n"})
	const operate, look = "pmg_operate", "pmg_look"
	long := strings.Repeat("1", 1<<20)
	for _, c := range []struct {
		token, method, path, body string
		code                      int
		want                      string
	}{
		{look, "GET", "lists/stops/numbers/46701740605", "", 200, `"on":false,"history":[]}`},
		{look, "GET", "lists/stops/numbers/46899", "", 200, `"number":"46899","on":true,"by":"prefix"`},
		{look, "GET", "lists/stops/numbers/46709", "", 200, `"by":"file"`},
		{look, "GET", "lists/names/numbers/acme", "", 200, `"by":"file"`},
		{look, "PUT", "lists/stops/numbers/46701740605", `{"reason":"x"}`, 403, "it needs a token with scope operate"},
		{look, "DELETE", "lists/stops/numbers/46709", "", 403, "it needs a token with scope operate"},
		{look, "POST", "lists/add?list=stops&number=46701740605", "", 403, "it needs a token with scope operate"},
		{"pmg_wrong", "PUT", "lists/stops/numbers/46701740605", "", 401, ""},
		{"pmg_wrong", "GET", "lists/stops/export", "", 401, ""},
		{operate, "PUT", "lists/stops/numbers/%2B46701740605?list=names&number=46702&reason=no", `{"reason":"asked by letter, \"=1+1\""}`, 200, `{"changed":1}`},
		{operate, "PUT", "lists/stops/numbers/46701740605", "", 200, `{"changed":0}`},
		{operate, "DELETE", "lists/stops/numbers/46701740605?reason=back+again", "", 200, `{"changed":1}`},
		{operate, "DELETE", "lists/stops/numbers/46899", "", 200, `{"changed":1}`},
		{operate, "POST", "lists/add?list=stops&number=46703&reason=by+phone", "", 200, `{"changed":1}`},
		{look, "GET", "lists/stops/numbers/46899", "", 200, `"on":false,"by":"change"`},
		{operate, "PUT", "lists/stops/numbers/4670*", "", 422, "prefixes must be in the file"},
		{look, "GET", "lists/stops/numbers/4670*", "", 422, "prefixes must be in the file"},
		{operate, "PUT", "lists/stops/numbers/4670174o605", "", 422, "a letter among the digits"},
		{operate, "PUT", "lists/stop/numbers/46701740605", "", 404, "cannot change list stop: the configuration has no list of this name"},
		{look, "GET", "lists/stop/numbers/46701740605", "", 404, "has no list of this name"},
		{look, "GET", "lists/stop/export", "", 404, "has no list of this name"},
		{operate, "PUT", "lists/stops/numbers/46701740605", `{"reason":"a\nb"}`, 422, "a reason is one line"},
		{operate, "PUT", "lists/stops/numbers/46701740605", `{"reason":"` + strings.Repeat("x", 201) + `"}`, 422, "200 octets at most"},
		{operate, "PUT", "lists/stops/numbers/46701740605", `{"reason":"` + strings.Repeat("x", 5000) + `"}`, 400, "too large"},
		{operate, "PUT", "lists/stops/numbers/46701740605", `{"reasons":"x"}`, 400, "unknown field"},
		{operate, "PUT", "lists/stops/numbers/46701740605", `{"reason":"x"} {}`, 400, "something is behind it"},
		{operate, "PUT", "lists/stops/numbers/46701740605", `reason=x`, 400, "the body must be such as"},
		{operate, "DELETE", "lists/stops/numbers/46703?reason=%00", "", 422, "a reason is one line"},
		{operate, "PUT", "lists/stops/numbers/" + long[:30_000], "", 431, ""},
		{operate, "POST", "lists/add", "list=stops&number=" + long, 400, "too large"},
		{operate, "POST", "lists/add", "list=stops&number=" + long[:50_000], 422, "it is longer than 20 characters"},
		{operate, "POST", "lists/stops/numbers/46703", "", 405, ""},
	} {
		if code, body := r.asks(c.token, c.method, c.path, c.body); code != c.code || !strings.Contains(body, c.want) || len(body) > 1000 {
			t.Errorf("%s %.60s as %s: %d %.300s", c.method, c.path, c.token, code, body)
		}
	}
	var found Listed
	_, body := r.asks(look, "GET", "lists/stops/numbers/0046701740605", "")
	if err := json.Unmarshal([]byte(body), &found); err != nil || found.On || len(found.History) != 2 {
		t.Fatal(body, err)
	}
	for i, want := range []ListChange{{Change: "removed", Reason: "back again"}, {Change: "added", Reason: `asked by letter, "=1+1"`}} {
		if got := found.History[i]; got.Time == nil || got.Change != want.Change || got.Reason != want.Reason || got.Who != "token operator" || got.Source != "api" || got.Number != "46701740605" {
			t.Errorf("%+v", got)
		}
	}
	audit, err := os.ReadFile(filepath.Join(dir, "audit"))
	if text := string(audit); err != nil || strings.Contains(text, "46701740605") || !strings.Contains(text, "asked by letter") || strings.Count(text, `"act":"lists/add"`) < 10 {
		t.Errorf("%s, %v", text, err)
	}
	if err := os.Remove(filepath.Join(dir, "stops.txt")); err != nil {
		t.Fatal(err)
	}
	if code, body := r.asks(operate, "PUT", "lists/stops/numbers/46704", ""); code != 200 {
		t.Errorf("without its file: %d %s", code, body)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "stops.txt.changes")), os.Mkdir(filepath.Join(dir, "stops.txt.changes"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if code, body := r.asks(operate, "PUT", "lists/stops/numbers/46705", ""); code != 500 {
		t.Errorf("with a journal that cannot be written: %d %s", code, body)
	}
}

// An export has what is on the list, with where it comes from, and with all=1 the removed numbers. Two run at a time, and one ends when
// its reader leaves.
func TestExportList(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&many, "467%08d\n", i)
	}
	r, dir := startLists(t, map[string]string{"stops": "468*\n46709\nACME\n", "many": many.String()})
	for _, change := range []url.Values{{"number": {"46701"}, "reason": {"=cmd|' /C calc'!A0"}}, {"number": {"46702"}}} {
		change.Set("list", "stops")
		if code, body := r.asks(testToken, "POST", "lists/add?"+change.Encode(), ""); code != 200 {
			t.Fatal(code, body)
		}
	}
	if code, body := r.asks(testToken, "DELETE", "lists/stops/numbers/46709", ""); code != 200 {
		t.Fatal(code, body)
	}
	_, on := r.asks("pmg_look", "GET", "lists/stops/export", "")
	_, all := r.asks("pmg_look", "GET", "lists/stops/export?all=1", "")
	for _, want := range []string{"number,on,since,source,who,id,reason\r\n", "468*,yes,,,,,\r\n", "ACME,yes,", "46701,yes,", `,api,"token test",,"'=cmd|' /C calc'!A0"` + "\r\n", "46702,yes,"} {
		if !strings.Contains(on, want) || !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, on)
		}
	}
	if strings.Contains(on, "46709") || !strings.Contains(all, "46709,no,") {
		t.Errorf("%s\n%s", on, all)
	}
	for range mostExports + 1 { // each leaves behind the first line
		q, err := http.NewRequest("GET", r.url+Base+"/lists/many/export", nil)
		if err != nil {
			t.Fatal(err)
		}
		testutil.Eventually(t, "a place for an export", func() bool {
			a, err := client().Do(q)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = bufio.NewReader(a.Body).ReadString('\n')
			_ = a.Body.Close()
			return a.StatusCode == 200
		})
	}
	testutil.Eventually(t, "the exports end", func() bool { return len(r.admin.exports) == 0 })
	audit, err := os.ReadFile(filepath.Join(dir, "audit"))
	if n := strings.Count(string(audit), `"act":"lists/many/export"`); err != nil || n < mostExports+1 {
		t.Errorf("%d exports are in the audit log, %v: %s", n, err, audit)
	}
	for range mostExports {
		r.admin.exports <- struct{}{}
	}
	if code, body := r.asks(testToken, "GET", "lists/stops/export", ""); code != 503 || !strings.Contains(body, "others are exported") {
		t.Errorf("%d %s", code, body)
	}
}

// An export of a million rows needs no memory for them.
func TestExportMemory(t *testing.T) {
	testutil.Long(t)
	var many strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&many, "467%08d\n", i)
	}
	r, _ := startLists(t, map[string]string{"many": many.String()})
	many.Reset()
	a, err := client().Get(r.url + Base + "/lists/many/export")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	var least, most uint64
	rows := -1
	for in := bufio.NewScanner(a.Body); in.Scan(); rows++ {
		if rows%200_000 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			if least = min(least, m.HeapAlloc); rows == 0 {
				least = m.HeapAlloc
			}
			most = max(most, m.HeapAlloc)
		}
	}
	if rows != 1_000_000 || most-least > 4<<20 {
		t.Errorf("%d rows, %d octets more", rows, most-least)
	}
	t.Logf("%d octets more at the most", most-least)
}

// To forget a number leaves it on its lists, with its history, and says so with the time of the last change.
func TestForgetLeavesLists(t *testing.T) {
	t.Parallel()
	r, _ := startLists(t, map[string]string{"stops": "46709174060\n", "spam": "# none\n", "other": "47*\n"})
	if code, body := r.asks(testToken, "PUT", "lists/stops/numbers/46701740605", `{"reason":"x"}`); code != 200 {
		t.Fatal(code, body)
	}
	for _, method := range []string{"PUT", "DELETE"} {
		if code, body := r.asks(testToken, method, "lists/spam/numbers/46701740605", ""); code != 200 {
			t.Fatal(code, body)
		}
	}
	for _, dry := range []string{"&dry_run=1", ""} {
		code, body := r.asks(testToken, "POST", "forget?number=%2B46701740605"+dry, "")
		for _, want := range []string{
			`{"where":"list stops","why":"it keeps messages away, such as behind an opt-out; pmg list and the list's file remove it; the last change is of 20`,
			`{"where":"list spam","why":"its changes say when somebody has opted out and in; they are lines of the file FILE.changes beside the list's; the last change is of 20`,
		} {
			if code != 200 || !strings.Contains(body, want) || strings.Contains(body, "list other") {
				t.Errorf("%d %s", code, body)
			}
		}
	}
	if _, body := r.asks(testToken, "POST", "forget?number=%2B46709174060", ""); !strings.Contains(body, `pmg list and the list's file remove it"}`) {
		t.Error(body)
	}
	if _, body := r.asks(testToken, "GET", "lists/stops/numbers/46701740605", ""); !strings.Contains(body, `"on":true`) || !strings.Contains(body, `"reason":"x"`) {
		t.Error(body)
	}
}
