// Package streams keeps the requests that last like sessions. Operators see and end them, and they end with the login
// that allowed them.
//
// # Start reading
//
// streams.go.
package streams

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
)

// A Stream is a request that lasts until its client or the gateway ends it.
//
//	begun ──Stop: its login does not hold, an operator, a shutdown──► over ──End──► forgotten
//	  └──the client ends it──────────────────────────────────────────────────▲
type Stream struct {
	Number  uint32 // of the request, in the pdu log too
	Remote  netip.AddrPort
	Account string
	Kind    string       // what it does, where a session has how it is bound
	Opened  int64        // by the engine's clock
	Heard   atomic.Int64 // when the client last sent something
	May     func() bool  // reports whether the login of its client still holds
	Cut     func()       // ends what it waits for, when Over is closed

	once   sync.Once
	over   chan struct{}
	reason Reason
}

// A Reason is why a stream must end.
type Reason uint8

// The reasons.
const (
	Revoked  Reason = iota + 1 // the login of its client does not hold any more
	Kicked                     // an operator ends it
	Stopping                   // the gateway, or the connector, goes
)

// Stop ends the stream, once.
func (s *Stream) Stop(why Reason) {
	s.once.Do(func() {
		s.reason = why
		close(s.over)
		s.Cut()
	})
}

// Over returns a channel that is closed when the stream must end.
func (s *Stream) Over() <-chan struct{} { return s.over }

// Reason returns why the stream must end, 0 if it need not.
func (s *Stream) Reason() Reason {
	select {
	case <-s.over:
		return s.reason
	default:
		return 0
	}
}

// A Table is the streams of a connector. Its zero value is empty. It is safe for concurrent use.
type Table struct {
	mu     sync.Mutex
	closed bool
	all    []*Stream // in the order in which they began
}

// Begin adds a stream, which End removes. It reports false if there are to be no more streams.
func (t *Table) Begin(s *Stream) bool {
	s.over = make(chan struct{})
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.all = append(t.all, s)
	}
	return !t.closed
}

// End removes a stream.
func (t *Table) End(s *Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = slices.DeleteFunc(t.all, func(other *Stream) bool { return other == s })
}

// All returns the streams that last.
func (t *Table) All() []*Stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.all)
}

// Check ends the streams of clients whose logins do not hold any more.
func (t *Table) Check() {
	for _, s := range t.All() {
		if !s.May() {
			s.Stop(Revoked)
		}
	}
}

// Close ends all streams. No other begins.
func (t *Table) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	for _, s := range t.All() {
		s.Stop(Stopping)
	}
}
