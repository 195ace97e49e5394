package store

import "sync/atomic"

// A Log is where changes are written. It is safe for concurrent use, and its lock is its own. Its
// maker is called after each commit with the position up to which that has committed.
type Log interface {
	// Write adds changes to what is committed next, and returns the position of that. add may not
	// write, nor wait. What it adds is committed together, when Commit has been called or much has been written.
	Write(add func(*Batch)) Position
	// Append does the same with changes that were collected outside of the log's lock. The batch can be used again.
	Append(b *Batch) Position
	// WriteEnds writes what was added so far to the disk if messages have ended with it, so that none of them comes back when the
	// process is killed before the next commit. It does not wait for the disk.
	WriteEnds()
	// Commit asks for a commit of what was written, and does not wait for it.
	Commit()
	// CommitSoon asks for one that new messages may still join. It is for changes that nobody waits
	// for, such as deletes: in a commit of their own they would delay the next message.
	CommitSoon()
	// Sync commits what was written, and returns when that has ended, and the commit that was under
	// way as well. It returns an error if that does not happen any more.
	Sync() error
	// SyncSoon does the same with a commit that other changes may still join, for callers that may
	// be many.
	SyncSoon() error
	// Since returns when the commit under way began, by the clock; 0: there is none. It takes no lock.
	Since() int64
	// Stats returns what the log has counted.
	Stats() LogStats
	// Close commits what was written, and ends the log. What is written afterwards is lost, and
	// so is what cannot be committed.
	Close()
}

// LogStats are what a Journal has counted.
type LogStats struct {
	Commits int64 // batches committed
	Failed  int64 // batches whose commit failed
	Changes int64 // changes in the batches that were committed
	Waiting int64 // changes that wait for the next batch
	Octets  int64 // octets of those
	Since   int64 // when the commit under way began, by the clock; 0: there is none
	Took    int64 // nanoseconds that all commits took together
	Longest int64 // nanoseconds that the longest took
	Locks   int64 // how often its lock was taken for changes
}

// A Position is a place in what is committed: that of a batch. The zero Position is in front of all, so
// that what has it waits for no commit.
type Position struct{ number uint64 }

// IsZero reports whether the position is in front of all.
func (p Position) IsZero() bool { return p.number == 0 }

// After reports whether the position is behind another.
func (p Position) After(other Position) bool { return p.number > other.number }

// Token returns the position as a number, for those who keep it and compare it with no other. The
// number of the zero Position is 0.
func (p Position) Token() uint64 { return p.number }

// PositionOf returns the position whose token this is.
func PositionOf(token uint64) Position { return Position{token} }

// An AtomicPosition is a Position that goroutines read while another sets it.
type AtomicPosition struct{ number atomic.Uint64 }

// Load returns the position.
func (a *AtomicPosition) Load() Position { return Position{a.number.Load()} }

// Store sets the position.
func (a *AtomicPosition) Store(p Position) { a.number.Store(p.number) }

// Swap sets the position, and returns what it was.
func (a *AtomicPosition) Swap(p Position) Position { return Position{a.number.Swap(p.number)} }
