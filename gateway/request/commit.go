package request

import (
	"sync"

	"pmg/store"
)

// commits wakes requests when their commits have ended.
type commits struct {
	mu      sync.Mutex
	waiting []*commit // commits that wait, in the order of their positions
	failed  bool      // the last commit failed: the store may contain its changes until the next commit
}

// A commit is a pending commit. All requests that have written to its batch wait for it.
type commit struct {
	at    store.Position
	ended chan struct{} // closed when the commit has ended
	err   error         // result, set before ended is closed
}

// wait returns the pending commit of a position. It must be called while the batch is written, before the commit can end.
func (c *commits) wait(at store.Position) *commit {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.waiting); n > 0 && c.waiting[n-1].at == at {
		return c.waiting[n-1]
	}
	w := &commit{at: at, ended: make(chan struct{})}
	c.waiting = append(c.waiting, w)
	return w
}

// Committed records that a commit has ended. It is called on the committer's goroutine.
func (d *Requests) Committed(upTo store.Position, err error) {
	c := &d.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err != nil
	done := 0
	for ; done < len(c.waiting) && !c.waiting[done].at.After(upTo); done++ {
		c.waiting[done].err = err
		close(c.waiting[done].ended)
	}
	left := copy(c.waiting, c.waiting[done:])
	clear(c.waiting[left:])
	c.waiting = c.waiting[:left]
}

// haveFailed reports whether the store may contain changes of a failed commit.
func (c *commits) haveFailed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}
