package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmg/config"
)

// A customer who is made by HTTP logs in to the pages, makes a key, sends with it, and revokes it. The history and the audit log name
// the user, and neither has the key or a password. A change that takes the user away ends the session.
func TestPortal(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "managed"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(fmt.Sprintf(managedGateway, dir), "protocol: http,", "protocol: http, portal: true,", 1)
	audit := filepath.Join(dir, "audit")
	text = strings.Replace(text, "admin: {", "admin: {audit: "+audit+", ", 1)
	r := runServer(t, text)
	operator := caller{t, "http://" + r.admin.Addr() + "/admin/v1", "pmg_test"}
	operator.ask("PUT /accounts/acme", `{"password": "s3cret", "users": [{"name": "ann", "password": "of-ann", "scope": "manage"}]}`, 201, nil)
	operator.ask("PUT /routes/acme", `{"account": "acme", "to": "smsc"}`, 201, nil)
	var shown map[string]any
	if operator.ask("GET /accounts/acme", "", 200, &shown); fmt.Sprint(shown["users"]) != "[map[name:ann password:*** scope:manage]]" {
		t.Errorf("%v", shown)
	}
	operator.ask("PUT /accounts/acme", `{"users": [{"name": "ann", "password": "***", "scope": "manage"}]}`, 200, nil)

	api := "http://" + r.engine.Addresses(r.gateway.Table.Connector("api"))[0].String()
	jar, _ := cookiejar.New(nil)
	browser := http.Client{Jar: jar}
	ask := func(path string, form url.Values) (int, string) {
		t.Helper()
		var a *http.Response
		var err error
		if form == nil {
			a, err = browser.Get(api + path)
		} else {
			a, err = browser.PostForm(api+path, form)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, _ := io.ReadAll(a.Body)
		return a.StatusCode, string(b)
	}
	if code, body := ask("/portal/login", url.Values{"account": {"acme"}, "name": {"ann"}, "password": {"of-ann"}}); code != 200 || !strings.Contains(body, "<h1>Overview</h1>") {
		t.Fatalf("%d %s", code, body)
	}
	_, body := ask("/portal/keys", url.Values{"name": {"crm"}})
	found := regexp.MustCompile(`<code>(pmg_[^<]+)</code>`).FindStringSubmatch(body)
	if found == nil {
		t.Fatal(body)
	}
	customer := caller{t, api, found[1]}
	customer.ask("POST /v1/messages", `{"from": "Shop", "to": "+46701740600", "text": "hello"}`, 202, nil)
	if code, body := ask("/portal/keys", url.Values{"revoke": {"crm"}}); code != 200 || !strings.Contains(body, "Key crm is revoked.") {
		t.Errorf("%d %s", code, body)
	}
	customer.ask("POST /v1/messages", `{"from": "Shop", "to": "+46701740600", "text": "hello"}`, 401, nil)
	var changes struct{ Changes []struct{ By string } }
	if operator.ask("GET /changes", "", 200, &changes); len(changes.Changes) == 0 || !strings.HasPrefix(changes.Changes[0].By, "user ann of account acme from 127.0.0.1:") {
		t.Errorf("%+v", changes)
	}
	operator.ask("PUT /accounts/acme", `{"users": [{"name": "ann", "password": "of-anna"}]}`, 200, nil)
	operator.ask("PUT /accounts/acme", `{"users": [{"name": "bob", "password": "of-bob"}]}`, 200, nil)
	if _, body := ask("/portal/", nil); !strings.Contains(body, "<h1>Log in</h1>") {
		t.Errorf("the session of a user goes on who is gone: %s", body)
	}
	lines, err := os.ReadFile(audit)
	for _, want := range []string{`"act":"portal/login"`, `"who":"user ann of account acme"`, `"act":"portal/keys/make","parameters":{"account":"acme","name":"crm"},"result":"ok"`, `"act":"portal/keys/revoke"`} {
		if err != nil || !strings.Contains(string(lines), want) {
			t.Errorf("%v: without %s: %s", err, want, lines)
		}
	}
	for _, secret := range []string{found[1], "of-ann", "of-anna", "of-bob", "argon2id"} {
		if strings.Contains(string(lines)+r.log.String(), secret) {
			t.Errorf("a log has %s", secret)
		}
	}
	if shown := config.Show(r.gateway.Node.Config()); strings.Contains(shown, "argon2id") {
		t.Errorf("%s", shown)
	}
}
