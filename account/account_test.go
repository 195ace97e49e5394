package account

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"pmg/config"
	"pmg/protocols"
	"pmg/sms"
)

var home = netip.MustParseAddr("192.0.2.7")

func hash(t testing.TB, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

func login(id, password string) Login {
	return Login{SystemID: []byte(id), Password: []byte(password), Addr: home, Bind: protocols.Transceiver}
}

func from(l Login, addr string) Login {
	l.Addr = netip.MustParseAddr(addr)
	return l
}

func as(l Login, b protocols.BindType) Login {
	l.Bind = b
	return l
}

func TestCheck(t *testing.T) {
	t.Parallel()
	table := NewTable([]config.Account{
		{SystemID: "plain", Password: "secret"},
		{SystemID: "hashed", Password: hash(t, "secret")},
		{SystemID: "near", Password: "secret", Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}},
		{SystemID: "mt", Password: hash(t, "secret"), Bind: []protocols.BindType{protocols.Transmitter}},
	}, NewRegistry())
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
		{login("nobody", "secret"), NoAccount},
		{login("", ""), NoAccount},
		{login("near", "secret"), OK},
		{from(login("near", "secret"), "::ffff:192.0.2.9"), OK},
		{from(login("near", "secret"), "2001:db8::1"), OK},
		{from(login("near", "secret"), "198.51.100.1"), WrongNetwork},
		{from(login("near", "wrong"), "198.51.100.1"), WrongPassword},
		{login("mt", "secret"), WrongBind},
		{as(login("mt", "secret"), protocols.Receiver), WrongBind},
		{as(login("mt", "secret"), protocols.Transmitter), OK},
	} {
		a, got := table.Check(c.login)
		if got != c.want || (a != nil) != (got == OK) {
			t.Errorf("%s/%s from %s as %s: %s, account %v, want %s", c.login.SystemID, c.login.Password, c.login.Addr, c.login.Bind, got, a != nil, c.want)
		}
		if a != nil && a.SystemID != string(c.login.SystemID) {
			t.Errorf("%s logged in as %s", c.login.SystemID, a.SystemID)
		}
		if code := got.Code(); (code == sms.OK) != (got == OK) || code != sms.OK && code != sms.BindFailed {
			t.Errorf("%s is told to the client as %s", got, code)
		}
	}
}

// bcrypt is done once for a password that fits, each time for one that does
// not, and for an unknown account too.
func TestNeedsVerify(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	h := hash(t, "secret")
	table := NewTable([]config.Account{{SystemID: "a", Password: h}}, r)
	want := func(reason string, table *Table, l Login, want Result) {
		t.Helper()
		if _, got := table.Lookup(l); got != want {
			t.Errorf("%s: got %s, want %s", reason, got, want)
		}
	}
	want("first login", table, login("a", "secret"), NeedsVerify)
	want("unknown account", table, login("b", "secret"), NeedsVerify)
	if _, got := table.Verify(login("b", "secret")); got != NoAccount {
		t.Errorf("unknown account: %s", got)
	}
	table.Verify(login("a", "wrong"))
	want("wrong password, again", table, login("a", "wrong"), NeedsVerify)
	table.Verify(login("a", "secret"))
	want("verified before", table, login("a", "secret"), OK)
	want("verified, but another password", table, login("a", "wrong"), NeedsVerify)

	reloaded := NewTable([]config.Account{{SystemID: "a", Password: h}}, r)
	want("verified before a reload", reloaded, login("a", "secret"), OK)
	changed := NewTable([]config.Account{{SystemID: "a", Password: hash(t, "other")}}, r)
	want("the hash has changed", changed, login("a", "secret"), NeedsVerify)
}

func TestSessionsSurviveReload(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	accounts := []config.Account{{SystemID: "a", Password: "x", MaxSessions: 2}}
	old := NewTable(accounts, r)
	first, _ := old.Check(login("a", "x"))
	old.Check(login("a", "x"))
	table := NewTable(accounts, r)
	if _, got := table.Check(login("a", "x")); got != TooManySessions {
		t.Errorf("third session: %s", got)
	}
	first.End()
	second, got := table.Check(login("a", "x"))
	if got != OK || second.Sessions() != 2 {
		t.Errorf("after one has ended: %s", got)
	}

	// The account goes while sessions are open, and comes back.
	NewTable(nil, r)
	again := NewTable(accounts, r)
	if _, got := again.Check(login("a", "x")); got != TooManySessions {
		t.Errorf("after the account was away: %s", got)
	}
	second.End()
	second.End()
	NewTable(nil, r)
	if len(r.usage) != 0 {
		t.Errorf("%d accounts are kept for nothing", len(r.usage))
	}
}

func TestRateSurvivesReload(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second)
	now := time.Unix(1_700_000_000, 0).UnixNano()
	r := NewRegistry()
	old, _ := NewTable([]config.Account{{SystemID: "a", Password: "x", Rate: 1}}, r).Check(login("a", "x"))
	if w := old.Reserve(now); w != 0 {
		t.Errorf("first message waits %d", w)
	}
	table := NewTable([]config.Account{{SystemID: "a", Password: "x", Rate: 2}}, r)
	a, _ := table.Check(login("a", "x"))
	if w := a.Reserve(now); w != second {
		t.Errorf("second message waits %d, want a second: its place was taken before", w)
	}
	if w := old.Reserve(now); w != second*3/2 {
		t.Errorf("third message, of the old session, waits %d, want 1.5 s by the new rate", w)
	}
}

// However many log in at once, no more than allowed get in.
func TestConcurrentLogins(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	table := NewTable([]config.Account{{SystemID: "a", Password: hash(t, "x"), MaxSessions: 3, Rate: 10}}, r)
	g := NewGuard(100)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			l := login("a", "x")
			a, result := table.Check(l)
			if result != OK {
				g.Fail(1, l.Addr, l.SystemID)
				return
			}
			a.Reserve(1)
			g.Succeed(l.SystemID)
		})
	}
	wg.Wait()
	if a := table.accounts["a"]; a.Sessions() != 3 {
		t.Errorf("%d sessions", a.Sessions())
	}
}

func TestResultNames(t *testing.T) {
	t.Parallel()
	for r := OK; r <= TooManySessions; r++ {
		if strings.TrimSpace(r.String()) == "" {
			t.Errorf("result %d has no name", r)
		}
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0).UnixNano()
	g := NewGuard(1000)
	want := func(reason, addr, id string, want time.Duration) {
		t.Helper()
		if got := time.Duration(g.Fail(now, netip.MustParseAddr(addr), []byte(id))); got != want {
			t.Errorf("%s: waits %s, want %s", reason, got, want)
		}
	}
	want("first", "192.0.2.1", "a", 1*time.Second)
	want("second", "192.0.2.1", "b", 2*time.Second)
	want("third, another account", "192.0.2.1", "c", 4*time.Second)
	want("another address", "192.0.2.2", "d", 1*time.Second)
	want("another address, an account guessed before", "192.0.2.3", "d", 2*time.Second)
	g.Succeed([]byte("d"))
	want("the account logged in meanwhile", "192.0.2.4", "d", 1*time.Second)
	want("but the address is remembered", "192.0.2.1", "d", 8*time.Second)
	for range 100 {
		g.Fail(now, home, nil)
	}
	want("never more than a minute", home.String(), "e", time.Minute)
	want("IPv6", "2001:db8::1", "f", 1*time.Second)
	want("the same network", "2001:db8::ffff", "g", 2*time.Second)
	now += int64(remember) / 2
	want("not forgotten yet", home.String(), "h", time.Minute)
	now += 3 * int64(remember)
	want("forgotten", home.String(), "i", 1*time.Second)
}

// A flood of addresses costs bounded memory, and does not wash away one that
// goes on failing.
func TestGuardIsBounded(t *testing.T) {
	t.Parallel()
	g := NewGuard(100)
	last := int64(0)
	for i := range 10_000 {
		addr := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		g.Fail(1, addr, fmt.Append(nil, i))
		last = g.Fail(1, home, []byte("victim"))
		if n := len(g.young) + len(g.old); n > 100 {
			t.Fatalf("%d entries", n)
		}
	}
	if last != int64(time.Minute) {
		t.Errorf("in a flood the failing address waits %s", time.Duration(last))
	}
}
