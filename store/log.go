package store

import "sync/atomic"

// A Log collects changes and commits them. It is safe for concurrent use and has its own lock.
// After each commit it calls a function of its creator with the position up to which changes are
// committed.
type Log interface {
	// Write adds changes to the next commit, and returns the position of that commit. add must not wait
	// or call the Log. The changes of one call are committed together, after Commit was called or when
	// many changes are waiting.
	Write(add func(*Batch)) Position
	// Append adds the changes of a batch, as Write does. They are collected outside of the log's lock.
	// The batch can be reused afterwards.
	Append(b *Batch) Position
	// WriteEnds writes the changes that were added so far, if they end messages. So these messages do
	// not reappear if the process is killed before the next commit. It does not wait for the disk.
	WriteEnds()
	// Commit requests a commit of all changes written so far. It does not wait for the commit.
	Commit()
	// CommitSoon requests a commit that begins a little later, so that new messages can join. It is for
	// changes that nobody waits for, such as deletions. In a commit of their own these would delay the
	// next message.
	CommitSoon()
	// Sync commits all changes written so far. It returns after that commit, and after a commit that is
	// already under way. It returns an error if the changes will not be committed any more.
	Sync() error
	// SyncSoon commits as Sync does, but with a short delay, so that the changes of other callers can
	// join the commit.
	SyncSoon() error
	// Since returns when the commit under way began, by the clock. It returns 0 if no commit is under
	// way. It takes no lock.
	Since() int64
	// Stats returns the counters of the log.
	Stats() LogStats
	// Close commits all changes written so far, and ends the log. Changes that are written later, or
	// that cannot be committed, are lost.
	Close()
}

// LogStats are the counters of a Log.
type LogStats struct {
	Commits int64 // batches committed
	Failed  int64 // batches whose commit failed
	Changes int64 // changes in the batches that were committed
	Waiting int64 // changes that wait for the next batch
	Octets  int64 // octets of the waiting changes
	Since   int64 // when the commit under way began, by the clock; 0: no commit is under way
	Took    int64 // total duration of all commits, in nanoseconds
	Longest int64 // duration of the longest commit, in nanoseconds
	Locks   int64 // how often the log's lock was taken for changes
}

// A Position is the place of a batch in the sequence of commits. The zero Position is before all
// others: changes with this position wait for no commit.
type Position struct{ number uint64 }

// IsZero reports whether this is the zero Position.
func (p Position) IsZero() bool { return p.number == 0 }

// After reports whether the position is after another one.
func (p Position) After(other Position) bool { return p.number > other.number }

// Token returns the position as a number, for callers that only store it. The token of the zero
// Position is 0.
func (p Position) Token() uint64 { return p.number }

// PositionOf returns the position with this token.
func PositionOf(token uint64) Position { return Position{token} }

// An AtomicPosition is a Position that goroutines may read while another goroutine sets it.
type AtomicPosition struct{ number atomic.Uint64 }

// Load returns the position.
func (a *AtomicPosition) Load() Position { return Position{a.number.Load()} }

// Store sets the position.
func (a *AtomicPosition) Store(p Position) { a.number.Store(p.number) }

// Swap sets the position, and returns the previous one.
func (a *AtomicPosition) Swap(p Position) Position { return Position{a.number.Swap(p.number)} }
