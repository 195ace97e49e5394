package operate

import (
	"context"
	"sync"
)

// orders run the operations about a message in order of arrival. A message that is being replaced is in no lane for a moment,
// and another operation would not find it. It is safe for concurrent use.
type orders struct {
	mu   sync.Mutex
	last map[uint64]*order // latest order, by the id by which the client knows the message
}

// An order is the place of an operation in the queue of a message.
type order struct {
	id     uint64
	before <-chan struct{} // closed when the previous operation has ended; nil: there is none
	over   chan struct{}
}

// take returns the next place at a message. The caller must end the order. An operation without an
// id does not wait for others.
func (t *orders) take(id uint64) *order {
	n := &order{id: id, over: make(chan struct{})}
	if id == 0 {
		return n
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[uint64]*order{}
	}
	if last := t.last[id]; last != nil {
		n.before = last.over
	}
	t.last[id] = n
	return n
}

func (t *orders) end(n *order) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last[n.id] == n {
		delete(t.last, n.id)
	}
	close(n.over)
}

// wait returns when the previous operation has ended. It returns an error if ctx ends first.
func (n *order) wait(ctx context.Context) error {
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
