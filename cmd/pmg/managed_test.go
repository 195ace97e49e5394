package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// managedGateway is one whose accounts are made by HTTP; %s is the directory of its store and of managed files.
const managedGateway = `store: {dir: %[1]s/store}
pdulog: {enabled: false}
managed: {dir: %[1]s/managed}
admin: {address: "127.0.0.1:0", tokens: [{name: shop, hash: "sha256:0a7f6db42e6ca40c0a4838335238f114577f9af26b08096f046f271c8d2584f0", scope: administer}]}
connectors:
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0"}
  - {name: smsc, direction: out, protocol: test}
accounts: [{system_id: main, password: secret}]
`

// A caller is who asks a gateway by HTTP.
type caller struct {
	t           *testing.T
	url, secret string
}

// ask sends a request, wants a status, and reads the answer into v.
func (c caller) ask(request, body string, want int, v any) {
	c.t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.secret)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != want {
		c.t.Fatalf("%s: %s, %v: %s", request, a.Status, err, b)
	}
	if v != nil {
		if err := json.Unmarshal(b, v); err != nil {
			c.t.Fatalf("%s: %v: %s", request, err, b)
		}
	}
}

// The life of a customer by HTTP alone: it is made, gets a key and a route, sends, gets its receipt, loses the key, gets it
// back by a command, is there after a restart, and is removed. Without a gateway the command writes the directory itself.
func TestCustomer(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "managed"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(managedGateway, dir)
	file := filepath.Join(dir, "pmg.yaml")
	life := t.Run("runs", func(t *testing.T) {
		r := runServer(t, text)
		operator := caller{t, "http://" + r.admin.Addr() + "/admin/v1", "pmg_test"}
		operator.ask("PUT /prices/std/rows", "for,price\n*,0.10\n", 201, nil)
		operator.ask("PUT /prices/std", `{"currency": "EUR"}`, 201, nil)
		operator.ask("PUT /accounts/acme?comment=order+17", `{"password": "s3cret", "pull": true, "prices": "std",
			"balance": {"mode": "prepaid"}}`, 201, nil)
		operator.ask("PUT /routes/acme", `{"account": "acme", "to": "smsc"}`, 201, nil)
		var made struct{ Key string }
		operator.ask("POST /accounts/acme/keys", `{"name": "crm"}`, 200, &made)
		api := "http://" + r.engine.Addresses(r.gateway.Table.Connector("api"))[0].String()
		customer := caller{t, api, made.Key}
		customer.ask("POST /v1/messages", `{"from": "Shop", "to": "+46701740600", "text": "hello"}`, 402, nil)
		operator.ask("POST /credit/add?account=acme&amount=0.10&reference=1", "", 200, nil)
		var sent struct{ ID string }
		customer.ask("POST /v1/messages", `{"from": "Shop", "to": "+46701740600", "text": "hello"}`, 202, &sent)
		var got struct {
			Events []struct {
				Type string
				Data struct{ ID string }
			}
		}
		for len(got.Events) == 0 {
			customer.ask("GET /v1/events?wait=10s", "", 200, &got)
		}
		if e := got.Events[0]; e.Type != "message.delivered" || e.Data.ID != sent.ID {
			t.Errorf("%+v, not of %s", got, sent.ID)
		}
		customer.ask("POST /v1/messages", `{"from": "Shop", "to": "+46701740600", "text": "hello"}`, 402, nil)
		operator.ask("POST /credit/add?account=acme&amount=5&reference=2", "", 200, nil)
		customer.ask("POST /v1/messages", `{"from": "Shop", "to": "+46701740600", "text": "hello"}`, 202, nil)
		var money struct {
			Balance struct{ Balance, Available string }
		}
		customer.ask("GET /v1/account", "", 200, &money)
		if money.Balance.Available != "4.90" {
			t.Errorf("%+v", money)
		}
		operator.ask("DELETE /accounts/acme/keys/crm", "", 200, nil)
		customer.ask("POST /v1/messages", `{"from": "Shop", "to": "+46701740600", "text": "hello"}`, 401, nil)
		token := tokenFile(t)
		args := []string{"revert", "6", "-c", r.file, "--address", r.admin.Addr(), "--token-file", token}
		if out, err := runForTest(t, newConfigCommand(), t.Output(), args...); err != nil || !strings.Contains(out, "keys[crm]: absent -> added\nin force, as change 7") {
			t.Error(out, err)
		}
		customer.ask("POST /v1/messages", `{"from": "Shop", "to": "+46701740600", "text": "hello"}`, 202, nil)
		args[0] = "diff"
		if out, err := runForTest(t, newConfigCommand(), t.Output(), args...); err != nil || out != "nothing would change\n" {
			t.Error(out, err)
		}
		var forgotten struct {
			Removed []struct {
				What  string
				Count int
			}
		}
		operator.ask("POST /forget?number=%2B46701740600", "", 200, &forgotten)
		var left struct{ Messages []any }
		if customer.ask("GET /v1/messages?to=%2B46701740600", "", 200, &left); len(forgotten.Removed) == 0 || len(left.Messages) > 0 {
			t.Errorf("removed %+v, left %v", forgotten, left)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	if !life {
		return
	}
	for _, c := range []struct{ line, want string }{
		{"config history", "accounts/acme.yaml"},
		{"config history accounts/acme.yaml -n 1", "revert of change 6"},
		{"config diff 3", "accounts[acme]: present -> removed"},
		{"config revert 5", "keys[crm]: present -> removed\nwritten, as change 8; no gateway answers"},
	} {
		if out, err := pmg(t, c.line+" -c "+file); c.line == "config diff 3" && err != nil {
			if !strings.Contains(err.Error(), "routes/acme.yaml") { // which names the account
				t.Error(err)
			}
		} else if err != nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: %s %v", c.line, out, err)
		}
	}
	r := runServer(t, text)
	if a := r.gateway.Table.Account("acme"); a == nil || len(a.Logins.Keys) != 0 || a.Policies.Prices != "std" {
		t.Errorf("after a restart: %+v", a)
	}
	operator := caller{t, "http://" + r.admin.Addr() + "/admin/v1", "pmg_test"}
	operator.ask("DELETE /accounts/acme", "", 422, nil) // its route names it
	operator.ask("DELETE /routes/acme", "", 200, nil)
	operator.ask("DELETE /accounts/acme", "", 200, nil)
}
