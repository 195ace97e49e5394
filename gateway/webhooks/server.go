package webhooks

import (
	"sync"
	"time"

	"pmg/connector"
)

// mostAttempts is how many attempts are remembered for each server.
const mostAttempts = 100

// An Attempt is an attempt to deliver one event. A call with several events is one attempt for each
// event.
type Attempt struct {
	At           time.Time `json:"at"` // when the attempt had ended
	Account      string    `json:"account"`
	Endpoint     string    `json:"endpoint"`
	Event        string    `json:"event"`   // id of the event, which the call has in webhook-id
	ID           string    `json:"id"`      // id of the message that the event is about
	Type         string    `json:"type"`    // type of the event, such as message.delivered
	Number       int       `json:"attempt"` // number of the attempt, from 1; not counted beyond 255
	Taken        bool      `json:"taken"`
	Status       int       `json:"status,omitempty"` // HTTP status of the answer; 0: there was no answer
	Milliseconds int64     `json:"milliseconds"`
	Fallback     bool      `json:"fallback,omitempty"` // the call was made to webhook_fallback
	Error        string    `json:"error,omitempty"`    // why the event was not accepted, as text that follows the server's name
	Reply        string    `json:"reply,omitempty"`    // beginning of the answer's body, which may contain texts of messages
}

// A Server is the state of a server that is called for an account. The caller of the server records
// the results here. It is safe for concurrent use.
type Server struct {
	webhooks *Webhooks
	lane     *connector.Lane

	mu       sync.Mutex
	row      Row
	caller   Caller    // the caller of the server; nil: there is none
	attempts []Attempt // a ring of the latest attempts; nil: attempts are not remembered
	next     int       // index of the next attempt once the ring is full
}

// A Row is what operators see of a server. Times are by the wall clock.
type Row struct {
	Account     string     `json:"account"`
	Endpoint    string     `json:"endpoint"`
	Waiting     int64      `json:"waiting"`          // events that wait or are under way
	Oldest      *time.Time `json:"oldest,omitempty"` // due time of the first waiting event that is not under way
	UnderWay    int        `json:"under_way"`        // calls under way
	Failures    int        `json:"failures"`         // consecutive failed calls
	RestsUntil  *time.Time `json:"rests_until,omitempty"`
	Succeeded   int64      `json:"succeeded"` // number of successful calls
	Failed      int64      `json:"failed"`    // number of failed calls
	LastSuccess *time.Time `json:"last_success,omitempty"`
	LastFailure *time.Time `json:"last_failure,omitempty"`
	LastError   string     `json:"last_error,omitempty"`
	Fallback    bool       `json:"fallback,omitempty"` // webhook_fallback is called instead of the server
	Disabled    *time.Time `json:"disabled,omitempty"` // since when the server is not called any more; nil: the server is called
}

// Begin records that a call begins.
func (s *Server) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row.UnderWay++
}

// A Result is the result of a call.
type Result struct {
	Taken   bool
	Counted bool // the failure counts, because another attempt may succeed
	Error   string

	Fallback bool // webhook_fallback was called, so the result says nothing about the server
}

// End records the result of a call that Begin has recorded.
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

// Failures returns the number of consecutive failed calls.
func (s *Server) Failures() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row.Failures
}

// Disable records that the server is not called until an operator enables it. It returns false if
// the server was already disabled.
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

// IsDisabled reports whether the server is disabled.
func (s *Server) IsDisabled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row.Disabled != nil
}

// A Caller is the part of the gateway that calls a server.
type Caller interface {
	Follow() // called when an operator has enabled the server
	Retry()  // called when an operator wants an immediate call
}

// CalledBy records the caller of the server.
func (s *Server) CalledBy(c Caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caller = c
}

// retry calls the server now, and returns true. It returns false if the server is disabled or no
// event waits.
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

// enable enables the server again. It returns false if the server was not disabled.
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

// Rests records until when the server is not called. until is a time of the engine's clock.
func (s *Server) Rests(until int64) {
	at := time.Unix(0, s.webhooks.node.Clock.Wall(until)).UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.row.RestsUntil; before == nil || before.Before(at) {
		s.row.RestsUntil = &at
	}
}

// Tried records attempts. Only the servers that were called last keep their attempts.
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

// forget drops the attempts of the server.
func (s *Server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts, s.next = nil, 0
}

// known returns the server's row at a time of the engine's clock.
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

// each calls f for the attempts of the server, the latest first, while f returns true.
func (s *Server) each(f func(Attempt) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.attempts)
	for i := range n {
		if !f(s.attempts[(s.next-1-i+2*n)%n]) {
			return
		}
	}
}
