package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// A Committer is the Journal of a Store. It collects changes into a batch while the batch before is being
// committed, so that one synced write serves all that came meanwhile, and a lone
// change waits for nothing. It is safe for concurrent use.
//
//	Write ──► open batch ──► committing ──► done(position, nil)
//	              ▲               │ fails
//	              └── the rest ◄──┴───────► done(position, err): its messages were not stored
//
// A batch that is full is committed without being asked for, and the open one comes behind it: what ends a million
// messages is committed in pieces. What one Write or Append adds is never divided.
//
// Batches have numbers that rise by one: these are its positions. Commits are made on a goroutine
// of the Committer, so that nothing else waits on a disk.
type Committer struct {
	store Store
	clock Clock
	done  []func(upTo Position, err error)
	pass  func(goroutine string)

	mu      sync.Mutex
	changed sync.Cond // asked, closed or last has
	full    []*Batch  // those that are committed before the open one, whoever asks for that
	open    *Batch
	spare   *Batch // for the batch after the open one; nil: there is none
	number  uint64 // of the open batch
	last    uint64 // number of the last batch whose commit has ended
	failure error  // of that commit
	asked   bool   // a commit of the open batch is asked for
	due     bool   // soon asks for it
	syncs   uint64 // so far, that have waited
	soon    *time.Timer
	closed  bool
	over    bool // nothing is committed any more
	stats   JournalStats

	ended chan struct{} // closed when the goroutine has ended
}

// A Clock returns the time in nanoseconds, and how far the wall clock, by which a store keeps
// times, is ahead of that.
type Clock interface {
	Now() int64
	Ahead() int64
}

// NewCommitter starts a Committer. Each of done is called after a commit, with the position of its
// batch, on the Committer's goroutine, and must not wait.
func NewCommitter(s Store, clock Clock, done ...func(upTo Position, err error)) *Committer {
	c := &Committer{
		store: s, clock: clock, done: done, pass: func(string) {}, open: &Batch{}, spare: &Batch{}, number: 1,
		ended: make(chan struct{}),
	}
	c.changed.L = &c.mu
	c.soon = time.AfterFunc(math.MaxInt64, c.dueNow)
	go c.run()
	return c
}

// Pace sets pass, which is called before each batch is taken, and before each Sync that has waited
// returns. So a simulation chooses what is in a batch, and who goes on first.
func (c *Committer) Pace(pass func(goroutine string)) {
	c.mu.Lock()
	c.pass = pass
	c.mu.Unlock()
}

// Write implements Journal.
func (c *Committer) Write(add func(*Batch)) Position {
	c.mu.Lock()
	defer c.mu.Unlock() // add may panic
	c.stats.Locks++
	c.makeRoom()
	c.open.Ahead, c.open.position = c.clock.Ahead(), Position{c.number}
	add(c.open)
	return c.open.position
}

// Append implements Journal.
func (c *Committer) Append(b *Batch) Position {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Locks++
	c.makeRoom()
	c.open.Append(b)
	return Position{c.number}
}

// makeRoom begins another batch if the open one is full.
func (c *Committer) makeRoom() {
	if c.open.Size() < fullBatch {
		return
	}
	c.full = append(c.full, c.open)
	c.begin()
	c.changed.Broadcast()
}

// begin begins the batch behind the open one.
func (c *Committer) begin() {
	if c.open, c.spare = c.spare, nil; c.open == nil {
		c.open = &Batch{}
	}
	c.number++
	c.asked, c.due = false, false
}

// Commit implements Journal.
func (c *Committer) Commit() {
	c.mu.Lock()
	c.stats.Locks++
	c.ask()
	c.mu.Unlock()
}

// CommitSoon implements Journal: the commit comes up to commitSoon later.
func (c *Committer) CommitSoon() {
	c.mu.Lock()
	c.stats.Locks++
	c.askSoon()
	c.mu.Unlock()
}

func (c *Committer) askSoon() {
	if !c.asked && !c.due && c.open.Len() > 0 {
		c.due = true
		c.soon.Reset(commitSoon)
	}
}

func (c *Committer) dueNow() {
	c.mu.Lock()
	if c.due {
		c.due = false
		c.ask()
	}
	c.mu.Unlock()
}

func (c *Committer) ask() {
	if !c.asked && c.open.Len() > 0 {
		c.asked = true
		c.changed.Broadcast()
	}
}

var errClosed = errors.New("cannot commit: the store is being closed")

// Sync implements Journal.
func (c *Committer) Sync() error { return c.sync(c.ask) }

// SyncSoon implements Journal.
func (c *Committer) SyncSoon() error { return c.sync(c.askSoon) }

func (c *Committer) sync(ask func()) error {
	c.mu.Lock()
	number := c.number
	if c.open.Len() == 0 {
		number--
	}
	if c.last >= number {
		c.mu.Unlock()
		return nil
	}
	ask()
	c.syncs++
	pass, goroutine := c.pass, fmt.Sprintf("sync %d", c.syncs)
	for c.last < number && !c.over {
		c.changed.Wait()
	}
	err := c.failure
	if c.last < number {
		err = errClosed
	}
	c.mu.Unlock()
	pass(goroutine)
	return err
}

// Stats implements Journal.
func (c *Committer) Stats() JournalStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Waiting, s.Octets = int64(c.open.Len()), int64(c.open.Octets())
	for _, b := range c.full {
		s.Waiting, s.Octets = s.Waiting+int64(b.Len()), s.Octets+int64(b.Octets())
	}
	return s
}

// Close implements Journal.
func (c *Committer) Close() {
	c.mu.Lock()
	c.closed = true
	c.soon.Stop()
	c.changed.Broadcast()
	c.mu.Unlock()
	<-c.ended
}

const (
	// fullBatch is the Batch.Size from which a batch takes nothing more. What one Write or Append adds has less than the
	// 128 KiB up to maxBatch, but for a request with a key, which has the size of its body. What a failed commit has left
	// is added to the next batch, whatever its size.
	fullBatch = maxBatch - 128<<10
	maxBatch  = 512 << 10
	// commitSoon is the longest time that CommitSoon delays a commit.
	commitSoon = 5 * time.Millisecond
	// largeBatch is how many changes a batch has under load.
	largeBatch = 128
	// restAfterLarge is how long the next batch collects then: larger batches cost less CPU
	// for each message, and few changes wait for nothing. 3 ms cost a seventh less CPU with 64 x 10 under way, and halve
	// what 16 x 10 reach.
	restAfterLarge = time.Millisecond
	// restAfterFailure keeps what a failed commit has left from being tried again and again,
	// because every failure makes the stages ask for a commit.
	restAfterFailure = 100 * time.Millisecond
)

func (c *Committer) run() {
	defer c.end()
	for {
		b, number, last := c.next()
		if b == nil {
			return
		}
		large := b.Len() >= largeBatch
		err := c.store.Commit(b)
		c.committed(b, number, err)
		for _, done := range c.done {
			done(Position{number}, err)
		}
		if last && err != nil {
			return // what is left would fail again and again
		}
		switch {
		case last || c.isBehind():
		case err != nil:
			time.Sleep(restAfterFailure)
		case large:
			time.Sleep(restAfterLarge)
		}
	}
}

// end notes that the goroutine has ended.
func (c *Committer) end() {
	c.mu.Lock()
	c.over = true
	c.changed.Broadcast()
	c.mu.Unlock()
	close(c.ended)
}

// isBehind reports whether a batch waits that takes nothing more.
func (c *Committer) isBehind() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.full) > 0
}

// next waits until a batch is full or its commit was asked for and returns the batch, nil when there is none
// and the Committer is closed. last reports whether it is closed.
func (c *Committer) next() (b *Batch, number uint64, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.asked && !c.closed && len(c.full) == 0 {
		c.changed.Wait()
	}
	pass := c.pass
	c.mu.Unlock()
	pass("committer")
	c.mu.Lock()
	number = c.number - uint64(len(c.full))
	switch {
	case len(c.full) > 0:
		b = c.full[0]
		c.full = slices.Delete(c.full, 0, 1)
	case c.open.Len() > 0:
		b = c.open
		c.begin()
	default:
		return nil, 0, true
	}
	c.stats.Since = c.clock.Now()
	return b, number, c.closed
}

// committed counts a commit. The changes of a batch that failed ride in the next one, but for its
// messages: their senders are refused.
func (c *Committer) committed(b *Batch, number uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.failure = number, err
	c.changed.Broadcast()
	took := c.clock.Now() - c.stats.Since
	c.stats.Since = 0
	c.stats.Took += took
	c.stats.Longest = max(c.stats.Longest, took)
	if err == nil {
		c.stats.Commits++
		c.stats.Changes += int64(b.Len())
	} else {
		c.stats.Failed++
		next := &c.open
		if len(c.full) > 0 {
			next = &c.full[0]
		}
		rest := &Batch{}
		rest.addUndone(b)
		rest.Append(*next)
		*next = rest
	}
	b.Reset()
	c.spare = b
}
