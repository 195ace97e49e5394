package webhooks

import (
	"sync"
	"time"

	"pmg/connector"
)

// mostAttempts is how many attempts of a server are remembered.
const mostAttempts = 100

// An Attempt is the delivery of one event: a call with several events is one attempt for each.
type Attempt struct {
	At           time.Time `json:"at"` // when it had ended
	Account      string    `json:"account"`
	Endpoint     string    `json:"endpoint"`
	Event        string    `json:"event"`   // its id, which the call has as webhook-id
	ID           string    `json:"id"`      // of the message that it is about
	Type         string    `json:"type"`    // of the event, such as message.delivered
	Number       int       `json:"attempt"` // from 1; at 255 it is not counted any more
	Taken        bool      `json:"taken"`
	Status       int       `json:"status,omitempty"` // of the answer; 0: there was none
	Milliseconds int64     `json:"milliseconds"`
	Fallback     bool      `json:"fallback,omitempty"` // webhook_fallback was called
	Error        string    `json:"error,omitempty"`    // why it was not taken, in words that follow the name of the server
	Reply        string    `json:"reply,omitempty"`    // the beginning of the answer's body, which may have texts of messages
}

// A Server is one that is called for an account. What calls it records here what comes of that. It is safe for concurrent
// use.
type Server struct {
	webhooks *Webhooks
	lane     *connector.Lane

	mu       sync.Mutex
	row      Row
	caller   Caller    // nil: nothing calls it
	attempts []Attempt // a ring: the last ones; nil: they are not remembered
	next     int       // where the next one goes once the ring is full
}

// A Row is what is known of a server, by the wall clock.
type Row struct {
	Account     string     `json:"account"`
	Endpoint    string     `json:"endpoint"`
	Waiting     int64      `json:"waiting"`          // events that wait, or are under way
	Oldest      *time.Time `json:"oldest,omitempty"` // when the first of them that is not under way was due
	UnderWay    int        `json:"under_way"`        // calls
	Failures    int        `json:"failures"`         // in a row
	RestsUntil  *time.Time `json:"rests_until,omitempty"`
	Succeeded   int64      `json:"succeeded"` // calls
	Failed      int64      `json:"failed"`    // calls
	LastSuccess *time.Time `json:"last_success,omitempty"`
	LastFailure *time.Time `json:"last_failure,omitempty"`
	LastError   string     `json:"last_error,omitempty"`
	Fallback    bool       `json:"fallback,omitempty"` // webhook_fallback is called in its place
	Disabled    *time.Time `json:"disabled,omitempty"` // since when it is not called any more; nil: it is
}

// Begin records that a call begins.
func (s *Server) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row.UnderWay++
}

// A Result is what came of a call.
type Result struct {
	Taken   bool
	Counted bool // as a failure: another attempt may succeed
	Error   string

	Fallback bool // webhook_fallback was called, which says nothing of the server
}

// End records what came of a call that has begun.
func (s *Server) End(r Result) {
	now := s.webhooks.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row.UnderWay--
	switch {
	case r.Taken:
		s.row.Succeeded++
		s.row.LastSuccess, s.row.Fallback = &now, r.Fallback
		if !r.Fallback {
			s.row.Failures = 0
		}
	default:
		s.row.Failed++
		s.row.LastFailure, s.row.LastError = &now, printable(r.Error, mostWords)
		if r.Counted && !r.Fallback {
			s.row.Failures++
		}
	}
}

// Failures returns how many calls have failed in a row.
func (s *Server) Failures() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row.Failures
}

// Disable records that the server is not called any more, until an operator says otherwise. It reports false if that was
// known.
func (s *Server) Disable() bool {
	now := s.webhooks.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row.Disabled != nil {
		return false
	}
	s.row.Disabled = &now
	return true
}

// IsDisabled reports whether it is not called any more.
func (s *Server) IsDisabled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row.Disabled != nil
}

// A Caller is what calls a server.
type Caller interface {
	Follow() // an operator has enabled the server
	Retry()  // an operator wants it called now
}

// CalledBy records what calls the server.
func (s *Server) CalledBy(c Caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caller = c
}

// retry calls it now, unless it is disabled or nothing waits. It reports whether it is called.
func (s *Server) retry() bool {
	s.mu.Lock()
	c, calls := s.caller, s.row.Disabled == nil && s.lane.Queued.Load() > 0
	if calls {
		s.row.RestsUntil = nil
	}
	s.mu.Unlock()
	if !calls || c == nil {
		return false
	}
	c.Retry()
	return true
}

// enable enables it again. It reports false if it was not disabled.
func (s *Server) enable() bool {
	s.mu.Lock()
	was, c := s.row.Disabled != nil, s.caller
	s.row.Disabled = nil
	if was {
		s.row.Failures = 0
	}
	s.mu.Unlock()
	if was && c != nil {
		c.Follow()
	}
	return was
}

// Rests records until when the server is not called, by the engine's clock.
func (s *Server) Rests(until int64) {
	at := time.Unix(0, s.webhooks.node.Clock.Wall(until)).UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.row.RestsUntil; before == nil || before.Before(at) {
		s.row.RestsUntil = &at
	}
}

// Tried remembers attempts. Those of the servers that were called last are remembered.
func (s *Server) Tried(some ...Attempt) {
	now := s.webhooks.now()
	s.webhooks.remember(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range some {
		a.At, a.Account, a.Endpoint = now, s.lane.Account, s.lane.Endpoint
		a.Error, a.Reply = printable(a.Error, mostWords), printable(a.Reply, mostReply)
		if len(s.attempts) < mostAttempts {
			s.attempts = append(s.attempts, a)
			continue
		}
		s.attempts[s.next] = a
		s.next = (s.next + 1) % mostAttempts
	}
}

// forget drops its attempts.
func (s *Server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts, s.next = nil, 0
}

// known returns what is known at a time of the engine.
func (s *Server) known(now int64) Row {
	s.mu.Lock()
	r := s.row
	s.mu.Unlock()
	r.Account, r.Endpoint, r.Waiting = s.lane.Account, s.lane.Endpoint, s.lane.Queued.Load()
	if oldest := s.lane.Queues.Oldest(); oldest != 0 {
		at := time.Unix(0, s.webhooks.node.Clock.Wall(oldest)).UTC()
		r.Oldest = &at
	}
	if r.RestsUntil != nil && r.RestsUntil.UnixNano() <= s.webhooks.node.Clock.Wall(now) {
		r.RestsUntil = nil
	}
	return r
}

// each calls f for its attempts, the last one first, while f returns true.
func (s *Server) each(f func(Attempt) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.attempts)
	for i := range n {
		if !f(s.attempts[(s.next-1-i+2*n)%n]) {
			return false
		}
	}
	return true
}
