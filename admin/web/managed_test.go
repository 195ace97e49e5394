package web

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmg/admin"
	"pmg/config"
	"pmg/config/managed"
	"pmg/config/managed/editor"
	"pmg/gateway"
	"pmg/internal/passhash"
)

const managedYAML = `
store: {dir: store, ballast: 0B}
pdulog: {enabled: false}
managed: {dir: managed}
prices: [{name: standard, currency: EUR, file: prices.csv}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
accounts: [{system_id: fixed, password: pa55word}]
routes: [{to: {account: fixed}}]
`

// startManaged runs a gateway with managed files. It returns where its pages are, its directory and its audit log.
func startManaged(t *testing.T) (base string, dir, audit string) {
	t.Helper()
	_, base, dir, audit = startOffice(t)
	return base, dir, audit
}

// startOffice is startManaged for tests of what the gateway has.
func startOffice(t *testing.T) (g *gateway.Gateway, base, dir, audit string) {
	t.Helper()
	root := t.TempDir()
	file := filepath.Join(root, "pmg.yaml")
	if err := os.WriteFile(file, []byte(managedYAML), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "prices.csv"), []byte("*,0.05\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "managed"), 0o700); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(file, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Admin.Socket, cfg.Admin.Address, cfg.Admin.Audit = "off", "127.0.0.1:0", filepath.Join(root, "audit")
	hash := passhash.New([]byte(password))
	for _, scope := range []string{config.LookScope, config.AdministerScope} {
		cfg.Admin.Users = append(cfg.Admin.Users, config.User{Name: scope, Password: hash, Scope: scope})
	}
	s := serve(t, cfg, func(g *gateway.Gateway, e gateway.Engine) admin.Parts {
		one := editor.Editor{
			Dir: managed.Open(cfg.Managed.Dir, nil), Running: g.Node.Config,
			Load: func(instead map[string][]byte) (*config.Config, error) {
				c, _, err := config.Load(file, config.Options{Instead: instead})
				if err == nil {
					c.Admin = cfg.Admin
				}
				return c, err
			},
			Apply: func(c *config.Config, _ string) error { _, err := g.Reload(c, e); return err },
		}
		edit := func(_ context.Context, r editor.Request) (editor.Result, error) { return one.Do(r) }
		return admin.Parts{Pages: Tools{Edit: edit, Explain: explained, WhatIf: triedOn}.Handler}
	})
	return s.Gateway(), "http://" + s.Addr(), cfg.Managed.Dir, cfg.Admin.Audit
}

var tagForm = regexp.MustCompile(`name="tag" value="([^"]*)"`)

// An account is made, compared, keyed, changed, reverted and removed by the pages; two editors do not overwrite each other; secrets
// are neither shown nor in the audit log; a user with the scope look changes nothing.
func TestManaged(t *testing.T) {
	t.Parallel()
	base, dir, audit := startManaged(t)
	c := visitor(t, base, config.AdministerScope)
	page := base + "/ui/managed/accounts.acme"
	wants := func(what, text string, words ...string) {
		t.Helper()
		for _, word := range words {
			if !strings.Contains(html.UnescapeString(text), word) {
				t.Errorf("%s: the page lacks %q:\n%s", what, word, text)
			}
		}
	}
	tag := func() string {
		t.Helper()
		_, text, _ := ask(t, c, "GET", page, nil)
		return tagForm.FindStringSubmatch(text)[1]
	}
	post := func(what string, code int, form url.Values, words ...string) string {
		t.Helper()
		got, text, _ := ask(t, c, "POST", page, form)
		if got != code {
			t.Fatalf("%s: %d %s", what, got, text)
		}
		if code == http.StatusSeeOther {
			_, text, _ = ask(t, c, "GET", page, nil)
		}
		wants(what, text, words...)
		return text
	}
	if code, _, h := ask(t, c, "GET", base+"/ui/managed/open?kind=accounts&name=acme", nil); code != 303 || h.Get("Location") != "/ui/managed/accounts.acme" {
		t.Errorf("%d %v", code, h)
	}
	options := func(text string) url.Values { return url.Values{"do": {"options"}, "options": {text}, "tag": {tag()}} }
	form := options(`{"password": "hush-hush", "rate": 7}`)
	form.Set("compare", "1")
	post("compared", 200, form, "This would change", "accounts[acme]: absent -> added")
	post("no JSON", 200, options("{"), "cannot read the options as JSON")
	post("a wrong option", 200, options(`{"password": "x", "rat": 7}`), "rat")
	form.Del("compare")
	post("made", 303, form, "In force, as change 1", `"password": "***"`, `"rate": 7`)
	post("made by another meanwhile", 200, form, "it exists")
	text := post("a key", 200, url.Values{"do": {"key"}, "key": {"crm"}, "scope": {"send"}, "tag": {tag()}}, "shown only now", "pmg_")
	key := regexp.MustCompile(`<code>(pmg_[^<]*)</code>`).FindStringSubmatch(text)[1]
	stale := options(`{"rate": 9}`)
	post("changed", 303, options(`{"rate": 8}`), "In force, as change 3", `"rate": 8`)
	post("of an older page", 200, stale, "it has changed since it was read")
	post("reverted", 303, url.Values{"do": {"revert"}, "change": {"3"}, "tag": {tag()}}, `"rate": 7`, "revert of change 3", "Take back key crm")
	post("the key is taken back", 303, url.Values{"do": {"unkey"}, "key": {"crm"}, "tag": {tag()}}, "accounts[acme].keys[crm]: present -> removed")
	look := visitor(t, base, config.LookScope)
	if code, _, _ := ask(t, look, "POST", page, url.Values{"do": {"remove"}, "tag": {tag()}}); code != http.StatusForbidden {
		t.Errorf("who may look removes it: %d", code)
	}
	if _, text, _ := ask(t, look, "GET", page, nil); strings.Contains(text, "Put in force") || tagForm.FindStringSubmatch(text)[1] != "" {
		t.Errorf("who may look sees %s", text)
	}
	post("removed", 303, url.Values{"do": {"remove"}, "tag": {tag()}}, "There is none yet", "accounts[acme]")
	page = base + "/ui/managed/prices.low"
	post("rows cut in half", 200, url.Values{"do": {"rows"}, "rows": {"*,0.01\r\n46,0.0"}, "tag": {""}}, "was it cut off?")
	post("rows", 303, url.Values{"do": {"rows"}, "rows": {"*,0.01\r\n"}, "tag": {""}}, "*,0.01")
	page = base + "/ui/managed/accounts.fixed"
	post("what the file defines", 200, options(`{"password": "x"}`), "defines it, so it is changed there")
	if code, text, _ := ask(t, c, "GET", base+"/ui/managed", nil); code != 200 || !strings.Contains(text, dir) {
		t.Errorf("the list: %d %s", code, text)
	}
	for _, path := range []string{"accounts", "accounts.", "accounts.a%2Fb", "other.a", "..a"} {
		if code, _, _ := ask(t, c, "GET", base+"/ui/managed/"+path, nil); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
	log, err := os.ReadFile(audit)
	if err != nil || strings.Contains(string(log), "hush-hush") || strings.Contains(string(log), key) || strings.Count(string(log), `"act":"managed/`) < 12 {
		t.Errorf("%v: the audit log has %s", err, log)
	}
}
