package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Committer is the Log of a Store. It collects changes into a batch while the batch before is being
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
// WriteEnds writes the batches that there are without waiting for the disk. The next commit syncs them, and is of all of them.
//
// Batches have numbers that rise by one: these are its positions. Commits are made on a goroutine
// of the Committer, so that nothing else waits on a disk.
type Committer struct {
	store Store
	clock Clock
	done  []func(upTo Position, err error)
	pass  func(goroutine string)

	mu      sync.Mutex
	changed sync.Cond // signals a change of asked, closed or last
	full    []*Batch  // full batches, which are committed before the open batch, without a request
	open    *Batch
	spare   *Batch // storage for the next open batch; nil: there is none
	number  uint64 // number of the open batch
	last    uint64 // number of the last batch whose commit has ended
	failure error  // error of the last commit
	asked   bool   // a commit of the open batch is requested
	due     bool   // CommitSoon's timer is running
	syncs   uint64 // number of commits so far that a Sync has waited for
	soon    *time.Timer
	closed  bool
	over    bool         // nothing is committed any more
	stats   LogStats     // all fields except Since
	since   atomic.Int64 // when the commit under way began; 0: no commit is under way
	written written

	taken Batch         // batch that the goroutine is committing
	ended chan struct{} // closed when the goroutine has ended
}

// written holds the batches that were written to a Writer and will be committed next. The lock of
// the Committer guards the fields.
type written struct {
	by     Writer // the store as a Writer, set before the goroutine starts; nil: the store is not a Writer
	all    Batch  // the written batches whose commit has not begun
	upTo   uint64
	taken  bool // a batch is being written, and is in neither all nor full
	slow   bool // the last write took long
	later  bool // a goroutine is going to write the remaining batches
	others sync.WaitGroup

	writing sync.Mutex // held while a batch is written, so that batches are written in their order
}

// A Clock returns the time in nanoseconds, and by how many nanoseconds the wall clock is ahead of
// this time. Stores keep the times of the wall clock.
type Clock interface {
	Now() int64
	Ahead() int64
}

// NewCommitter starts a Committer. After each commit, the Committer's goroutine calls each function
// of done with the position of the batch. These functions must not wait.
func NewCommitter(s Store, clock Clock, done ...func(upTo Position, err error)) *Committer {
	c := &Committer{
		store: s, clock: clock, done: done, pass: func(string) {}, open: &Batch{}, spare: &Batch{}, number: 1,
		ended: make(chan struct{}),
	}
	c.written.by, _ = s.(Writer)
	c.changed.L = &c.mu
	c.soon = time.AfterFunc(math.MaxInt64, c.dueNow)
	go c.run()
	return c
}

// Pace sets the function pass. It is called before each batch is taken, and before a Sync that has
// waited returns. So a simulation controls the contents of batches and the order of goroutines.
func (c *Committer) Pace(pass func(goroutine string)) {
	c.mu.Lock()
	c.pass = pass
	c.mu.Unlock()
}

// Write implements Log.
func (c *Committer) Write(add func(*Batch)) Position {
	c.mu.Lock()
	defer c.mu.Unlock() // deferred, because add may panic
	c.stats.Locks++
	c.makeRoom()
	c.open.Ahead, c.open.position = c.clock.Ahead(), Position{c.number}
	add(c.open)
	return c.open.position
}

// Append implements Log.
func (c *Committer) Append(b *Batch) Position {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Locks++
	c.makeRoom()
	c.open.Append(b)
	return Position{c.number}
}

// makeRoom opens another batch if the open batch is full.
func (c *Committer) makeRoom() {
	if c.open.Size() < fullBatch {
		return
	}
	c.full = append(c.full, c.open)
	c.begin()
	c.asked, c.due = false, false
	c.changed.Broadcast()
}

// begin adds the open batch to full, and opens the next batch.
func (c *Committer) begin() {
	if c.open, c.spare = c.spare, nil; c.open == nil {
		c.open = &Batch{}
	}
	c.number++
}

// waits reports whether there are changes for a requested commit.
func (c *Committer) waits() bool {
	return c.open.Len() > 0 || c.written.all.Len() > 0 || c.written.taken
}

// Commit implements Log.
func (c *Committer) Commit() {
	c.mu.Lock()
	c.stats.Locks++
	c.ask()
	c.mu.Unlock()
}

// CommitSoon implements Log. The commit begins at most commitSoon later.
func (c *Committer) CommitSoon() {
	c.mu.Lock()
	c.stats.Locks++
	c.askSoon()
	c.mu.Unlock()
}

func (c *Committer) askSoon() {
	if !c.asked && !c.due && c.waits() {
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
	if !c.asked && c.waits() {
		c.asked = true
		c.changed.Broadcast()
	}
}

var errClosed = errors.New("cannot commit: the store is being closed")

// Sync implements Log.
func (c *Committer) Sync() error { return c.sync(c.ask) }

// SyncSoon implements Log.
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

// Stats implements Log.
func (c *Committer) Stats() LogStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Since = c.since.Load()
	s.Waiting, s.Octets = int64(c.open.Len()+c.written.all.Len()), int64(c.open.Octets()+c.written.all.Octets())
	for _, b := range c.full {
		s.Waiting, s.Octets = s.Waiting+int64(b.Len()), s.Octets+int64(b.Octets())
	}
	return s
}

// Since implements Log.
func (c *Committer) Since() int64 { return c.since.Load() }

// Close implements Log.
func (c *Committer) Close() {
	c.mu.Lock()
	c.closed = true
	c.soon.Stop()
	c.changed.Broadcast()
	c.mu.Unlock()
	<-c.ended
	c.written.others.Wait()
	c.written.writing.Lock() // a stage may still be writing batches, which no commit follows
	defer c.written.writing.Unlock()
}

const (
	// fullBatch is the Batch.Size from which a batch takes nothing more. The changes of one Write or
	// Append are smaller than the remaining 128 KiB up to maxBatch. The exception is a request with a
	// key, which is as large as its body. The changes that a failed commit leaves are added to the next
	// batch, whatever their size.
	fullBatch = maxBatch - 128<<10
	maxBatch  = 512 << 10
	// commitSoon is the longest time that CommitSoon delays a commit.
	commitSoon = 5 * time.Millisecond
	// largeBatch is the number of changes from which a batch counts as large.
	largeBatch = 128
	// restAfterLarge is for how long the next batch collects changes after a large batch. Larger
	// batches cost less CPU for each message, and a few changes alone do not wait. 3 ms cost a seventh
	// less CPU with 64 x 10 under way, and halve what 16 x 10 reach.
	restAfterLarge = time.Millisecond
	// restAfterFailure is the pause after a failed commit. Without the pause, the remaining changes
	// would be tried again and again, because every failure makes the stages request a commit.
	restAfterFailure = 100 * time.Millisecond
)

func (c *Committer) run() {
	defer c.end()
	for {
		last, any := c.next()
		if !any {
			return
		}
		upTo, changes, err := c.commit()
		for _, done := range c.done {
			done(Position{upTo}, err)
		}
		if last && err != nil {
			return // the remaining changes would fail again and again
		}
		switch {
		case last || c.isBehind():
		case err != nil:
			time.Sleep(restAfterFailure)
		case changes >= largeBatch:
			time.Sleep(restAfterLarge)
		}
	}
}

// end records that the goroutine has ended.
func (c *Committer) end() {
	c.mu.Lock()
	c.over = true
	c.changed.Broadcast()
	c.mu.Unlock()
	close(c.ended)
}

// isBehind reports whether a full batch waits for its commit.
func (c *Committer) isBehind() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.full) > 0
}

// next waits until a batch is full or a commit is requested. last is true if the Committer is
// closed. any is true if there is something to commit.
func (c *Committer) next() (last, any bool) {
	c.mu.Lock()
	for !c.asked && !c.closed && len(c.full) == 0 {
		c.changed.Wait()
	}
	pass := c.pass
	c.mu.Unlock()
	pass("committer")
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed, !c.closed || len(c.full) > 0 || c.waits()
}

// commit writes the oldest batch that is not written, and commits all written batches. upTo is the
// number of the last committed batch.
func (c *Committer) commit() (upTo uint64, changes int, err error) {
	c.written.writing.Lock()
	c.mu.Lock()
	c.since.Store(c.clock.Now())
	b, number := c.oldest()
	c.answer()
	c.mu.Unlock()
	if b != nil && c.written.by != nil {
		err = c.written.by.Write(b)
	}
	c.mu.Lock()
	switch {
	case b == nil:
	case err == nil:
		c.addWritten(b, number)
	case c.written.all.Len() > 0: // the written batches, which must not fail with this one
		c.full, err = slices.Insert(c.full, 0, b), nil
	default:
		c.taken, *b = *b, c.taken
		c.written.upTo = number
	}
	if err == nil {
		c.taken, c.written.all = c.written.all, c.taken
		c.answer()
	}
	upTo, changes = c.written.upTo, c.taken.Len()
	c.mu.Unlock()
	if err == nil {
		c.written.writing.Unlock()
		err = c.store.Commit(&c.taken)
		if err == nil {
			c.committed(upTo, nil)
			return upTo, changes, nil
		}
		c.written.writing.Lock() // the changes of a failed commit are written before the next batch
	}
	c.committed(upTo, err)
	c.written.writing.Unlock()
	return upTo, changes, err
}

// answer records that the commit under way fulfils the request, if no other batch waits.
func (c *Committer) answer() {
	if c.open.Len() == 0 {
		c.asked, c.due = false, false
	}
}

// oldest takes and returns the oldest batch that is not written, and its number. b is nil if there
// is none.
func (c *Committer) oldest() (b *Batch, number uint64) {
	number = c.number - uint64(len(c.full))
	switch {
	case len(c.full) > 0:
		b = c.full[0]
		c.full = slices.Delete(c.full, 0, 1)
	case c.open.Len() > 0:
		b = c.open
		c.begin()
	}
	return b, number
}

// addWritten adds a batch to the written batches.
func (c *Committer) addWritten(b *Batch, number uint64) {
	c.written.upTo = number
	if c.written.all.Len() == 0 {
		c.written.all, *b = *b, c.written.all
	} else {
		c.written.all.Append(b)
	}
	b.Reset()
	c.spare = b
}

// committed counts a commit. The changes of a failed commit are added to the next batch, except
// messages of peers, which are refused.
func (c *Committer) committed(upTo uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.failure = upTo, err
	c.changed.Broadcast()
	took := c.clock.Now() - c.since.Swap(0)
	c.stats.Took += took
	c.stats.Longest = max(c.stats.Longest, took)
	if err == nil {
		c.stats.Commits++
		c.stats.Changes += int64(c.taken.Len())
	} else {
		c.stats.Failed++
		next := &c.open
		if len(c.full) > 0 {
			next = &c.full[0]
		}
		rest := &Batch{}
		rest.addUndone(&c.taken)
		rest.Append(&c.written.all)
		rest.Append(*next)
		rest.at = 0
		*next = rest
		c.written.all.Reset()
	}
	c.taken.Reset()
}

const (
	// slowWrite is the duration of a slow write. After a slow write, the next write is made on a
	// goroutine for which no stage waits. A write is one system call.
	slowWrite = int64(500 * time.Microsecond)
	// hungCommit is how long a commit may be under way until writes are made on such a goroutine too.
	hungCommit = int64(50 * time.Millisecond)
)

// WriteEnds implements Log.
func (c *Committer) WriteEnds() {
	c.mu.Lock()
	c.stats.Locks++
	ends := c.written.by != nil && c.open.ends && !c.closed
	since := c.since.Load()
	late := c.written.slow || since != 0 && c.clock.Now()-since > hungCommit
	pass := c.pass
	switch {
	case !ends || c.written.later:
		c.mu.Unlock()
	case !late && c.written.writing.TryLock():
		c.mu.Unlock()
		c.writeAll()
	default:
		c.written.later = true
		c.written.others.Go(func() {
			pass("noter")
			c.written.writing.Lock()
			c.writeAll()
		})
		c.mu.Unlock()
	}
}

// writeAll writes all batches that are not written. The caller holds written.writing, which
// writeAll unlocks.
func (c *Committer) writeAll() {
	defer c.written.writing.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written.later = false
	for n := len(c.full) + 1; n > 0 && !c.over; n-- {
		b, number := c.oldest()
		if b == nil {
			return
		}
		began := c.clock.Now()
		c.written.taken = true
		c.mu.Unlock()
		err := c.written.by.Write(b)
		c.mu.Lock()
		c.written.taken = false
		c.written.slow = c.clock.Now()-began > slowWrite
		if err != nil { // a commit will return the error
			c.full = slices.Insert(c.full, 0, b)
			c.changed.Broadcast()
			return
		}
		c.addWritten(b, number)
	}
}
