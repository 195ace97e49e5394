package access

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/internal/browser"
	"pmg/internal/passhash"
	"pmg/internal/token"
	"pmg/internal/turns"
)

const right = "correct horse"

// sessionsOf returns sessions of a user anna on a clock of the test's own.
func sessionsOf(t *testing.T, now *time.Time) (*Sessions, *[]config.User) {
	t.Helper()
	users := []config.User{{Name: "anna", Password: passhash.New([]byte(right)), Scope: config.OperateScope}}
	return NewSessions(func() []config.User { return users }, func() *config.OIDC { return &config.OIDC{} }, func() time.Time { return *now }), &users
}

// begin logs in.
func begin(t *testing.T, s *Sessions, from, name, password string) string {
	t.Helper()
	cookie, err := s.Begin(t.Context(), from, name, password)
	if err != nil {
		t.Fatal(err)
	}
	return cookie
}

func withCookie(value string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/ui/", nil)
	r.AddCookie(&http.Cookie{Name: "pmg", Value: value})
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))
}

// A session is its user's until it ends: by a logout, without a request for a while, after its life, or when the user or the
// password is not in the configuration any more. A cookie that the gateway did not make is nobody's.
func TestSessions(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s, users := sessionsOf(t, &now)
	g := NewGuard(func() []config.Token { return nil }, s, zerolog.Nop())
	login := func() string { return begin(t, s, "192.0.2.1:1", "anna", right) }
	in := func(cookie string) bool {
		code, c := ask(g, withCookie(cookie))
		if (code == http.StatusOK) != (c.Login == "anna" && c.Scope == Operate) || code != http.StatusOK && code != http.StatusUnauthorized {
			t.Errorf("%d, %v", code, c)
		}
		return code == http.StatusOK
	}
	a, b := login(), login()
	if a == "" || a == b || !in(a) || !in(b) || in("") || in(token.New()) || in(token.Hash(a)) {
		t.Error("who is logged in is not, or another one is")
	}
	if s.End(withCookie(a)); in(a) || !in(b) {
		t.Error("a logout does not end its session alone")
	}
	for range 11 {
		if now = now.Add(browser.Idle); !goes(s, withCookie(b)) {
			t.Fatal("a session that is used ends")
		}
	}
	if now = now.Add(browser.Idle + time.Second); in(b) {
		t.Error("a session lasts longer than its life")
	}
	c := login()
	if now = now.Add(browser.Idle + time.Second); in(c) {
		t.Error("a session lasts that is not used")
	}
	d, before := login(), *users
	*users = []config.User{{Name: "anna", Password: passhash.New([]byte("another")), Scope: config.OperateScope}}
	if in(d) {
		t.Error("a session outlasts its password")
	}
	*users = before
	if in(d) {
		t.Error("a session that has ended goes on")
	}
	e := login()
	if *users = nil; goes(s, withCookie(e)) {
		t.Error("a session outlasts its user")
	}
}

// An address that fails waits longer and longer, whatever names it uses, and others do not. A right password changes nothing
// meanwhile.
func TestLoginsFail(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s, _ := sessionsOf(t, &now)
	fail := func(from, name string) {
		t.Helper()
		if begin(t, s, from, name, "wrong") != "" {
			t.Fatal("a wrong password logs in")
		}
	}
	for i := range freeAttempts {
		fail("192.0.2.1:"+strconv.Itoa(i), []string{"anna", "nobody"}[i%2])
	}
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if got := s.Wait("192.0.2.1:9"); got != want {
			t.Errorf("waits %v, not %v", got, want)
		}
		if begin(t, s, "192.0.2.1:9", "anna", right) != "" {
			t.Error("an address that must wait logs in")
		}
		now = now.Add(want)
		fail("192.0.2.1:1", "anna")
	}
	if s.Wait("192.0.2.2:1") != 0 || begin(t, s, "192.0.2.2:1", "anna", right) == "" {
		t.Error("another address waits")
	}
	for range 20 {
		now = now.Add(s.Wait("192.0.2.1:1"))
		s.mu.Lock()
		s.fail(network("192.0.2.1:1"))
		s.mu.Unlock()
	}
	if got := s.Wait("192.0.2.1:1"); got != longestWait {
		t.Errorf("waits %v", got)
	}
	if now = now.Add(longestWait); begin(t, s, "192.0.2.1:1", "anna", right) == "" || s.Wait("192.0.2.1:1") != 0 {
		t.Error("a right password after the wait does not help")
	}
}

// Addresses that fail are bounded: those beyond the bound wait together.
func TestBounds(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s, _ := sessionsOf(t, &now)
	for i := range mostAddresses + 2*freeAttempts {
		s.mu.Lock()
		s.fail("address " + strconv.Itoa(i))
		s.mu.Unlock()
	}
	if len(s.failed) != mostAddresses+1 || s.failed["others"].count != 2*freeAttempts {
		t.Errorf("%d addresses, %d others", len(s.failed), s.failed["others"].count)
	}
}

// goes reports whether the session of a request goes on.
func goes(s *Sessions, r *http.Request) bool { return s.find(r) != nil }

// Passwords wait to be compared, by network; where too many wait, those of the network with most of them do not.
func TestLoginsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(1e9, 0)
		s, _ := sessionsOf(t, &now)
		s.turns = turns.New[netip.Prefix](0, 3)
		crowded, logged := 0, 0
		try := func(from, password string) {
			switch cookie, err := s.Begin(t.Context(), from, "anna", password); {
			case err != nil:
				crowded++
			case cookie != "":
				logged++
			}
		}
		for i := range 5 {
			go try(fmt.Sprintf("192.0.2.%d:1", i), "wrong")
			synctest.Wait()
		}
		go try("198.51.100.1:1", right)
		synctest.Wait()
		if crowded != 3 || logged != 0 {
			t.Errorf("%d are too many, %d have logged in", crowded, logged)
		}
		s.turns.Give()
		synctest.Wait()
		if crowded != 3 || logged != 1 {
			t.Errorf("with a place: %d are too many, %d have logged in", crowded, logged)
		}
	})
}
