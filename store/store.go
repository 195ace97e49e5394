package store

import (
	"errors"

	"pmg/store/journal"
)

// A Store keeps messages. It is safe for concurrent use, but callers must write batches one after
// the other, and commit batches one after the other.
type Store interface {
	Index
	// Durable reports whether committed data survives the end of the process. A store that is not
	// durable keeps only the messages that are put aside.
	Durable() bool
	// Commit carries out the operations of a batch in their order. It first writes the batch, unless
	// Write has done so. If it returns nil, the operations are safe. After an error the caller must not
	// rely on any of the operations, and the store may refuse every later batch.
	Commit(b *Batch) error
	// Stats returns the statistics of the store, without reading the whole store.
	Stats() Stats
	// Tidy is called about once a second. It records the lowest id of a message, so that a scan does
	// not pass over deleted messages. It shrinks the store if that is empty.
	Tidy()
	// Backup writes a consistent copy of the store to a directory, which must not exist.
	Backup(dir string) error
	// Close closes the store. No other method is called afterwards.
	Close() error
}

// A Writer is a Store that can write a batch before its commit, without waiting for the disk. If
// the process ends before the commit, the next start carries the batch out.
type Writer interface {
	// Write writes a batch. The caller then calls Commit with all written batches as one batch, in
	// their order.
	Write(b *Batch) error
}

// IsUndone reports whether an error of Commit means that nothing of the batch is stored, now or
// after the next start. After other errors, it is not known what is stored.
func IsUndone(err error) bool {
	return errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrTooLarge) || errors.Is(err, errAsideFull)
}

// An Index finds committed data. It can be rebuilt from a journal. Its methods return a limited
// number of copies at a time, and no iterators, so that an Index may be on another machine.
type Index interface {
	// LastID returns the highest message id that was ever stored.
	LastID() uint64
	// Get reads a message into e. It returns false if there is no message with this id.
	Get(id uint64, e *Entry) (bool, error)
	// Scan calls f for messages in the order of the ids, beginning with the first id that is not lower
	// than the argument from. It stops after limit messages. next is the id with which to continue, or
	// 0 if there are no more messages. f may use the entry only until f returns. Messages whose commit
	// has not returned yet may be among the passed ones.
	Scan(from uint64, limit int, f func(*Entry) error) (next uint64, err error)
	// Lookup returns the value of a note. If the key has notes of several days, it returns the one of
	// the latest day. ok is false if there is no note.
	Lookup(kind Kind, key []byte) (value []byte, ok bool, err error)
	// Notes calls f for at most limit notes of a kind, sorted by day and then by key. Notes whose keys
	// are lower than the argument from are left out. A key with notes of several days may be passed once
	// for each day. An error of f ends the call and is returned. f may use the octets only until f
	// returns.
	Notes(kind Kind, from []byte, limit int, f func(key, value []byte) error) error
	// Events calls f for each event with a number above after, in order, but for no more than limit
	// events. It returns the number of the last one, or after if there was none. Events whose commit
	// has not returned are left out. f may use the line only until f returns.
	Events(after uint64, limit int, f func(number uint64, line []byte) error) (last uint64, err error)
}

// An Entry is a message as it is stored.
type Entry struct {
	ID     uint64
	Record []byte // written by Batch.Put; decoded by DecodeHead and Decode
	State  []byte // last written by Batch.Keep, or nil; decoded by DecodeState
}

// Stats are the statistics of a store.
type Stats struct {
	Engine   string
	Octets   int64  // octets on disk
	Commits  int64  // number of batches committed since the store was opened
	Syncs    int64  // number of synced writes since the store was opened
	Messages int64  // messages put and not deleted, including those found when the store was opened
	Stalls   int64  // how often the store accepted no batches for a while
	Slow     int64  // number of slow operations on the disk
	Stalled  bool   // the store accepts no batches at present, because its background work is late
	Full     bool   // the disk was full, and the reserve of the store on the disk is in use
	OldKey   bool   // messages may exist that are encrypted with an earlier key
	Problem  string // the problem of the store; empty: there is none
}

// The errors that callers distinguish.
var (
	// ErrLocked says that another process has the store open.
	ErrLocked = errors.New("another process has it open")
	// ErrNewer says that a later version of the gateway has written the store.
	ErrNewer = errors.New("a later version of pmg has written it")
	// ErrDamaged says that the store cannot be read; the error names the file.
	ErrDamaged = errors.New("it is damaged")
)
