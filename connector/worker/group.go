package worker

import (
	"context"
	"sync"
)

// A Group is a set of goroutines that end together. It is safe for concurrent use.
type Group struct {
	context.Context // the context of the goroutines; it ends with the group

	cancel context.CancelFunc
	all    sync.WaitGroup
	mu     sync.Mutex
}

// NewGroup returns a Group without goroutines. The group ends when Close is called or ctx ends.
func NewGroup(ctx context.Context) *Group {
	g := &Group{}
	g.Context, g.cancel = context.WithCancel(ctx)
	return g
}

// Go runs f on a goroutine and returns true. If the group has ended, it returns false without
// running f. A message that is then not delivered is still in the store.
func (g *Group) Go(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Err() != nil {
		return false
	}
	g.all.Go(f)
	return true
}

// Close ends the group. It returns when all goroutines have ended. No goroutine can begin
// afterwards.
func (g *Group) Close() {
	g.mu.Lock()
	g.cancel()
	g.mu.Unlock()
	g.all.Wait()
}
