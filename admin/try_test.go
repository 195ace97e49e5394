package admin

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmg/config"
	"pmg/gateway/intake"
	"pmg/internal/token"
	"pmg/protocols"
	"pmg/sms"
)

const tryYAML = `
pdulog: {dir: %q}
accounts:
  - {system_id: shop, password: secret99, rate: 20, max_parts: 2}
  - {system_id: quiet, password: secret99, bind: [receiver]}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: %q, system_id: pmg, password: ` + smscPassword + `, long_messages: split8}
routes: [{destination: 46, to: operator}]
`

// What a refusal means is said of steps that there are.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name := range refusals {
		if !slices.ContainsFunc(intake.Steps(), func(s intake.Step) bool { return s.Name == name }) {
			t.Errorf("there is no step %s", name)
		}
	}
}

// An operator submits a message as an account. It takes the steps of all messages: refusals are shown in words, and the
// rate holds. Each has a line in the audit log, never with a text.
func TestTry(t *testing.T) {
	t.Parallel()
	sink := startSink(t)
	cfg := parse(t, tryYAML, t.TempDir(), sink.Addr())
	cfg.Admin.Audit = filepath.Join(t.TempDir(), "audit.log")
	r := start(t, cfg, false)
	r.await("/readyz", 200, "ok\n")
	r.setTokens([]config.Token{{Name: "all", Hash: token.Hash(testToken), Scope: config.AdministerScope}, {Name: "operator", Hash: token.Hash("pmg_operate"), Scope: config.OperateScope}})
	post := func(form string) (int, string) {
		t.Helper()
		q := httptest.NewRequest("POST", "/admin/v1/try", strings.NewReader(form))
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		q.Header.Set("Authorization", "Bearer "+testToken)
		if strings.HasPrefix(form, "account=operator") {
			q.Header.Set("Authorization", "Bearer pmg_operate")
		}
		q.Host = "localhost"
		w := httptest.NewRecorder()
		r.admin.http.Handler.ServeHTTP(w, q)
		return w.Code, w.Body.String()
	}
	for _, c := range []struct {
		form string
		code int
		want string
	}{
		{"account=operator&to=46&message=my+secret", 403, "administer"},
		{"account=nobody&to=46&message=my+secret", 404, "there is no account nobody that may submit"},
		{"account=quiet&to=46&message=my+secret", 404, "there is no account quiet that may submit"},
		{"account=shop&message=my+secret", 400, "to must be given"},
		{"account=shop&to=+46&message=my+secret", 400, "no space at its ends"},
		{"account=shop&to=46%0A&message=my+secret", 400, "an address has"},
		{"account=shop&to=46&from=" + strings.Repeat("1", 65), 400, "an address has"},
		{"account=shop&to=46&message=%ff", 400, "must be UTF-8"},
		{"account=shop&to=46&message=" + strings.Repeat("x", mostTried+1), 400, "at most 10000 characters"},
		{"account=shop&to=47&message=my+secret", 422, "the message is refused: no route leads anywhere (bad_destination at step route)"},
		{"account=shop&to=46&message=" + strings.Repeat("x", 400), 422, "too many short messages (max_parts)"},
	} {
		if code, body := post(c.form); code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", c.form[:min(len(c.form), 40)], code, body)
		}
	}
	code, body := post("account=shop&from=Shop&to=%2B46700000001&message=my+secret+%D0%B6")
	var tried Tried
	if err := json.Unmarshal([]byte(body), &tried); err != nil || code != 200 || len(tried.ID) != 16 || tried.Parts != 1 || tried.Connector != "clients" {
		t.Fatalf("%d %s: %v", code, body, err)
	}
	for r.status().Connectors[1].Counters.Sent == 0 { // to the SMSC
	}
	for shop := r.gateway.Logins.Accounts().Account("shop"); code != 503; { // others of the account were there before
		for ok := true; ok; {
			_, ok = shop.Admit(r.engine.Counters().Now)
		}
		code, body = post("account=shop&to=46&message=my+secret")
	}
	if !strings.Contains(body, "its account is faster than its rate") {
		t.Error(body)
	}
	b, err := os.ReadFile(cfg.Admin.Audit)
	if err != nil || strings.Contains(string(b), "secret") || !strings.Contains(string(b), `"id":"`+tried.ID+`"`) || !strings.Contains(string(b), `"refused":"no route leads anywhere`) ||
		!strings.Contains(string(b), `"message":["***"]`) || !strings.Contains(string(b), `"act":"try"`) {
		t.Errorf("%v: %s", err, b)
	}
}

// A message of an operator has addresses of the types that follow from their form, and the text as clients of the connector write theirs.
// It asks for a receipt only on request.
func TestReadTried(t *testing.T) {
	t.Parallel()
	cfg := parse(t, tryYAML, t.TempDir(), "127.0.0.1:1")
	for _, q := range []struct {
		text, octets, receipt string
		alphabet              sms.Alphabet
		notify                sms.Notify
		protocol              sms.Protocol
	}{
		{"a@", "a\x00", "", sms.Default, 0, protocols.SMPP},
		{"ж", "\x04\x36", "1", sms.UCS2, sms.NotifySuccess | sms.NotifyFailure, protocols.HTTP},
	} {
		form := url.Values{"from": {"Shop"}, "to": {"+46700000001"}, "message": {q.text}, "receipt": {q.receipt}}
		fill, err := readTried(httptest.NewRequest("POST", "/?"+form.Encode(), nil), &cfg.Connectors[0], q.protocol)
		if err != nil {
			t.Fatal(err)
		}
		var m sms.Message
		if code := fill(&m); code != sms.OK || m.Source().TON != 5 || m.Dest().TON != 1 || string(m.Dest().Addr) != "46700000001" ||
			m.Alphabet != q.alphabet || string(m.Text()) != q.octets || m.Notify != q.notify {
			t.Errorf("%q: %s %+v %+v %d %q %d", q.text, code, m.Source(), m.Dest(), m.Alphabet, m.Text(), m.Notify)
		}
		if p, native := m.NativePart(); p != q.protocol || (len(native) > 0) != (p == protocols.HTTP) {
			t.Errorf("%q: %d %q", q.text, p, native) // with HTTP a context, by which receipts find the server of the account
		}
	}
	if on := SubmitsOn(cfg, &cfg.Accounts[0]); on == nil || on.Name != "clients" || SubmitsOn(cfg, &cfg.Accounts[1]) != nil || SubmitsOn(cfg, &config.Account{Connectors: []string{"other"}}) != nil {
		t.Errorf("%v", on)
	}
}
