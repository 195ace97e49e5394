package gateway

import (
	"context"
	"sync"
)

// turns have operations about the same message carried out in the order in which they came: a
// message that is being replaced is in no lane for a moment, where another would not find it. It is
// safe for concurrent use.
type turns struct {
	mu   sync.Mutex
	last map[uint64]*turn // by the message's id as the client knows it
}

// A turn is that of one operation.
type turn struct {
	id     uint64
	before <-chan struct{} // closed when the operation before it has ended; nil: there is none
	over   chan struct{}
}

// take returns the next turn at a message. It must be ended. An operation without an id has its
// turn at once.
func (t *turns) take(id uint64) *turn {
	n := &turn{id: id, over: make(chan struct{})}
	if id == 0 {
		return n
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[uint64]*turn{}
	}
	if last := t.last[id]; last != nil {
		n.before = last.over
	}
	t.last[id] = n
	return n
}

func (t *turns) end(n *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last[n.id] == n {
		delete(t.last, n.id)
	}
	close(n.over)
}

// wait returns when it is the operation's turn, or with an error when ctx is done.
func (n *turn) wait(ctx context.Context) error {
	if n.before == nil {
		return nil
	}
	select {
	case <-n.before:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
