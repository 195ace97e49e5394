package admin

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/events/statement"
	"pmg/internal/token"
)

// A statement is answered to those who may look, of accounts and SMSCs that there are, one at a time; the ledger says what it is
// made of.
func TestStatement(t *testing.T) {
	t.Parallel()
	cfg := parse(t, clientsOnly, t.TempDir())
	cfg.Events.Dir = t.TempDir()
	r := start(t, cfg, false)
	r.setTokens([]config.Token{{Name: "looker", Hash: token.Hash("pmg_look"), Scope: config.LookScope}})
	account := cfg.Accounts[0].SystemID
	for _, q := range []struct {
		path string
		code int
		has  string
	}{
		{"statement?account=" + account, 200, `"lines":[],"refunds":[]`},
		{"statement?account=" + account + "&format=csv", 200, "opening balance,"},
		{"statement?account=" + account + "&month=2026-10&timezone=Asia/Kolkata", 200, `"from":"2026-10-01T00:00:00+05:30"`},
		{"statement/ledger?account=" + account, 200, `"balance":"0.00","event":0,"payments":[]`},
		{"statement?account=nobody", 404, "there is no account nobody"},
		{"statement?connector=nothing", 404, "there is no connector nothing"},
		{"statement?connector=clients", 404, "to an SMSC"},
		{"statement", 400, "name an account"},
		{"statement?connector=a&account=b", 400, "name an account"},
		{"statement?account=" + account + "&month=10-2026", 400, "cannot read the month"},
		{"statement?account=" + account + "&month=2126-10", 400, "has not begun"},
		{"statement?account=" + account + "&timezone=Local", 400, "time zone"},
	} {
		if code, body := r.ask("pmg_look", q.path); code != q.code || !strings.Contains(body, q.has) {
			t.Errorf("%s: %d %s", q.path, code, body)
		}
	}
	if code, _ := r.ask("pmg_nobody", "statement?account="+account); code != 401 {
		t.Errorf("a stranger: %d", code)
	}
	r.admin.statements <- struct{}{}
	if code, body := r.ask("pmg_look", "statement?account="+account); code != 503 || !strings.Contains(body, "another one is being made") {
		t.Errorf("beside another: %d %s", code, body)
	}
	<-r.admin.statements
	_, body := r.ask("pmg_look", "statement?account="+account)
	var s statement.Statement
	if err := json.Unmarshal([]byte(body), &s); err != nil || s.Account != account || s.To.After(time.Now()) {
		t.Errorf("%v: %+v", err, s)
	}
}
