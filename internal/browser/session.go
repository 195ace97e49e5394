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

// A session is the state of a browser that has logged in. Its cookie is random, and the gateway has only the hash of the cookie.
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
	Owner  func(U) string   // returns the owner of a session

	Secure func(*http.Request) bool // whether browsers use TLS for a request; IsSecure if nil
}

// IsSecure reports whether the browser of a request uses TLS, here or at a proxy, which the first of several
// values reports. Any sender may set the header, because it can only make the sender's own cookie stricter.
func IsSecure(r *http.Request) bool {
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return r.TLS != nil || strings.EqualFold(strings.TrimSpace(first), "https")
}

// Sessions are sessions of browsers. They end with the process. U is the data of a session's user.
type Sessions[U any] struct {
	options Options[U]

	mu       sync.Mutex
	sessions map[string]*session[U] // sessions, by the hash of the cookie
}

// NewSessions returns an empty set of sessions.
func NewSessions[U any](o Options[U]) *Sessions[U] {
	if o.Secure == nil {
		o.Secure = IsSecure
	}
	return &Sessions[U]{options: o, sessions: map[string]*session[U]{}}
}

// Begin begins a session, and returns the value of its cookie. If there are too many, or too many of its
// owner, the session that was unused for longest ends.
func (s *Sessions[U]) Begin(user U) (cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(s.options.Owner(user))
	cookie = token.New()
	now := s.options.Now()
	s.sessions[token.Hash(cookie)] = &session[U]{user: user, begun: now, used: now}
	return cookie
}

// expire ends expired sessions, and makes room for another session of an owner. The caller holds the lock.
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

// Find returns the user of the session of a request. It ends the session if holds returns false for its user.
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

// of returns the session of a request, nil if the request has none. The caller holds the lock.
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

// cookieName returns the name of the cookie of a session.
func (s *Sessions[U]) cookieName(r *http.Request) string {
	return Cookie(s.options.Cookie, "", s.options.Secure(r)).Name
}

// SetCookie sets the session cookie of a browser, or removes it if the value is "".
func (s *Sessions[U]) SetCookie(h http.Header, r *http.Request, value string) {
	c := Cookie(s.options.Cookie, value, s.options.Secure(r))
	if value == "" {
		c.MaxAge = -1
	}
	h.Add("Set-Cookie", c.String())
}

// Cookie returns a cookie that scripts cannot read and that no other site can send. If it is secure, a browser accepts it only
// from this host, and sends it only over TLS.
func Cookie(name, value string, isSecure bool) *http.Cookie {
	if isSecure {
		name = "__Host-" + name
	}
	return &http.Cookie{
		Name: name, Value: value, Path: "/", Secure: isSecure, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}
