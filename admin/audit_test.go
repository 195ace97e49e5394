package admin

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/config"
	"pmg/internal/token"
)

// Each action has one line in the audit log, with who, what, before, after and the result, also if it was refused.
// Requests that only read have none. The file is the gateway's alone, and may be moved away. No line has a token.
func TestAudit(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	cfg := parse(t, wholeConfig, t.TempDir(), sink.Addr())
	file := filepath.Join(t.TempDir(), "audit.log")
	cfg.Admin.Audit = file
	r := start(t, cfg, false)
	r.await("/readyz", 200, "ok\n")
	r.setTokens([]config.Token{
		{Name: "actor", Hash: token.Hash(testToken), Scope: config.AdministerScope}, {Name: "looker", Hash: token.Hash("pmg_look"), Scope: config.LookScope},
	})
	type line struct {
		Who, From, Act, Result string
		Parameters             map[string][]string
		Before, After          json.RawMessage
	}
	read := func(file string) (all []line) {
		t.Helper()
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), testToken) || strings.Contains(string(b), "pmg_look") {
			t.Errorf("a token is in %s", b)
		}
		for text := range strings.Lines(string(b)) {
			var l line
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Fatal(err)
			}
			all = append(all, l)
		}
		return all
	}
	post := func(c *http.Client, path string) {
		t.Helper()
		answer, err := c.Post(r.url+path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	looker, nobody := &http.Client{Transport: authorized("pmg_look")}, &http.Client{Transport: authorized("pmg_wrong")}
	r.get("/admin/v1/status")
	r.get("/admin/v1/queue")
	post(client(), "/admin/v1/hold?connector=operator&for=1h")
	post(r.local(), "/admin/v1/release?connector=operator")
	post(client(), "/admin/v1/kick?account=nobody")
	post(looker, "/admin/v1/reload")
	post(nobody, "/admin/v1/reload")
	post(nobody, "/admin/v1/kick")
	post(client(), "/admin/v1/reload?file=a")
	post(client(), "/admin/v1/queue/delete?id=%zz")
	all := read(file)
	if len(all) != 6 {
		t.Fatalf("%d lines: %+v", len(all), all)
	}
	held, released := all[0], all[1]
	if held.Who != "token actor from "+held.From || held.Act != "hold" || held.Result != "ok" || held.Parameters["for"][0] != "1h" ||
		held.Before != nil || !strings.Contains(string(held.After), `"until"`) {
		t.Errorf("%+v", held)
	}
	if released.From != "socket" || !strings.Contains(released.Who, "uid ") || !strings.Contains(string(released.Before), `"until"`) || strings.Contains(string(released.After), `"until"`) {
		t.Errorf("%+v", released)
	}
	for i, want := range []line{
		{Who: all[2].Who, Act: "kick", Result: "404 cannot end sessions: there is no session of account nobody; pmg sessions lists them"},
		{Who: "token looker from " + all[3].From, Act: "reload", Result: "403 this is not allowed with token looker"},
		{Who: "unknown", Act: "reload", Result: "401 this token is not one of admin.tokens"},
		{Who: all[5].Who, Act: "reload", Result: "ok"},
	} {
		if l := all[i+2]; l.Who != want.Who || l.Act != want.Act || !strings.HasPrefix(l.Result, want.Result) {
			t.Errorf("%+v, not %+v", l, want)
		}
	}
	if !strings.Contains(string(all[5].After), `file \"a\", force false`) {
		t.Errorf("the changes of a reload are not there: %s", all[5].After)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	r.get("/admin/v1/queue?text=1")
	if all := read(file); len(all) != 1 || all[0].Act != "queue" || all[0].Parameters["text"] == nil {
		t.Errorf("%+v", all)
	}
}

// An audit log that cannot be written is reported at the start.
func TestNoAudit(t *testing.T) {
	t.Parallel()
	cfg := parse(t, clientsOnly, t.TempDir())
	r := start(t, cfg, false)
	of := *cfg
	of.Admin = config.Admin{Socket: "off", Audit: filepath.Join(t.TempDir(), "none", "audit.log")}
	if _, err := Start(&of, r.gateway, r.engine, "test", Parts{}); err == nil || !strings.Contains(err.Error(), "cannot start admin (admin.audit): ") {
		t.Errorf("got %v", err)
	}
}
