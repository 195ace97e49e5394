package account

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"pmg/config"
	"pmg/internal/tlsfiles"
	"pmg/protocols"
	"pmg/sms"
)

var home = netip.MustParseAddr("192.0.2.7")

// A certificate is asked for before the password, and is enough without one.
func TestCertificates(t *testing.T) {
	c := &config.Config{Accounts: []config.Account{
		{SystemID: "only", Certificates: []string{"one", "Two"}}, {SystemID: "both", Certificates: []string{"two"}, Password: "secret"}, {SystemID: "empty"},
	}}
	table := NewTable(c, NewRegistry())
	of := func(name string) tlsfiles.Identity {
		return tlsfiles.IdentityOf(&x509.Certificate{Subject: pkix.Name{CommonName: name}})
	}
	for _, c := range []struct {
		id, password string
		shows        tlsfiles.Identity
		want         Result
	}{
		{"only", "", of("ONE"), OK},
		{"only", "anything", of("two"), OK},
		{"only", "", of("three"), WrongCertificate},
		{"only", "", tlsfiles.Identity{}, WrongCertificate},
		{"both", "secret", of("two"), OK},
		{"both", "", of("two"), WrongPassword},
		{"both", "secret", tlsfiles.Identity{}, WrongCertificate},
		{"empty", "", of("two"), OK}, // whose password is none
		{"empty", "x", of("two"), WrongPassword},
		{"nobody", "", of("one"), NoAccount},
	} {
		l := login(c.id, c.password)
		l.Certificate = c.shows
		if _, got := table.LogIn(0, l, table.Lookup(l)); got != c.want {
			t.Errorf("%s with %q: %s, want %s", c.id, c.password, got, c.want)
		}
	}
}

func hash(t testing.TB, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

// argon2idOther is a cheap hash of "other".
const argon2idOther = "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$IkNNYB8bGtvzcmOzJAtXJA"

func login(id, password string) Login {
	return Login{SystemID: []byte(id), Password: []byte(password), Connector: "clients", Addr: home, Bind: protocols.Transceiver}
}

// newTable returns the table of accounts that may log in on connector clients.
func newTable(r *Registry, accounts ...config.Account) *Table {
	return NewTable(&config.Config{Accounts: accounts, Connectors: []config.Connector{{Name: "clients", Direction: config.In}}}, r)
}

// check decides a login as the gateway does, but without the guard.
func check(t *Table, l Login) (*Account, Result) {
	p := t.Lookup(l)
	if p == Unverified {
		p = t.Verify(l)
	}
	return t.LogIn(1, l, p)
}

func from(l Login, addr string) Login {
	l.Addr = netip.MustParseAddr(addr)
	return l
}

func withBind(l Login, b protocols.BindType) Login {
	l.Bind = b
	return l
}

func TestLogIn(t *testing.T) {
	t.Parallel()
	table := newTable(NewRegistry(),
		config.Account{SystemID: "plain", Password: "secret"},
		config.Account{SystemID: "hashed", Password: hash(t, "secret")},
		config.Account{SystemID: "argon2id", Password: argon2idOther},
		config.Account{SystemID: "near", Password: "secret", Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}},
		config.Account{SystemID: "mt", Password: hash(t, "secret"), Bind: []protocols.BindType{protocols.Transmitter}},
		config.Account{SystemID: "here", Password: "secret", Connectors: []string{"other", "clients"}},
		config.Account{SystemID: "there", Password: "secret", Connectors: []string{"other"}},
	)
	for _, c := range []struct {
		login Login
		want  Result
	}{
		{login("plain", "secret"), OK},
		{login("plain", "Secret"), WrongPassword},
		{login("plain", "secret "), WrongPassword},
		{login("plain", ""), WrongPassword},
		{login("hashed", "secret"), OK},
		{login("hashed", "secret"), OK},
		{login("hashed", "wrong"), WrongPassword},
		{login("hashed", "wrong"), WrongPassword},
		{login("argon2id", "other"), OK},
		{login("argon2id", "other"), OK},
		{login("argon2id", "secret"), WrongPassword},
		{login("nobody", "secret"), NoAccount},
		{login("nobody", "secret"), NoAccount},
		{login("", ""), NoAccount},
		{login("near", "secret"), OK},
		{from(login("near", "secret"), "::ffff:192.0.2.9"), OK},
		{from(login("near", "secret"), "2001:db8::1"), OK},
		{from(login("near", "secret"), "198.51.100.1"), WrongNetwork},
		{from(login("near", "wrong"), "198.51.100.1"), WrongPassword},
		{login("mt", "secret"), WrongBind},
		{withBind(login("mt", "secret"), protocols.Receiver), WrongBind},
		{withBind(login("mt", "secret"), protocols.Transmitter), OK},
		{login("here", "secret"), OK},
		{login("there", "secret"), WrongConnector},
	} {
		a, got := check(table, c.login)
		if got != c.want || (a != nil) != (got == OK) {
			t.Errorf("%s/%s from %s as %s: %s, account %v, want %s", c.login.SystemID, c.login.Password, c.login.Addr, c.login.Bind, got, a != nil, c.want)
		}
		if a != nil && a.SystemID != string(c.login.SystemID) {
			t.Errorf("%s logged in as %s", c.login.SystemID, a.SystemID)
		}
		if code := got.Code(); (code == sms.OK) != (got == OK) || code != sms.OK && code != sms.BindFailed {
			t.Errorf("the client is told %s for %s", code, got)
		}
	}
}

// F2: a hash is computed once for a right password, however often a client reconnects. The guard delays
// wrong ones.
func TestOneHash(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	hashes := 0
	matches := r.matches
	r.matches = func(hash, password []byte) bool { hashes++; return matches(hash, password) }
	old, changed := config.Account{SystemID: "a", Password: hash(t, "secret")}, config.Account{SystemID: "a", Password: argon2idOther}
	table := newTable(r, old)
	want := func(reason string, table *Table, l Login, password Password, n int) {
		t.Helper()
		for range 3 {
			got := table.Lookup(l)
			if got == Unverified {
				got = table.Verify(l)
			}
			if got != password {
				t.Fatalf("%s: got %d, want %d", reason, got, password)
			}
		}
		if hashes != n {
			t.Errorf("%s: %d hashes, want %d", reason, hashes, n)
		}
		hashes = 0
	}
	want("right", table, login("a", "secret"), Right, 1)
	want("wrong", table, login("a", "wrong"), Wrong, 3)
	want("right, after a wrong one", table, login("a", "secret"), Right, 0)
	want("unknown account", table, login("b", "wrong 2"), Wrong, 3)

	want("after a reload", newTable(r, old), login("a", "secret"), Right, 0)
	want("changed", newTable(r, changed), login("a", "other"), Right, 1)
	want("changed, old password", newTable(r, changed), login("a", "secret"), Wrong, 3)
	want("changed back", newTable(r, old), login("a", "secret"), Right, 0)

	// A login of an unknown account with the decoy's password does not change that.
	if got := newTable(r, old).Verify(login("b", "secret")); got != Wrong || hashes != 1 {
		t.Errorf("unknown account: got %d, %d hashes", got, hashes)
	}
	hashes = 0
	want("after an unknown account had the password", newTable(r, old), login("a", "secret"), Right, 0)
}

func TestSessionsSurviveReload(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	account := config.Account{SystemID: "a", Password: "x", Sessions: config.Sessions{Most: 2}}
	old := newTable(r, account)
	first, _ := check(old, login("a", "x"))
	check(old, login("a", "x"))
	table := newTable(r, account)
	if _, got := check(table, login("a", "x")); got != TooManySessions {
		t.Errorf("third session: %s", got)
	}
	first.End(login("a", "x").Addr)
	second, got := check(table, login("a", "x"))
	if got != OK || second.use.count() != 2 {
		t.Errorf("after one has ended: %s", got)
	}

	// The account goes while sessions are open, and comes back.
	newTable(r)
	again := newTable(r, account)
	if _, got := check(again, login("a", "x")); got != TooManySessions {
		t.Errorf("after the account was away: %s", got)
	}
	second.End(login("a", "x").Addr)
	second.End(login("a", "x").Addr)
	newTable(r)
	if len(r.usage) != 0 {
		t.Errorf("%d accounts are still held", len(r.usage))
	}
}

// While a client changes its password, both work, whichever is hashed, and neither is hashed again for each login.
func TestOldPassword(t *testing.T) {
	t.Parallel()
	for _, c := range []config.Account{
		{Password: "new", OldPassword: "old"}, {Password: hash(t, "new"), OldPassword: "old"},
		{Password: "new", OldPassword: hash(t, "old")}, {Password: hash(t, "new"), OldPassword: hash(t, "old")},
	} {
		c.SystemID = "a"
		r := NewRegistry()
		table := newTable(r, c)
		for password, want := range map[string]Result{"new": OK, "old": OK, "other": WrongPassword, "": WrongPassword, c.Password: OK} {
			if password == c.Password && password != "new" {
				want = WrongPassword // a hash is no password
			}
			if _, got := check(table, login("a", password)); got != want {
				t.Errorf("%s of %s and %s: %s", password, c.Password, c.OldPassword, got)
			}
		}
		for _, password := range []string{"old", "new"} {
			if got := table.Lookup(login("a", password)); got != Right {
				t.Errorf("%s of %s and %s is hashed again: %d", password, c.Password, c.OldPassword, got)
			}
		}
	}
}

// An account may have a number of sessions from one address, where an IPv6 address counts with its /64.
func TestSessionsPerAddress(t *testing.T) {
	t.Parallel()
	table := newTable(NewRegistry(), config.Account{SystemID: "a", Password: "x", Sessions: config.Sessions{Most: 4, PerAddress: 2}})
	at := func(addr string) Login { return from(login("a", "x"), addr) }
	var a *Account
	for _, c := range []struct {
		addr string
		want Result
	}{
		{"192.0.2.1", OK}, {"::ffff:192.0.2.1", OK}, {"192.0.2.1", TooManyFromAddress}, {"2001:db8::1", OK},
		{"2001:db8::2", OK}, {"2001:db8::3", TooManySessions}, {"192.0.2.2", TooManySessions},
	} {
		one, got := check(table, at(c.addr))
		if got != c.want {
			t.Errorf("%s: %s, not %s", c.addr, got, c.want)
		}
		if one != nil {
			a = one
		}
	}
	a.End(at("2001:db8::9").Addr)
	if _, got := check(table, at("192.0.2.1")); got != TooManyFromAddress {
		t.Errorf("after another address's session has ended: %s", got)
	}
	for _, addr := range []string{"2001:db8::2", "192.0.2.1", "::ffff:192.0.2.1"} {
		a.End(at(addr).Addr)
	}
	if len(a.use.from) != 0 || a.use.count() != 0 {
		t.Errorf("%v are left", a.use.from)
	}
}

// However many clients log in at the same time, max_sessions holds.
func TestConcurrentLogins(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	table := newTable(r, config.Account{SystemID: "a", Password: hash(t, "x"), Sessions: config.Sessions{Most: 3}, Rate: 10})
	g := NewGuard(100)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			l := login("a", "x")
			g.Check(1, 1, l.Addr, l.SystemID)
			a, result := check(table, l)
			if result != OK {
				g.Refuse(1, l.Addr, l.SystemID)
				return
			}
			a.Admit(1)
			g.Succeed(1, l.Addr, l.SystemID)
		})
	}
	wg.Wait()
	if n := table.accounts["a"].use.count(); n != 3 {
		t.Errorf("%d sessions", n)
	}
}

func TestResultNames(t *testing.T) {
	t.Parallel()
	for r := OK; r <= TooManyFromAddress; r++ {
		if strings.TrimSpace(r.String()) == "" {
			t.Errorf("result %d has no name", r)
		}
	}
}

// Secrets that are the same octets with other ends have other digests.
func TestDigestsTellEnds(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	one := r.digest([]byte("ab"), []byte("c"))
	if one == r.digest([]byte("a"), []byte("bc")) {
		t.Error("the end of one secret is taken for the beginning of the next")
	}
	if again := r.digest([]byte("ab"), []byte("c")); one != again || one == NewRegistry().digest([]byte("ab"), []byte("c")) {
		t.Error("digests are not keyed hashes")
	}
}

// A session that is logged in has the options of the account as they are now.
func TestConfigAfterReload(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	a, got := check(newTable(r, config.Account{SystemID: "a", Password: "x", Share: 10}), login("a", "x"))
	if got != OK || a.Config().Share != 10 {
		t.Fatalf("%s", got)
	}
	newTable(r, config.Account{SystemID: "a", Password: "x", Share: 20})
	if a.Config().Share != 20 {
		t.Errorf("share %d", a.Config().Share)
	}
}

// Of each account one search of messages runs at a time.
func TestSearchOnce(t *testing.T) {
	t.Parallel()
	a, _ := check(newTable(NewRegistry(), config.Account{SystemID: "a", Password: "x"}), login("a", "x"))
	if !a.Search() || a.Search() {
		t.Error("two searches at a time, or none")
	}
	if a.EndSearch(); !a.Search() {
		t.Error("no search after one has ended")
	}
}

// Which refusals are guesses at a password, and make others from there wait.
func TestGuesses(t *testing.T) {
	t.Parallel()
	for r := OK; r <= TooManyFromAddress; r++ {
		if want := r == NoAccount || r == WrongPassword || r == WrongCertificate || r == WrongNetwork; r.IsGuess() != want {
			t.Errorf("%s: %t", r, r.IsGuess())
		}
	}
}

// A user of an account logs in with the user's own password alone, and where the account may. Neither is the password of the other.
func TestUsers(t *testing.T) {
	t.Parallel()
	as := func(l Login, user string) Login {
		l.AsUser, l.User = true, user
		return l
	}
	users := config.Logins{Users: []config.AccountUser{{Name: "ann", Password: hash(t, "hers")}, {Name: "bob", Password: argon2idOther}}}
	table := newTable(NewRegistry(),
		config.Account{SystemID: "shop", Password: "secret", Logins: users},
		config.Account{SystemID: "bare", Password: "secret"},
		config.Account{SystemID: "certified", Certificates: []string{"a"}},
		config.Account{SystemID: "there", Password: "secret", Connectors: []string{"other"}, Logins: users},
		config.Account{SystemID: "near", Password: "secret", Networks: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}, Logins: users},
	)
	for _, c := range []struct {
		login Login
		want  Result
	}{
		{as(login("shop", "hers"), "ann"), OK},
		{as(login("shop", "other"), "bob"), OK},
		{as(login("shop", "other"), "ann"), WrongPassword},
		{as(login("shop", "secret"), "ann"), WrongPassword},
		{as(login("shop", "secret"), "shop"), WrongPassword},
		{as(login("shop", "secret"), ""), WrongPassword},
		{as(login("shop", "hers"), ""), WrongPassword},
		{as(login("shop", ""), "ann"), WrongPassword},
		{as(login("bare", "hers"), "ann"), WrongPassword},
		{as(login("bare", "secret"), ""), WrongPassword},
		{as(login("certified", ""), ""), WrongCertificate},
		{as(login("nobody", "hers"), "ann"), NoAccount},
		{as(login("there", "hers"), "ann"), WrongConnector},
		{as(login("near", "hers"), "ann"), WrongNetwork},
		{login("shop", "hers"), WrongPassword},
		{login("shop", "secret"), OK},
	} {
		if table.Lookup(c.login) != Unverified && c.login.AsUser {
			t.Errorf("%s: no hash is compared", c.login.User)
		}
		if _, got := check(table, c.login); got != c.want {
			t.Errorf("%s/%s with %s: %v, not %v", c.login.SystemID, c.login.User, c.login.Password, got, c.want)
		}
	}
	none := newTable(NewRegistry(), config.Account{SystemID: "shop", Password: "secret"})
	if _, got := check(none, as(login("shop", "secret"), "")); got != WrongPassword {
		t.Errorf("without users: %v", got)
	}
}
