package portal

import (
	"io"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/config"
	"pmg/internal/testkit/smtptest"
	"pmg/internal/testkit/testutil"
	"pmg/internal/token"
)

const next = "battery staple"

// newMailRig serves a site that sends links, with the managed account acme, whose user look has an address.
func newMailRig(t *testing.T, more ...string) (*rig, *smtptest.Server) {
	t.Helper()
	s := smtptest.New(t, smtptest.Options{})
	r := newRig(t, accounts(""), `portal_url: "http://localhost:8080/"`, "", `mail: {server: "`+s.Address+`", from: sms@example.net, tls: none}`)
	r.makeAcme(more...)
	r.setMail("look", "look@example.net")
	return r, s
}

// setMail sets the address of a user of acme.
func (r *rig) setMail(user, address string) {
	r.t.Helper()
	b := r.user("acme", map[bool]string{true: config.ManageScope, false: config.SendScope}[user != config.ManageScope])
	if w := b.post("users", "name", user, "mail", address); w.code != 303 {
		r.t.Fatalf("%+v", w)
	}
}

// forget asks for a link, from an address of its own.
func (r *rig) forget(from, account, name string) reply {
	r.t.Helper()
	return r.stranger(from).post("forgot", "account", account, "name", name)
}

var linkForm = regexp.MustCompile(`http://localhost:8080/portal/(reset\?token=[A-Za-z0-9_%-]+)`)

// linkIn returns the path of the link in the last mail, of which there are n.
func linkIn(t *testing.T, s *smtptest.Server, n int) string {
	t.Helper()
	testutil.Eventually(t, "the mail comes", func() bool { return len(s.Took()) == n })
	m, err := mail.ReadMessage(strings.NewReader(s.Took()[n-1].Text))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	found := linkForm.FindSubmatch(text)
	if err != nil || found == nil {
		t.Fatalf("%v %s", err, text)
	}
	return string(found[1])
}

// tokenOf returns the token of a link.
func tokenOf(link string) string { return strings.TrimPrefix(link, "reset?token=") }

func (b *person) reset(link, password string) reply {
	b.t.Helper()
	return b.post("reset", "token", tokenOf(link), "password", password, "again", password)
}

// A user gets a link by mail, and with it another password, once. It logs nobody in; sessions with the old password end. Neither
// the token nor the password is in a log or a file.
func TestResetByMail(t *testing.T) {
	t.Parallel()
	r, s := newMailRig(t)
	open := r.user("acme", config.LookScope)
	b := r.stranger("127.0.0.2")
	b.has("login", `<a href="/portal/forgot">Forgot your password?</a>`)
	b.has("forgot", "Send me a link")
	if w := b.post("forgot", "account", "acme", "name", "look"); w.code != 200 || !strings.Contains(w.body, "a link is on its way") {
		t.Fatalf("%+v", w)
	}
	to := linkIn(t, s, 1)
	if m := s.Took()[0]; m.To != "look@example.net" || m.Header("Subject") != "Messages: new password" {
		t.Errorf("%+v", m)
	}
	for range 2 { // a program that looks at links does not use them up
		if w := b.has(to, "New password", tokenOf(to)); w.header.Get("Referrer-Policy") != "strict-origin" || w.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%v", w.header)
		}
	}
	for _, c := range [][3]string{{"short", "short", "8 to 255"}, {next, next + "r", "passwords differ"}, {"${ENV:HOME}", "${ENV:HOME}", "cannot have"}} {
		if w := b.post("reset", "token", tokenOf(to), "password", c[0], "again", c[1]); w.code != 422 || !strings.Contains(w.body, c[2]) || strings.Contains(w.body, next) {
			t.Errorf("%+v", w)
		}
	}
	if !open.in() {
		t.Error("a session ends before anything has changed")
	}
	if w := b.reset(to, next); w.code != 200 || !strings.Contains(w.body, "Your password has changed") || w.header.Get("Set-Cookie") != "" {
		t.Fatalf("%+v", w)
	}
	if b.in() || open.in() {
		t.Error("somebody is logged in")
	}
	for _, w := range []reply{b.get(to), b.reset(to, "another staple")} {
		if w.code != 404 || !strings.Contains(w.body, "not valid any more") {
			t.Errorf("%+v", w)
		}
	}
	if code := r.stranger("127.0.0.3").login("acme", "look", password); code != 403 {
		t.Errorf("the old password: %d", code)
	}
	if code := r.stranger("127.0.0.4").login("acme", "look", next); code != 303 {
		t.Errorf("the new password: %d", code)
	}
	for _, line := range []string{
		"portal/reset/link map[account:acme name:look]: ok\n", "user look of account acme 127.0.0.2 portal/reset map[account:acme name:look]: ok\n",
	} {
		testutil.Eventually(t, "the audit log has "+line, func() bool { return r.records.has(line) })
	}
	file, err := os.ReadFile(filepath.Join(r.dir, "accounts", "acme.yaml"))
	all := string(file) + strings.Join(r.records.lines, "\n") + r.Log.String() + r.lines()
	if err != nil || strings.Contains(all, tokenOf(to)) || strings.Contains(all, next) || strings.Contains(r.Log.String(), "look@") {
		t.Errorf("%v %s", err, all)
	}
}

// Whoever asks learns nothing of accounts, users and addresses: not by the answer, nor by its time. Those who have no address, or
// whose password the pages cannot change, get no mail, and neither do those who could not log in here.
func TestResetTellsNothing(t *testing.T) {
	t.Parallel()
	r, s := newMailRig(t)
	var mu sync.Mutex
	seen := map[string]bool{}
	t.Run("all", func(t *testing.T) {
		for i, c := range [][2]string{{"acme", "look"}, {"acme", "send"}, {"acme", "nobody"}, {"nobody", "look"}, {"shop", "look"}, {"bare", "look"}, {"acme", "look "}, {"ACME", "look"}} {
			t.Run(strings.Join(c[:], "/"), func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				w := r.forget("127.0.2."+strconv.Itoa(i+1), c[0], c[1])
				if w.code != 200 || time.Since(began) < 900*time.Millisecond || w.header.Get("Set-Cookie") != "" {
					t.Errorf("%+v", w)
				}
				mu.Lock()
				seen[w.body] = true
				mu.Unlock()
			})
		}
	})
	linkIn(t, s, 1)
	if len(seen) != 1 || s.Took()[0].To != "look@example.net" || r.mail.Figures().Sent != 1 {
		t.Errorf("%d answers, %+v", len(seen), s.Took())
	}
	for _, w := range []reply{r.forget("127.0.2.20", "", "look"), r.forget("127.0.2.20", "acme", ""), r.forget("127.0.2.20", "acme", strings.Repeat("a", 256))} {
		if w.code != 400 {
			t.Errorf("%+v", w)
		}
	}
}

// A user gets three links in an hour, from all addresses together, and others are not delayed by that.
func TestResetShare(t *testing.T) {
	t.Parallel()
	r, s := newMailRig(t)
	r.setMail("send", "send@example.net")
	for i := range mostLinks + 2 {
		if w := r.forget("127.0.3."+strconv.Itoa(i+1), "acme", "look"); w.code != 200 {
			t.Errorf("%+v", w)
		}
	}
	first := linkIn(t, s, mostLinks)
	r.forget("127.0.3.30", "acme", "send")
	linkIn(t, s, mostLinks+1)
	testutil.Eventually(t, "the audit log has it", func() bool { return r.records.has("portal/reset/link map[account:acme name:look]: too many\n") })
	r.clock.Add(int64(linkTime/time.Second) - 120) // the requests before have waited
	b := r.stranger("127.0.3.40")
	b.has(first, "New password")
	r.clock.Add(120)
	if w := b.get(first); w.code != 404 {
		t.Errorf("a link after its time: %+v", w)
	}
	if w := b.reset(first, next); w.code != 404 {
		t.Errorf("a link after its time: %+v", w)
	}
	r.clock.Add(int64(period / time.Second))
	r.forget("127.0.3.50", "acme", "look")
	linkIn(t, s, mostLinks+2)
}

// A link ends when the password changes in another way, with the second factor, with the address, with the user, and when the pages
// cannot change the account any more. A user who was removed is not made again by a link.
func TestResetRevoked(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *rig){
		"password": func(r *rig) {
			if w := r.user("acme", "look").post("password", "current", password, "password", "yet another", "again", "yet another"); w.code != 200 {
				r.t.Errorf("%+v", w)
			}
		},
		"given password": func(r *rig) { r.user("acme", "manage").post("users", "name", "look", "reset", "1") },
		"address":        func(r *rig) { r.setMail("look", "other@example.net") },
		"no address":     func(r *rig) { r.setMail("look", "") },
		"user":           func(r *rig) { r.user("acme", "manage").post("users", "name", "look", "remove", "1") },
		"account": func(r *rig) {
			if err := os.Remove(filepath.Join(r.dir, "accounts", "acme.yaml")); err != nil {
				r.t.Error(err)
			}
			r.Reload(r.yaml)
		},
		"portal": func(r *rig) { r.Reload(strings.Replace(r.yaml, "portal: true, ", "", 1)) },
		"mail":   func(r *rig) { r.Reload(regexp.MustCompile(`(?m)^mail: .*$`).ReplaceAllString(r.yaml, "")) },
		"networks": func(r *rig) {
			r.makeAcme("networks: [192.0.2.1]")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := newMailRig(t)
			r.t = t
			r.forget("127.0.0.2", "acme", "look")
			to := linkIn(t, s, 1)
			b := r.stranger("127.0.0.3")
			if name != "portal" {
				b.has(to, "New password")
			}
			end(r)
			for _, w := range []reply{b.get(to), b.reset(to, next)} {
				if w.code != 404 {
					t.Errorf("%+v", w)
				}
			}
			file, _ := os.ReadFile(filepath.Join(r.dir, "accounts", "acme.yaml"))
			if name == "user" && strings.Contains(string(file), "look@example.net") {
				t.Errorf("%s", file)
			}
		})
	}
}

// Of many requests with one link one has its effect.
func TestResetOnce(t *testing.T) {
	t.Parallel()
	r, s := newMailRig(t)
	r.forget("127.0.0.2", "acme", "look")
	to := linkIn(t, s, 1)
	var mu sync.Mutex
	codes := map[int]int{}
	var all sync.WaitGroup
	for i := range 8 {
		b := r.stranger("127.0.4." + strconv.Itoa(i+1))
		all.Go(func() {
			w := b.reset(to, next+strconv.Itoa(i))
			mu.Lock()
			defer mu.Unlock()
			codes[w.code]++
		})
	}
	all.Wait()
	if codes[200] != 1 || codes[404] != 7 {
		t.Errorf("%v", codes)
	}
}

// The second factor is asked for after a link, too. A password that somebody else has made is the user's own then.
func TestResetAndSecondFactor(t *testing.T) {
	t.Parallel()
	r, s := newMailRig(t)
	file := filepath.Join(r.dir, "accounts", "acme.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `"name":"look",`, `"name":"look","totp_secret":"JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP","password_once":true,`, 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil || changed == string(text) {
		t.Fatalf("%v %s", err, text)
	}
	r.Reload(r.yaml)
	r.forget("127.0.0.2", "acme", "look")
	b := r.stranger("127.0.0.3")
	if w := b.reset(linkIn(t, s, 1), next); w.code != 200 {
		t.Fatalf("%+v", w)
	}
	if w := b.post("login", "account", "acme", "name", "look", "password", next); w.code != 303 || w.header.Get("Location") != Base+"code" || b.in() {
		t.Errorf("%+v", w)
	}
	if text, err = os.ReadFile(file); err != nil || strings.Contains(string(text), "password_once") {
		t.Errorf("%v %s", err, text)
	}
}

// What is no link is answered as one that has ended. The address in a mail is the configuration's, whatever a request has as its
// host; another site cannot ask; and without mail, or without an address of the pages, there is nothing of all this.
func TestResetAttacks(t *testing.T) {
	t.Parallel()
	r, s := newMailRig(t)
	b := r.stranger("127.0.0.2")
	for _, text := range []string{"", "x", token.New(), strings.Repeat("a", 4000), "%00", "../forgot"} {
		if w := b.reset("reset?token="+text, next); w.code != 404 {
			t.Errorf("%q: %+v", text, w)
		}
	}
	if w := b.get("reset"); w.code != 404 {
		t.Errorf("%+v", w)
	}
	form := map[string][]string{"account": {"acme"}, "name": {"look"}}
	if w := b.do("POST", "forgot", form, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"); w.code != 403 {
		t.Errorf("%+v", w)
	}
	if w := b.do("POST", "forgot", form, "Host", "evil.example", "X-Forwarded-Host", "evil.example"); w.code != 200 {
		t.Errorf("%+v", w)
	}
	linkIn(t, s, 1)
	if m := s.Took()[0]; strings.Contains(m.Text, "evil") {
		t.Error(m.Text)
	}
	for _, yaml := range []string{strings.Replace(r.yaml, `portal_url: "http://localhost:8080/"`, "", 1), regexp.MustCompile(`(?m)^mail: .*$`).ReplaceAllString(r.yaml, "")} {
		r.Reload(yaml)
		if w := b.get("login"); strings.Contains(w.body, "Forgot") {
			t.Errorf("%+v", w)
		}
		for _, w := range []reply{b.get("forgot"), b.do("POST", "forgot", form), b.get("reset"), b.reset("x", next)} {
			if w.code != 404 {
				t.Errorf("%+v", w)
			}
		}
	}
}

// Users set their own address with their password, and those who manage the account the addresses of others.
func TestUserMail(t *testing.T) {
	t.Parallel()
	r, _ := newMailRig(t)
	b := r.user("acme", config.LookScope)
	b.has("password", "look@example.net")
	for _, c := range []struct {
		address, current string
		code             int
		want             string
	}{
		{"a b@example.net", password, 422, "must be one such as"}, {"ann@example.net\r\nBcc: x@example.net", password, 422, "must be one such as"},
		{"eve@example.net", "wrong horse", 422, "current password is wrong"}, {"eve@example.net", "", 422, "current password is wrong"},
		{"ann@example.net", password, 200, "is as you have set it"}, {"", password, 200, "is as you have set it"},
	} {
		if w := b.post("password", "mail", c.address, "current", c.current); w.code != c.code || !strings.Contains(w.body, c.want) {
			t.Errorf("%+v: %+v", c, w)
		}
		if u := r.Gateway.Table.Account("acme").Logins.Users[0]; c.code != 200 && u.Mail != "look@example.net" || c.code == 200 && u.Mail != c.address {
			t.Errorf("%+v: %s", c, u.Mail)
		}
	}
	if !b.in() {
		t.Error("a new address ends the session")
	}
	m := r.user("acme", config.ManageScope)
	if w := m.post("users", "name", "send", "mail", "not one"); w.code != 422 {
		t.Errorf("%+v", w)
	}
	if w := m.post("users", "name", "nobody", "mail", "a@example.net"); w.code != 422 {
		t.Errorf("%+v", w)
	}
	if w := m.post("users", "name", "manage", "mail", "a@example.net"); w.code != 422 || !strings.Contains(w.body, "You cannot change") {
		t.Errorf("%+v", w)
	}
	if w := b.post("users", "name", "send", "mail", "a@example.net"); w.code != 403 {
		t.Errorf("%+v", w)
	}
	if w := r.user("shop", config.LookScope).post("password", "mail", "a@example.net", "current", password); w.code != 409 {
		t.Errorf("%+v", w)
	}
}
