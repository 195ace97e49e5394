package access

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"pmg/config"
	"pmg/internal/browser"
	"pmg/internal/passhash"
	"pmg/internal/token"
	"pmg/internal/turns"
)

// Limits of browsers' sessions, and of attempts to log in.
const (
	mostSessions = 1000

	mostSessionsOf = 50 // sessions of one user
	freeAttempts   = 5  // failed logins of an address that cause no wait; each further failure doubles the wait
	longestWait    = 5 * time.Minute
	forgetAfter    = 15 * time.Minute // time without a failure after which failures are forgotten
	mostAddresses  = 10000
	maxPassword    = 255
	atATime        = 2  // passwords that are compared concurrently; a comparison takes 19 MiB
	mostLogins     = 32 // logins that wait for a comparison
)

// A login is the data of a user in a session.
type login struct {
	user     string
	password string       // hash of the password, so that a session ends when the password changes
	other    *config.User // a user of the OpenID provider; then password is the provider's proof
}

// failures are the failed logins of an address.
type failures struct {
	count int
	last  time.Time
}

// Sessions are the sessions of the operators' browsers.
type Sessions struct {
	IsSecure func(*http.Request) bool // reports whether a browser uses TLS for a request: to the gateway, or to a proxy

	logins *browser.Sessions[login]
	users  func() []config.User
	proof  func() string // returns the proof of the OpenID provider; "": there is none
	now    func() time.Time
	turns  *turns.Turns[netip.Prefix] // turns for comparing passwords

	nobody func() []byte // the hash for unknown names, so that the duration does not reveal which names exist

	mu     sync.Mutex
	failed map[string]failures // failed logins, by address
}

// NewSessions returns the sessions of the users that the function users returns. Users of the OpenID provider stay logged in
// until the result of elsewhere changes.
func NewSessions(users func() []config.User, elsewhere func() *config.OIDC, now func() time.Time) *Sessions {
	secure := func(r *http.Request) bool { return browser.IsSecure(r) || elsewhere().IsSecure(r.Host) }
	return &Sessions{
		users: users, proof: func() string { return elsewhere().Proof() }, IsSecure: secure, now: now,
		turns:  turns.New[netip.Prefix](atATime, mostLogins),
		nobody: sync.OnceValue(func() []byte { return []byte(passhash.New([]byte(token.New()))) }),
		failed: map[string]failures{},
		logins: browser.NewSessions(browser.Options[login]{
			Cookie: "pmg", Now: now, Most: mostSessions, MostOf: mostSessionsOf, Owner: func(l login) string { return l.user },
			Secure: secure,
		}),
	}
}

// Wait returns the time for which an address may not log in, because of too many failures.
func (s *Sessions) Wait(from string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.failed[network(from)]
	if f.count < freeAttempts {
		return 0
	}
	wait := min(time.Second<<min(f.count-freeAttempts, 10), longestWait)
	return max(0, f.last.Add(wait).Sub(s.now()))
}

// ErrCrowded means that too many logins wait for the comparison of their passwords.
var ErrCrowded = errors.New("too many logins are being checked")

// Begin logs a user in from an address, and returns the value of the cookie. It returns "" if the name or the password is
// wrong, if the address must wait, or if the request ends.
func (s *Sessions) Begin(ctx context.Context, from, name, password string) (string, error) {
	if s.Wait(from) > 0 || len(password) > maxPassword {
		return "", nil
	}
	at, _ := netip.ParseAddrPort(from) // all clients of the socket count as one network
	if !s.turns.Take(turns.Network(at.Addr()), ctx.Done()) {
		return "", ErrCrowded
	}
	defer s.turns.Give()
	if s.Wait(from) > 0 { // another password from the address was wrong meanwhile
		return "", nil
	}
	u, hash := s.user(name), s.nobody()
	if u != nil {
		hash = []byte(u.Password)
	}
	matches := passhash.Matches(hash, []byte(password))
	s.mu.Lock()
	defer s.mu.Unlock()
	if u == nil || !matches {
		s.fail(network(from))
		return "", nil
	}
	delete(s.failed, network(from))
	return s.logins.Begin(login{user: u.Name, password: u.Password}), nil
}

// BeginOther logs a user of the OpenID provider in, and returns the value of the cookie. proof is the provider's.
func (s *Sessions) BeginOther(name, scope, proof string) string {
	return s.logins.Begin(login{user: name, password: proof, other: &config.User{Name: name, Scope: scope}})
}

// IsOpen reports whether there are no logins: the configuration has neither users nor an OpenID provider.
func (s *Sessions) IsOpen() bool { return len(s.users()) == 0 && s.proof() == "" }

// fail counts a failure of an address. The caller holds the lock.
func (s *Sessions) fail(address string) {
	now := s.now()
	if len(s.failed) >= mostAddresses {
		for other, f := range s.failed {
			if now.Sub(f.last) > forgetAfter {
				delete(s.failed, other)
			}
		}
	}
	f := s.failed[address]
	if f.count == 0 && len(s.failed) >= mostAddresses { // a new address must not end the wait of a known address
		address = "others"
		f = s.failed[address]
	}
	if now.Sub(f.last) > forgetAfter {
		f.count = 0
	}
	s.failed[address] = failures{f.count + 1, now}
}

// user returns the user of a name, nil if there is none.
func (s *Sessions) user(name string) *config.User {
	all := s.users()
	i := slices.IndexFunc(all, func(u config.User) bool { return u.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// find returns the user of a request's session, nil if the request has no valid session.
func (s *Sessions) find(r *http.Request) *config.User {
	var u *config.User
	_, ok := s.logins.Find(r, func(l login) bool {
		proof := s.proof()
		if u = l.other; u == nil {
			if u = s.user(l.user); u != nil {
				proof = u.Password
			}
		}
		return u != nil && proof == l.password
	})
	if !ok {
		return nil
	}
	return u
}

// End ends the session of a request.
func (s *Sessions) End(r *http.Request) { s.logins.End(r) }

// Notify leaves a notice for the next page of the session of a request.
func (s *Sessions) Notify(r *http.Request, n browser.Notice) { s.logins.Notify(r, n) }

// Notice returns the notice for the session of a request, once.
func (s *Sessions) Notice(r *http.Request) browser.Notice { return s.logins.Notice(r) }

// SetCookie sets the session cookie of a browser, or removes it if the value is "".
func (s *Sessions) SetCookie(w http.ResponseWriter, r *http.Request, value string) {
	s.logins.SetCookie(w.Header(), r, value)
}
