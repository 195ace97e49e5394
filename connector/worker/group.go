package worker

import (
	"context"
	"sync"
)

// A Group is goroutines that end together. It is safe for concurrent use.
type Group struct {
	context.Context // of what they do; it ends with the group

	cancel context.CancelFunc
	all    sync.WaitGroup
	mu     sync.Mutex
}

// NewGroup returns a Group without goroutines, which ends with Close or with a context.
func NewGroup(ctx context.Context) *Group {
	g := &Group{}
	g.Context, g.cancel = context.WithCancel(ctx)
	return g
}

// Go runs f on a goroutine and reports true, unless the group has ended. A message that is not delivered then is in the store.
func (g *Group) Go(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Err() != nil {
		return false
	}
	g.all.Go(f)
	return true
}

// Close ends the group, and returns when its goroutines have ended. None begins any more.
func (g *Group) Close() {
	g.mu.Lock()
	g.cancel()
	g.mu.Unlock()
	g.all.Wait()
}
