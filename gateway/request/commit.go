package request

import (
	"sync"

	"pmg/store"
)

// commits wakes requests when the commits that they wait for have ended.
type commits struct {
	mu      sync.Mutex
	waiting []waiting // in the order of their positions
	failed  bool      // the last one has failed: what it had may be in the store until the next
}

type waiting struct {
	at    store.Position
	ended chan error
}

// wait returns a channel that receives the outcome of the commit of a position. It is called while that is written.
func (c *commits) wait(at store.Position) <-chan error {
	w := waiting{at, make(chan error, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, w)
	return w.ended
}

// Committed notes that a commit has ended. It is called on the committer's goroutine.
func (d *Requests) Committed(upTo store.Position, err error) {
	c := &d.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err != nil
	done := 0
	for ; done < len(c.waiting) && !c.waiting[done].at.After(upTo); done++ {
		c.waiting[done].ended <- err
	}
	left := copy(c.waiting, c.waiting[done:])
	clear(c.waiting[left:])
	c.waiting = c.waiting[:left]
}

// haveFailed reports whether the content of a commit that has failed may be in the store.
func (c *commits) haveFailed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}
