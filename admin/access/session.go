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
	"pmg/internal/passhash"
	"pmg/internal/token"
	"pmg/internal/turns"
)

// Bounds on sessions of browsers, and on attempts to begin one.
const (
	mostSessions  = 1000
	sessionIdle   = time.Hour      // a session ends that nothing was asked in for so long
	sessionLife   = 12 * time.Hour // and in any case after this
	freeAttempts  = 5              // failed logins of an address that cost nothing; each further one doubles the wait
	longestWait   = 5 * time.Minute
	forgetAfter   = 15 * time.Minute // without a failure
	mostAddresses = 10000
	maxPassword   = 255
	atATime       = 2  // passwords that are compared, each of which takes 19 MiB
	mostLogins    = 32 // that wait for it
)

// A session is what a browser has logged in to. Its cookie is random, and the gateway has its hash alone.
type session struct {
	user     string
	password string       // the hash, so that a session ends when the password changes
	other    *config.User // of a login elsewhere; password is the proof of the place then
	begun    time.Time
	used     time.Time
	notice   Notice
}

// A Notice is the result of the last action of a session.
type Notice struct {
	Failed bool
	Text   string
}

// failures are those of an address.
type failures struct {
	count int
	last  time.Time
}

// Sessions are those of the operators' browsers. They end with the process.
type Sessions struct {
	users func() []config.User
	proof func() string // of the server where users log in elsewhere, "" if there is none
	now   func() time.Time
	turns *turns.Turns // for comparing passwords

	nobody func() []byte // the hash that a password is compared with if nobody has the name, so that the time does not reveal it

	mu       sync.Mutex
	sessions map[string]*session
	failed   map[string]failures // by address
}

// NewSessions returns the sessions of the users that a function returns. Those who log in elsewhere stay logged in while proof
// returns the same.
func NewSessions(users func() []config.User, proof func() string, now func() time.Time) *Sessions {
	return &Sessions{
		users: users, proof: proof, now: now, turns: turns.New(atATime, mostLogins),
		nobody:   sync.OnceValue(func() []byte { return []byte(passhash.New([]byte(token.New()))) }),
		sessions: map[string]*session{}, failed: map[string]failures{},
	}
}

// Wait returns for how long an address may not log in, because it has failed too often.
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

// ErrCrowded says that too many passwords wait until they are compared.
var ErrCrowded = errors.New("too many logins are being looked at")

// Begin logs a user in who comes from an address, and returns the value of the cookie. It is "" if the name or the password
// is wrong, if the address must wait, or if the request ends.
func (s *Sessions) Begin(ctx context.Context, from, name, password string) (string, error) {
	if s.Wait(from) > 0 || len(password) > maxPassword {
		return "", nil
	}
	at, _ := netip.ParseAddrPort(from) // those over the socket are one network
	if !s.turns.Take(at.Addr(), ctx.Done()) {
		return "", ErrCrowded
	}
	defer s.turns.Give()
	if s.Wait(from) > 0 { // another guess of the address was wrong meanwhile
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
	return s.begin(&session{user: u.Name, password: u.Password}), nil
}

// BeginOther logs a user in who has logged in elsewhere, as proof says, and returns the value of the cookie.
func (s *Sessions) BeginOther(name, scope, proof string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begin(&session{user: name, password: proof, other: &config.User{Name: name, Scope: scope}})
}

// begin begins a session. The caller holds the lock.
func (s *Sessions) begin(one *session) (cookie string) {
	s.expire()
	cookie = token.New()
	one.begun, one.used = s.now(), s.now()
	s.sessions[token.Hash(cookie)] = one
	return cookie
}

// IsOpen reports whether nobody can log in: there are no users, here or elsewhere.
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
	if f.count == 0 && len(s.failed) >= mostAddresses { // the wait of those that are known must not be shortened by others
		address = "others"
		f = s.failed[address]
	}
	if now.Sub(f.last) > forgetAfter {
		f.count = 0
	}
	s.failed[address] = failures{f.count + 1, now}
}

// expire removes the sessions that are over, and the one that was not used for longest if there are too many. The caller
// holds the lock.
func (s *Sessions) expire() {
	oldest := ""
	for key, one := range s.sessions {
		if s.over(one) {
			delete(s.sessions, key)
		} else if oldest == "" || one.used.Before(s.sessions[oldest].used) {
			oldest = key
		}
	}
	if len(s.sessions) >= mostSessions {
		delete(s.sessions, oldest)
	}
}

func (s *Sessions) over(one *session) bool {
	now := s.now()
	return now.Sub(one.used) > sessionIdle || now.Sub(one.begun) > sessionLife
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

// find returns the session of a request and its user, nil if it has none that goes on.
func (s *Sessions) find(r *http.Request) (*session, *config.User) {
	c, err := r.Cookie(cookieName(r))
	if err != nil || c.Value == "" {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := token.Hash(c.Value)
	one := s.sessions[key]
	if one == nil {
		return nil, nil
	}
	u, proof := one.other, s.proof()
	if u == nil {
		if u = s.user(one.user); u != nil {
			proof = u.Password
		}
	}
	if s.over(one) || u == nil || proof != one.password {
		delete(s.sessions, key)
		return nil, nil
	}
	one.used = s.now()
	return one, u
}

// End ends the session of a request.
func (s *Sessions) End(r *http.Request) {
	if c, err := r.Cookie(cookieName(r)); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sessions, token.Hash(c.Value))
	}
}

// Notify leaves a notice for the next page of the session of a request.
func (s *Sessions) Notify(r *http.Request, n Notice) {
	if one, _ := s.find(r); one != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		one.notice = n
	}
}

// Notice returns the notice for the session of a request, once.
func (s *Sessions) Notice(r *http.Request) (n Notice) {
	if one, _ := s.find(r); one != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		n, one.notice = one.notice, Notice{}
	}
	return n
}

// cookieName returns the name of the cookie of a session. With TLS a browser takes the cookie from this host alone, and sends it
// with TLS alone.
func cookieName(r *http.Request) string {
	if r.TLS != nil {
		return "__Host-pmg"
	}
	return "pmg"
}

// SetCookie sets the session cookie of a browser, or removes it if the value is "".
func SetCookie(w http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{
		Name: cookieName(r), Value: value, Path: "/", Secure: r.TLS != nil, HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}
