package classic

import (
	"sync"

	"pmg/gateway"
	"pmg/gateway/keep"
	"pmg/gateway/session"
	"pmg/sms"
	"pmg/store"
)

// storing is the messages that wait for their commit, over all connections. A
// goroutine goes on with them, so that the committer need not wait for sessions' locks.
type storing struct {
	gateway *gateway.Gateway
	changed signal

	mu      sync.Mutex // guards the rest; the committer's comes behind it
	waiting []stored   // in the order of their positions
	ended   []commit
}

// A stored is a message that waits for its commit, and what follows.
type stored struct {
	at   store.Position
	then func(code sms.Code)
}

// A commit is the outcome of one.
type commit struct {
	upTo store.Position
	code sms.Code
}

// begin starts the goroutine.
func (s *storing) begin(e *Engine) {
	s.gateway, s.changed = e.gateway, newSignal()
	e.run(func() {
		for {
			select {
			case <-e.ctx.Done():
				return
			case <-s.changed:
				s.goOn(e)
			}
		}
	})
}

// Committed implements keep.Engine.
func (e *Engine) Committed(upTo store.Position, err error) {
	s := &e.store
	s.mu.Lock()
	s.ended = append(s.ended, commit{upTo, keep.CodeOf(err)})
	s.mu.Unlock()
	s.changed.send()
}

// add commits a message, and calls then when that has ended.
func (s *storing) add(p session.Pending[*request], then func(code sms.Code)) {
	s.mu.Lock()
	s.waiting = append(s.waiting, stored{s.gateway.Keeper.Put(p.Accepted, p.More), then})
	s.mu.Unlock()
	s.gateway.Keeper.Commit()
}

// goOn deals with the commits that have ended.
func (s *storing) goOn(e *Engine) {
	s.mu.Lock()
	commits := s.ended
	s.ended = nil
	s.mu.Unlock()
	for _, c := range commits {
		for _, w := range s.take(c.upTo) {
			w.then(c.code)
		}
		if e.gateway.GoesOn() {
			now := e.now()
			e.eachLane(func(l *lane) { l.do(now, func() {}) })
		}
	}
}

// take takes out the messages up to a position.
func (s *storing) take(upTo store.Position) []stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(s.waiting) && !s.waiting[n].at.After(upTo) {
		n++
	}
	taken := s.waiting[:n:n]
	s.waiting = append([]stored(nil), s.waiting[n:]...)
	return taken
}
