package portal

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pmg/config"
)

// makeAcme makes a managed account with users, and further options.
func (r *rig) makeAcme(more ...string) {
	r.t.Helper()
	text := fmt.Sprintf("system_id: acme\npassword: secret\n%s\n%s\n", users(), strings.Join(more, "\n"))
	if err := os.MkdirAll(filepath.Join(r.dir, "accounts"), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "accounts", "acme.yaml"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.Reload(r.yaml)
}

// A user of a managed account makes a key, which is shown once, a program uses it for what it is for, and it is not taken any more once
// it is revoked. The history and the audit log have who has done that, and no key.
func TestKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	b := r.user("acme", config.ManageScope)
	b.has("keys", "There is no key yet.", "Make a key")
	w := b.post("keys", "name", "till", "scope", "read", "expires", "2037-12-31")
	found := regexp.MustCompile(`<code>(pmg_[^<]+)</code>`).FindStringSubmatch(w.body)
	if w.code != 200 || found == nil {
		t.Fatalf("%+v", w)
	}
	key := "Bearer " + found[1]
	if w := b.has("keys", "till", "read", "2037-12-31", time.Now().UTC().Format(time.DateOnly)); strings.Contains(w.body, found[1]) {
		t.Error("a key is shown twice")
	}
	r.by(key, "GET /v1/account", "").Want(200, "acme")
	r.by(key, "POST /v1/messages", `{"from":"1234","to":"+46700000001","text":"a"}`).Want(403)
	if w := r.user("acme", config.LookScope).has("keys", "till"); strings.Contains(w.body, "Revoke") || strings.Contains(w.body, "Make a key") {
		t.Errorf("%+v", w)
	}
	if w := b.post("keys", "revoke", "till"); w.code != 303 || w.header.Get("Location") != Base+"keys" {
		t.Errorf("%+v", w)
	}
	r.by(key, "GET /v1/account", "").Want(401)
	b.has("keys", "Key till is revoked.", "There is no key yet.")
	if w := b.post("keys", "revoke", "till"); w.code != 404 {
		t.Errorf("%+v", w)
	}
	history, err := os.ReadFile(filepath.Join(r.dir, "history", "00000001"))
	if err != nil || !strings.Contains(string(history), "user manage of account acme from 127.0.0.1:") {
		t.Errorf("%v: %s", err, history)
	}
	for _, line := range []string{"keys/make map[account:acme name:till]: ok", "keys/revoke map[account:acme name:till]: ok"} {
		if !r.records.has("user manage of account acme 127.0.0.1 portal/" + line + "\n") {
			t.Errorf("%s: %q", line, r.records.lines)
		}
	}
	if strings.Contains(strings.Join(r.records.lines, "\n")+r.Log.String(), found[1]) {
		t.Error("a log has the key")
	}
}

// Keys that cannot be made are refused, nothing of the configuration is shown, and changes are few.
func TestKeysRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(`, keys: [{name: fixed, hash: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}]`), "", "")
	r.makeAcme()
	shop, b := r.user("shop", config.ManageScope), r.user("acme", config.ManageScope)
	if w := shop.has("keys", "fixed", "are in the configuration"); strings.Contains(w.body, "Make a key") || strings.Contains(w.body, "sha256") || strings.Contains(w.body, r.dir) {
		t.Errorf("%+v", w)
	}
	for _, field := range []string{"name", "revoke"} {
		if w := shop.post("keys", field, "fixed"); w.code != 409 {
			t.Errorf("%+v", w)
		}
	}
	for _, c := range [][]string{
		{"name", ""}, {"name", "a b"}, {"name", "../x"}, {"name", strings.Repeat("a", 65)}, {"name", "${ENV:HOME}"},
		{"name", "a", "expires", "2020-01-01"}, {"name", "a", "expires", "soon"},
	} {
		if w := b.post("keys", c...); w.code != 422 || strings.Contains(w.body, "<code>") {
			t.Errorf("%q: %+v", c, w)
		}
	}
	if w := b.post("keys", "name", "one"); w.code != 200 {
		t.Errorf("%+v", w)
	}
	if w := b.post("keys", "name", "one"); w.code != 422 {
		t.Errorf("%+v", w)
	}
	file := filepath.Join(r.dir, "accounts", "acme.yaml")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(good, "nonsense: {\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if w := b.post("keys", "name", "two"); w.code != 409 || strings.Contains(w.body, "yaml") || strings.Contains(w.body, "nonsense") || strings.Contains(w.body, r.dir) {
		t.Errorf("%+v", w)
	}
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	looker, last := r.user("acme", config.LookScope), 0
	for i := range mostOwn + 1 { // its changes are none of the account's
		last = looker.post("password", "current", password, "mail", fmt.Sprintf("a%d@example.net", i)).code
	}
	if last != 429 {
		t.Error(last)
	}
	last = 0
	for i := range mostChanges {
		last = b.post("keys", "name", fmt.Sprintf("many%d", i)).code
	}
	if w := b.post("keys", "revoke", "one"); last != 429 || w.code != 429 || w.header.Get("Retry-After") == "" {
		t.Errorf("%d, %+v", last, w)
	}
}

// An account has as many keys as it may have.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	keys := ""
	for i := range mostKeys {
		keys += fmt.Sprintf("  - {name: key%d, hash: \"sha256:%064d\"}\n", i, i)
	}
	file := filepath.Join(r.dir, "accounts", "acme.yaml")
	was, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(was, "keys:\n"+keys...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Reload(r.yaml)
	b := r.user("acme", config.ManageScope)
	if w := b.post("keys", "name", "more"); w.code != 422 || !strings.Contains(w.body, "too many keys") {
		t.Errorf("%+v", w)
	}
	if w := b.post("keys", "revoke", "key7"); w.code != 303 {
		t.Errorf("%+v", w)
	}
	if w := b.post("keys", "name", "more"); w.code != 200 {
		t.Errorf("%+v", w)
	}
}

// Changes are counted by account and hour, and what is remembered of accounts is bounded.
func TestChanges(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	c := newChanges(mostChanges)
	c.now = func() time.Time { return now }
	for i := range mostChanges + 1 {
		if got := c.take("shop"); got != (i < mostChanges) {
			t.Errorf("%d: %t", i, got)
		}
	}
	if !c.take("rival") {
		t.Error("another account may not")
	}
	if now = now.Add(period); !c.take("shop") {
		t.Error("nothing is allowed after the time")
	}
	for i := range mostChanged + 500 {
		now = now.Add(2 * period / mostChanged)
		c.take(fmt.Sprint("account ", i))
	}
	if len(c.of) > mostChanged+1 {
		t.Errorf("%d accounts", len(c.of))
	}
}
