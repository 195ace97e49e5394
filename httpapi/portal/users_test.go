package portal

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmg/config"
)

// login logs in with a password, and returns the status of the answer.
func (b *person) login(account, name, password string) int {
	b.t.Helper()
	return b.post("login", "account", account, "name", name, "password", password).code
}

// A user changes the own password: other sessions of the user end, this one and those of others go on, and the old password logs
// nobody in. What is wrong is said, and nothing of it is in a log.
func TestPassword(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	b, elsewhere, other := r.user("acme", config.LookScope), r.user("acme", config.LookScope), r.user("acme", config.ManageScope)
	b.has("password", "Current password", "Change the password")
	const next = "battery staple"
	for _, c := range []struct{ current, password, again, want string }{
		{password, next, "battery stapler", "passwords differ"}, {password, "short", "short", "8 to 255"}, {password, strings.Repeat("a", 256), strings.Repeat("a", 256), "8 to 255"},
		{password, "${ENV:HOME}", "${ENV:HOME}", "cannot have"}, {"wrong horse", next, next, "current password is wrong"}, {"", next, next, "current password is wrong"},
	} {
		w := b.post("password", "current", c.current, "password", c.password, "again", c.again)
		if w.code != 422 || !strings.Contains(w.body, c.want) || strings.Contains(w.body, next) {
			t.Errorf("%+v: %+v", c, w)
		}
	}
	if w := b.post("password", "current", password, "password", next, "again", next); w.code != 200 || !strings.Contains(w.body, "Your password has changed") {
		t.Fatalf("%+v", w)
	}
	if !b.in() || elsewhere.in() || !other.in() {
		t.Error("not the sessions that should be logged in are")
	}
	if code := r.stranger("127.0.0.2").login("acme", config.LookScope, password); code != 403 {
		t.Errorf("the old password: %d", code)
	}
	if code := r.stranger("127.0.0.3").login("acme", config.LookScope, next); code != 303 {
		t.Errorf("the new password: %d", code)
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "accounts", "acme.yaml"))
	if err != nil || strings.Contains(string(text), next) || !strings.Contains(string(text), "$argon2id$") {
		t.Errorf("%v %s", err, text)
	}
	if !r.records.has("portal/password map[account:acme name:look]: ok\n") || !r.records.has("portal/password map[]: refused\n") ||
		strings.Contains(strings.Join(r.records.lines, "\n")+r.Log.String(), next) {
		t.Errorf("%q", r.records.lines)
	}
	if w := r.user("shop", config.LookScope).post("password", "current", password, "password", next, "again", next); w.code != 409 {
		t.Errorf("%+v", w)
	}
}

// Somebody who manages an account adds, changes and removes users, but for themselves; what a user lost ends with the next request; others do
// nothing of that.
func TestUsers(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	b := r.user("acme", config.ManageScope)
	b.has("users", "look", "send", "Set the user", "you")
	if w := b.post("users", "name", "ann", "scope", "send", "password", "battery staple"); w.code != 303 {
		t.Fatalf("%+v", w)
	}
	b.has("users", "User ann is as you have set it.", "ann")
	ann := r.stranger("127.0.0.2")
	if code := ann.login("acme", "ann", "battery staple"); code != 303 {
		t.Fatal(code)
	}
	ann.has("send", "Send")
	if w := b.post("users", "name", "ann", "scope", "look", "password", ""); w.code != 303 {
		t.Errorf("%+v", w)
	}
	if w := ann.get("send"); w.code != 403 || !ann.in() {
		t.Errorf("%+v", w)
	}
	for _, c := range []struct {
		fields []string
		want   string
	}{
		{[]string{"name", "bob", "scope", "look", "password", ""}, "8 to 255"}, {[]string{"name", "bob", "scope", "root", "password", "battery staple"}, "Choose what"},
		{[]string{"name", "b b", "scope", "look", "password", "battery staple"}, "letters, digits"}, {[]string{"name", "", "scope", "look", "password", "battery staple"}, "letters, digits"},
		{[]string{"name", "manage", "scope", "look", "password", ""}, "yourself"}, {[]string{"name", "manage", "remove", "1"}, "yourself"},
	} {
		if w := b.post("users", c.fields...); w.code != 422 || !strings.Contains(w.body, c.want) {
			t.Errorf("%q: %+v", c.fields, w)
		}
	}
	if w := b.post("users", "name", "ann", "remove", "1"); w.code != 303 || ann.in() {
		t.Errorf("%+v", w)
	}
	if w := b.post("users", "name", "ann", "remove", "1"); w.code != 404 {
		t.Errorf("%+v", w)
	}
	for _, name := range []string{config.LookScope, config.SendScope} {
		one := r.user("acme", name)
		if w := one.get("users"); w.code != 403 {
			t.Errorf("%s: %+v", name, w)
		}
		if w := one.post("users", "name", "look", "scope", "manage", "password", ""); w.code != 403 {
			t.Errorf("%s: %+v", name, w)
		}
	}
	if w := r.user("shop", config.ManageScope).post("users", "name", "ann", "scope", "send", "password", "battery staple"); w.code != 409 {
		t.Errorf("%+v", w)
	}
	r.user("rival", config.ManageScope) // other accounts have their users
	if !r.records.has("portal/users/set map[account:acme name:ann]: ok\n") || !r.records.has("portal/users/remove map[account:acme name:ann]: ok\n") {
		t.Errorf("%q", r.records.lines)
	}
}

// Somebody who manages an account gives another user a new password, which is shown once, and which the user changes before anything
// else.
func TestReset(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	b, before := r.user("acme", config.ManageScope), r.user("acme", config.SendScope)
	found := regexp.MustCompile(`<code>([A-Z2-7]{16})</code>`).FindStringSubmatch(b.post("users", "name", "send", "reset", "1").body)
	if found == nil || before.in() {
		t.Fatal("no password is shown, or the session with the earlier one goes on")
	}
	if w := b.get("users"); strings.Contains(w.body, found[1]) {
		t.Error("it is shown twice")
	}
	c := r.stranger("127.0.0.2")
	if code := c.login("acme", "send", password); code != 403 {
		t.Errorf("the earlier password: %d", code)
	}
	c = r.stranger("127.0.0.3")
	if code := c.login("acme", "send", found[1]); code != 303 {
		t.Fatal(code)
	}
	for _, page := range []string{"", "send", "second-factor"} {
		if w := c.get(page); w.code != 303 || w.header.Get("Location") != passwordPath {
			t.Errorf("%s: %+v", page, w)
		}
	}
	c.has("password", "Somebody else has made your password")
	if w := c.post("password", "current", found[1], "password", found[1], "again", found[1]); w.code != 422 {
		t.Errorf("%+v", w)
	}
	if w := c.post("password", "current", found[1], "password", "battery staple", "again", "battery staple"); w.code != 200 || !c.in() {
		t.Errorf("%+v", w)
	}
	if w := b.post("users", "name", "manage", "reset", "1"); w.code != 422 {
		t.Errorf("the own one: %+v", w)
	}
	if w := b.post("users", "name", "nobody", "reset", "1"); w.code != 404 {
		t.Errorf("%+v", w)
	}
	if w := r.user("acme", config.LookScope).post("users", "name", "send", "reset", "1"); w.code != 403 {
		t.Errorf("%+v", w)
	}
	if !r.records.has("portal/users/reset map[account:acme name:send]: ok\n") || strings.Contains(strings.Join(r.records.lines, "\n")+r.Log.String(), found[1]) {
		t.Errorf("%q", r.records.lines)
	}
}

// A browser that asks for the host comes to the pages, and a program gets the API's answer.
func TestHost(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	for _, c := range []struct {
		method, accept string
		want           int
	}{{"GET", "text/html,application/xhtml+xml", 303}, {"GET", "application/json", 404}, {"GET", "", 404}, {"POST", "text/html", 404}} {
		q, err := http.NewRequestWithContext(t.Context(), c.method, r.base+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Accept", c.accept)
		w, err := r.stranger("127.0.0.1").client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Body.Close()
		if w.StatusCode != c.want || c.want == 303 && w.Header.Get("Location") != Base {
			t.Errorf("%+v: %d %s", c, w.StatusCode, w.Header.Get("Location"))
		}
	}
}
