package browser

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"pmg/internal/token"
)

// Bounds on the life of a session.
const (
	Idle = time.Hour      // a session ends that nothing was asked in for so long
	Life = 12 * time.Hour // a session ends after this time in any case
)

// A Notice is the result of the last action of a session.
type Notice struct {
	Failed bool
	Text   string
}

// A session is what a browser has logged in to. Its cookie is random, and the gateway has its hash alone.
type session[U any] struct {
	user   U
	begun  time.Time
	used   time.Time
	notice Notice
}

// Options say how sessions are kept.
type Options[U any] struct {
	Cookie string           // name of the cookie
	Now    func() time.Time // the time
	Most   int              // limit of all sessions
	MostOf int              // limit of the sessions of one owner
	Owner  func(U) string   // of a session

	Secure func(*http.Request) bool // whether browsers use TLS for a request; IsSecure if nil
}

// IsSecure reports whether the browser of a request uses TLS, here or at a proxy that says so: the first one of several. Anybody
// may say so, because it can make the sender's own cookie stricter and nothing else.
func IsSecure(r *http.Request) bool {
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return r.TLS != nil || strings.EqualFold(strings.TrimSpace(first), "https")
}

// Sessions are those of browsers. They end with the process. U is what a session has of its user.
type Sessions[U any] struct {
	options Options[U]

	mu       sync.Mutex
	sessions map[string]*session[U] // by the hash of the cookie
}

// NewSessions returns what has no sessions.
func NewSessions[U any](o Options[U]) *Sessions[U] {
	if o.Secure == nil {
		o.Secure = IsSecure
	}
	return &Sessions[U]{options: o, sessions: map[string]*session[U]{}}
}

// Begin begins a session, and returns the value of its cookie. If there are too many, or too many of its owner, the one of these
// ends that was not used for longest.
func (s *Sessions[U]) Begin(user U) (cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(s.options.Owner(user))
	cookie = token.New()
	now := s.options.Now()
	s.sessions[token.Hash(cookie)] = &session[U]{user: user, begun: now, used: now}
	return cookie
}

// expire ends the sessions that are over, and makes room for another one of an owner. The caller holds the lock.
func (s *Sessions[U]) expire(owner string) {
	of, oldest, oldestOf := 0, "", ""
	for key, one := range s.sessions {
		if s.over(one) {
			delete(s.sessions, key)
			continue
		}
		if oldest == "" || one.used.Before(s.sessions[oldest].used) {
			oldest = key
		}
		if s.options.Owner(one.user) != owner {
			continue
		}
		if of++; oldestOf == "" || one.used.Before(s.sessions[oldestOf].used) {
			oldestOf = key
		}
	}
	switch {
	case of >= s.options.MostOf:
		delete(s.sessions, oldestOf)
	case len(s.sessions) >= s.options.Most:
		delete(s.sessions, oldest)
	}
}

func (s *Sessions[U]) over(one *session[U]) bool {
	now := s.options.Now()
	return now.Sub(one.used) > Idle || now.Sub(one.begun) > Life
}

// Find returns the user of the session of a request. It ends the session unless holds says that its user may go on.
func (s *Sessions[U]) Find(r *http.Request, holds func(U) bool) (user U, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, key := s.of(r)
	if one == nil {
		return user, false
	}
	if s.over(one) || !holds(one.user) {
		delete(s.sessions, key)
		return user, false
	}
	one.used = s.options.Now()
	return one.user, true
}

// of returns the session of a request, nil if it has none. The caller holds the lock.
func (s *Sessions[U]) of(r *http.Request) (one *session[U], key string) {
	c, err := r.Cookie(s.cookieName(r))
	if err != nil || c.Value == "" {
		return nil, ""
	}
	key = token.Hash(c.Value)
	return s.sessions[key], key
}

// End ends the session of a request.
func (s *Sessions[U]) End(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, key := s.of(r); one != nil {
		delete(s.sessions, key)
	}
}

// EndAll ends all sessions.
func (s *Sessions[U]) EndAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sessions)
}

// Notify leaves a notice for the next page of the session of a request.
func (s *Sessions[U]) Notify(r *http.Request, n Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, _ := s.of(r); one != nil {
		one.notice = n
	}
}

// Notice returns the notice for the session of a request, once.
func (s *Sessions[U]) Notice(r *http.Request) (n Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, _ := s.of(r); one != nil {
		n, one.notice = one.notice, Notice{}
	}
	return n
}

// cookieName returns the name of the cookie of a session. With TLS a browser takes the cookie from this host alone, and sends it
// with TLS alone.
func (s *Sessions[U]) cookieName(r *http.Request) string {
	if s.options.Secure(r) {
		return "__Host-" + s.options.Cookie
	}
	return s.options.Cookie
}

// SetCookie sets the session cookie of a browser, or removes it if the value is "".
func (s *Sessions[U]) SetCookie(h http.Header, r *http.Request, value string) {
	c := &http.Cookie{
		Name: s.cookieName(r), Value: value, Path: "/", Secure: s.options.Secure(r), HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
	if value == "" {
		c.MaxAge = -1
	}
	h.Add("Set-Cookie", c.String())
}
