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
	Number  uint32 // number of the request, also in the pdu log
	Remote  netip.AddrPort
	Account string
	Kind    string       // kind of request; shown where a session shows its bind type
	Opened  int64        // when the stream began, by the engine's clock
	Heard   atomic.Int64 // when the client last sent something
	May     func() bool  // reports whether the client's login is still valid
	Cut     func()       // interrupts the stream's wait when Over is closed

	once   sync.Once
	over   chan struct{}
	reason Reason
}

// A Reason is why a stream must end.
type Reason uint8

// The reasons.
const (
	Revoked  Reason = iota + 1 // the client's login is not valid any more
	Kicked                     // an operator has ended the stream
	Stopping                   // the gateway stops, or the connector is removed
)

// Stop ends the stream with a reason. Only the first call has an effect.
func (s *Stream) Stop(why Reason) {
	s.once.Do(func() {
		s.reason = why
		close(s.over)
		s.Cut()
	})
}

// Over returns a channel that is closed when the stream must end.
func (s *Stream) Over() <-chan struct{} { return s.over }

// Reason returns why the stream must end. It returns 0 if the stream may go on.
func (s *Stream) Reason() Reason {
	select {
	case <-s.over:
		return s.reason
	default:
		return 0
	}
}

// A Table holds the streams of a connector. Its zero value is empty. It is safe for concurrent use.
type Table struct {
	mu     sync.Mutex
	closed bool
	all    []*Stream // in the order in which the streams began
}

// Begin adds a stream. End removes the stream. Begin returns false if no more streams may begin.
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

// All returns the streams that have not ended.
func (t *Table) All() []*Stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.all)
}

// Check ends the streams of clients whose logins are not valid any more.
func (t *Table) Check() {
	for _, s := range t.All() {
		if !s.May() {
			s.Stop(Revoked)
		}
	}
}

// Close ends all streams. No stream can begin afterwards.
func (t *Table) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	for _, s := range t.All() {
		s.Stop(Stopping)
	}
}
