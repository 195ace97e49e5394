package portal

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"pmg/config"
)

// next returns a code of a secret that was not used yet.
func (r *rig) next(secret string) string {
	r.t.Helper()
	now := time.Now().Add(time.Duration(r.clock.Add(60)) * time.Second)
	code, err := totp.GenerateCode(secret, now)
	if err != nil {
		r.t.Fatal(err)
	}
	return code
}

var (
	shownSecret   = regexp.MustCompile(`<p>Secret: <code>([A-Z2-7]{32})</code></p>`)
	shownRecovery = regexp.MustCompile(`<li><code>([A-Z2-7-]{19})</code></li>`)
)

// setUp switches the second factor of a user on, and returns its secret and the recovery codes.
func (b *person) setUp() (secret string, recovery []string) {
	b.t.Helper()
	found := shownSecret.FindStringSubmatch(b.has("second-factor", `<svg class="qr"`, "Switch it on").body)
	if found == nil {
		b.t.Fatal("no secret is offered")
	}
	w := b.post("second-factor", "current", password, "code", b.next(found[1]))
	for _, one := range shownRecovery.FindAllStringSubmatch(w.body, -1) {
		recovery = append(recovery, one[1])
	}
	if w.code != 200 || len(recovery) != config.MaxRecovery || strings.Contains(w.body, found[1]) {
		b.t.Fatalf("%+v", w)
	}
	return found[1], recovery
}

// firstStep returns one whose password was right, and who is asked for a code.
func (r *rig) firstStep(account, name, from string) *person {
	r.t.Helper()
	b := r.stranger(from)
	if w := b.post("login", "account", account, "name", name, "password", password); w.code != 303 || w.header.Get("Location") != Base+"code" {
		r.t.Fatalf("%+v", w)
	}
	b.has("code", "Code of your authenticator")
	return b
}

// firstStep returns the login of a person that needs a code.
func (b *person) firstStep() (firstStep, bool) {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+Base, nil)
	for _, c := range b.client.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	return b.site.firstSteps.Find(r, func(firstStep) bool { return true })
}

// A user switches a second factor on, which ends the other sessions. From then on a login needs a code, each of which counts once, as
// each recovery code does. The file has no recovery code as it is, and no log has any.
func TestSecondFactor(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	b, elsewhere := r.user("acme", config.LookScope), r.user("acme", config.LookScope)
	found := shownSecret.FindStringSubmatch(b.get("second-factor").body)
	for _, c := range []struct{ current, code, want string }{{"wrong", r.next(found[1]), "current password is wrong"}, {password, "000000", "The code is wrong"}, {password, "", "The code is wrong"}} {
		if w := b.post("second-factor", "current", c.current, "code", c.code); w.code != 422 || !strings.Contains(w.body, c.want) {
			t.Errorf("%+v: %+v", c, w)
		}
	}
	secret, recovery := b.setUp()
	if secret != found[1] || !b.in() || elsewhere.in() {
		t.Error("another secret is set up than was offered, or not the sessions that should end have")
	}
	code := r.next(secret)
	in := r.firstStep("acme", config.LookScope, "127.0.0.2")
	if in.in() {
		t.Fatal("a password alone logs in")
	}
	if w := in.post("code", "code", code[:3]+" "+code[3:]); w.code != 303 || w.header.Get("Location") != Base || !in.in() {
		t.Fatalf("%+v", w)
	}
	if w := in.post("code", "code", r.next(secret)); w.header.Get("Location") != Base+"login" {
		t.Errorf("the second form counts twice: %+v", w)
	}
	other := r.firstStep("acme", config.LookScope, "127.0.0.3")
	if w := other.post("code", "code", code); w.code != 403 || !strings.Contains(w.body, wrongCode) || other.in() {
		t.Errorf("a code counts twice: %+v", w)
	}
	if w := other.post("code", "code", strings.ToLower(recovery[0])); w.code != 303 || !other.in() {
		t.Errorf("%+v", w)
	}
	again := r.firstStep("acme", config.LookScope, "127.0.0.4")
	if w := again.post("code", "code", recovery[0]); w.code != 403 || again.in() {
		t.Errorf("a recovery code counts twice: %+v", w)
	}
	b.has("second-factor", "9 recovery codes are left")
	text, err := os.ReadFile(filepath.Join(r.dir, "accounts", "acme.yaml"))
	if err != nil || !strings.Contains(string(text), secret) || strings.Contains(string(text), recovery[1]) {
		t.Errorf("%v %s", err, text)
	}
	for _, want := range []string{"portal/second-factor/on map[account:acme name:look]: ok\n", "portal/recovery map[account:acme name:look]: ok\n", "user look of account acme 127.0.0.3 portal/login map[]: code refused\n"} {
		if !r.records.has(want) {
			t.Errorf("without %q: %q", want, r.records.lines)
		}
	}
	for _, secret := range append(recovery, secret, code, strings.ReplaceAll(recovery[0], "-", "")) {
		if strings.Contains(strings.Join(r.records.lines, "\n")+r.Log.String(), secret) {
			t.Errorf("a log has %s", secret)
		}
	}
}

// A login asks for a code five times and for five minutes, and not any more once the password has changed.
func TestCodeBounds(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	b := r.user("acme", config.LookScope)
	secret, _ := b.setUp()
	late := r.firstStep("acme", config.LookScope, "127.0.0.2")
	r.clock.Add(int64(stepTime.Seconds()) + 1)
	if w := late.post("code", "code", r.next(secret)); w.header.Get("Location") != Base+"login" || late.in() {
		t.Errorf("%+v", w)
	}
	few := r.firstStep("acme", config.LookScope, "127.0.0.3")
	for _, tries := range []int32{mostTries - 1, mostTries} { // as if that many codes had been wrong, without their delays
		if h, ok := few.firstStep(); ok {
			h.tries.Store(tries)
		}
		if w := few.get("code"); (w.code == 200) != (tries < mostTries) {
			t.Errorf("%d tries: %+v", tries, w)
		}
	}
	if w := few.post("code", "code", r.next(secret)); w.header.Get("Location") != Base+"login" || few.in() {
		t.Errorf("%+v", w)
	}
	changed := r.firstStep("acme", config.LookScope, "127.0.0.4")
	if w := b.post("password", "current", password, "password", "battery staple", "again", "battery staple"); w.code != 200 || !b.in() {
		t.Fatalf("%+v", w)
	}
	if w := changed.post("code", "code", r.next(secret)); w.header.Get("Location") != Base+"login" || changed.in() {
		t.Errorf("%+v", w)
	}
}

// A user switches the own factor off with a code, and makes new recovery codes. Somebody who manages the account switches that of
// another one off, whose sessions end; nobody else does.
func TestSecondFactorOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	b := r.user("acme", config.LookScope)
	secret, old := b.setUp()
	if w := b.post("second-factor", "off", "1", "code", "000000"); w.code != 422 || !strings.Contains(w.body, wrongCode) {
		t.Errorf("%+v", w)
	}
	w := b.post("second-factor", "renew", "1", "code", r.next(secret))
	codes := shownRecovery.FindAllStringSubmatch(w.body, -1)
	if len(codes) != config.MaxRecovery || codes[0][1] == old[0] {
		t.Fatalf("%+v", w)
	}
	manager, sender := r.user("acme", config.ManageScope), r.user("acme", config.SendScope)
	if w := sender.post("users", "name", "look", "off", "1"); w.code != 403 {
		t.Errorf("%+v", w)
	}
	if w := r.user("rival", config.ManageScope).post("users", "name", "look", "off", "1"); w.code != 409 {
		t.Errorf("%+v", w)
	}
	manager.has("users", "Switch off the second factor of look")
	if w := manager.post("users", "name", "look", "off", "1"); w.code != 303 || b.in() {
		t.Errorf("%+v", w)
	}
	if w := manager.has("users", "User look has no second factor now."); strings.Contains(w.body, "Switch off the second factor") {
		t.Errorf("%+v", w)
	}
	b = r.user("acme", config.LookScope)
	secret, _ = b.setUp()
	if w := b.post("second-factor", "off", "1", "code", r.next(secret)); w.code != 200 || !strings.Contains(w.body, "is switched off.") || !b.in() {
		t.Errorf("%+v", w)
	}
	b.has("second-factor", "Switch it on")
	if !r.records.has("portal/users/second-factor/off map[account:acme name:look]: ok\n") || !r.records.has("portal/second-factor/off map[account:acme name:look]: ok\n") {
		t.Errorf("%q", r.records.lines)
	}
	if w := r.user("shop", config.LookScope).post("second-factor", "current", password, "code", "000000"); w.code != 409 {
		t.Errorf("%+v", w)
	}
}

// Users of an account that needs a second factor see and do nothing else before they have one.
func TestSecondFactorNeeded(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme("second_factor: true")
	b := r.user("acme", config.ManageScope)
	for _, p := range pages() {
		if w := b.get(p.Name); p.Name != "second-factor" && (w.code != 303 || w.header.Get("Location") != factorPath) {
			t.Errorf("%s: %+v", p.Name, w)
		}
	}
	for path, f := range forms() {
		if w := b.do("POST", path, f.form); path != "second-factor" && (w.code != 303 || w.header.Get("Location") != factorPath) {
			t.Errorf("%s: %+v", path, w)
		}
	}
	b.has("second-factor", "Your account needs a second factor")
	b.setUp()
	if !b.in() {
		t.Error("a user with a second factor does not go on")
	}
}

// However many addresses guess together at the codes of a user, 30 wrong ones in an hour are looked at; recovery codes count all the
// same. A code counts once, also if it comes several times in parallel.
func TestGuessedCodes(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme()
	secret, recovery := r.user("acme", config.LookScope).setUp()
	owner := login{account: "acme", user: config.LookScope}.owner()
	codes := &r.site.portal.codes
	atOnce := func(code string) (n int32) {
		var counted atomic.Int32
		var all sync.WaitGroup
		for range 2 * mostWrong {
			all.Go(func() {
				if codes.use(owner, secret, code) {
					counted.Add(1)
				}
			})
		}
		all.Wait()
		return counted.Load()
	}
	if n := atOnce(r.next(secret)); n != 1 {
		t.Errorf("a code counts %d times", n)
	}
	b := r.firstStep("acme", config.LookScope, "127.0.0.2")
	if w := b.post("code", "code", r.next(secret)); w.code != 403 || b.in() {
		t.Errorf("%+v", w)
	}
	b = r.firstStep("acme", config.LookScope, "127.0.0.3")
	if w := b.post("code", "code", recovery[0]); w.code != 303 || !b.in() {
		t.Errorf("%+v", w)
	}
	r.clock.Add(int64(wrongTime.Seconds()))
	if n := atOnce(r.next(secret)); n != 1 {
		t.Errorf("a code counts %d times after an hour", n)
	}
}
