package browser

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmg/internal/token"
)

// sessionsOf returns sessions of users, which are their own owners, on a clock of the test's own.
func sessionsOf(now *time.Time) *Sessions[string] {
	return NewSessions(Options[string]{
		Cookie: "pmg", Now: func() time.Time { return *now }, Most: 10, MostOf: 3, Owner: func(user string) string { return user },
	})
}

func with(value string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/ui/", nil)
	r.AddCookie(&http.Cookie{Name: "pmg", Value: value})
	return r
}

func (s *Sessions[U]) has(cookie string) bool {
	_, ok := s.Find(with(cookie), func(U) bool { return true })
	return ok
}

// A session lasts while it is used, for its life at most, until a logout, and until its user may not go on. One that has ended
// stays so.
func TestSessions(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s := sessionsOf(&now)
	a, b := s.Begin("anna"), s.Begin("anna")
	if a == b || !s.has(a) || !s.has(b) || s.has("") || s.has(token.New()) || s.has(token.Hash(a)) {
		t.Error("who is logged in is not, or another one is")
	}
	if u, ok := s.Find(with(a), func(u string) bool { return u == "anna" }); !ok || u != "anna" {
		t.Error(u, ok)
	}
	if s.End(with(a)); s.has(a) || !s.has(b) {
		t.Error("a logout does not end its session alone")
	}
	for range int(Life/Idle) - 1 {
		if now = now.Add(Idle); !s.has(b) {
			t.Fatal("a session that is used ends")
		}
	}
	if now = now.Add(Idle + time.Second); s.has(b) {
		t.Error("a session lasts longer than its life")
	}
	c := s.Begin("anna")
	if now = now.Add(Idle + time.Second); s.has(c) {
		t.Error("a session lasts that is not used")
	}
	d := s.Begin("anna")
	if _, ok := s.Find(with(d), func(string) bool { return false }); ok || s.has(d) {
		t.Error("a session goes on whose user may not")
	}
}

// There are bounds on sessions, and on those of an owner: those end that were not used for longest, and one owner cannot end the
// sessions of others with its own.
func TestBounds(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s := sessionsOf(&now)
	begin := func(user string) string {
		now = now.Add(time.Second)
		return s.Begin(user)
	}
	other, first, second := begin("other"), begin("anna"), begin("anna")
	third := begin("anna")
	s.has(first)
	for range 20 {
		third = begin("anna")
	}
	if !s.has(other) || s.has(first) || s.has(second) || !s.has(third) || len(s.sessions) != 4 {
		t.Errorf("%d sessions", len(s.sessions))
	}
	for i := range 20 {
		other = begin("user " + strconv.Itoa(i))
	}
	if len(s.sessions) != 10 || !s.has(other) || s.has(third) {
		t.Errorf("%d sessions", len(s.sessions))
	}
}

// A notice is shown once, to the session that it is for.
func TestNotice(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s := sessionsOf(&now)
	a, b := s.Begin("anna"), s.Begin("bob")
	s.Notify(with(a), Notice{Text: "done"})
	s.Notify(with("none"), Notice{Text: "lost"})
	if s.Notice(with(b)).Text != "" || s.Notice(with(a)).Text != "done" || s.Notice(with(a)).Text != "" {
		t.Error("a notice is lost, doubled or of another session")
	}
}

// A cookie is for this host alone where there is TLS, is out of reach of scripts, and does not come with requests of other sites.
func TestCookie(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	for scheme, want := range map[string]string{
		"http": "pmg=v; Path=/; HttpOnly; SameSite=Strict", "https": "__Host-pmg=v; Path=/; HttpOnly; Secure; SameSite=Strict",
	} {
		h := http.Header{}
		sessionsOf(&now).SetCookie(h, httptest.NewRequest(http.MethodGet, scheme+"://localhost/", nil), "v")
		if got := h.Get("Set-Cookie"); got != want {
			t.Errorf("%s: %s", scheme, got)
		}
	}
}

// Behind a proxy that ends TLS, and says so, a cookie is for TLS alone; nothing that a client sends makes one of TLS less strict.
func TestSecure(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s := sessionsOf(&now)
	for proto, secure := range map[string]bool{"": false, "http": false, "https": true, "HTTPS": true, "https, http": true, "http, https": false} {
		for _, own := range []bool{false, true} {
			r := httptest.NewRequest(http.MethodGet, "/ui/", nil)
			if own {
				r = httptest.NewRequest(http.MethodGet, "https://pmg.example.net/ui/", nil)
			}
			r.Header.Set("X-Forwarded-Proto", proto)
			h := http.Header{}
			s.SetCookie(h, r, s.Begin("anna"))
			cookie := h.Get("Set-Cookie")
			if strings.Contains(cookie, "; Secure") != (secure || own) || strings.HasPrefix(cookie, "__Host-pmg=") != (secure || own) {
				t.Errorf("%q, TLS here %t: %s", proto, own, cookie)
			}
			r.Header.Set("Cookie", strings.SplitN(cookie, ";", 2)[0])
			if _, ok := s.Find(r, func(string) bool { return true }); !ok {
				t.Errorf("%q, TLS here %t: the session is not found", proto, own)
			}
		}
	}
}
