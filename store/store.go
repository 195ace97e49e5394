package store

import (
	"errors"

	"pmg/store/journal"
)

// A Store keeps messages. It is safe for concurrent use, except that batches are
// written one after the other, and committed one after the other.
type Store interface {
	Index
	// Durable reports whether what is committed is there after the process has ended.
	// A store that is not durable keeps only the messages that were put aside.
	Durable() bool
	// Commit carries out the operations of a batch in their order, and writes it if that was not done. When it returns nil
	// they are safe. After an error none of them may be taken for done, and the store
	// may refuse every later batch.
	Commit(b *Batch) error
	// Stats returns what is known of the store without reading all of it.
	Stats() Stats
	// Tidy is called about once a second. It records where the messages begin, so that a scan does
	// not pass over those that are gone. It shrinks the store when it is empty.
	Tidy()
	// Backup writes a consistent copy of the store into a directory that does not exist.
	Backup(dir string) error
	// Close closes the store. No other method is called afterwards.
	Close() error
}

// A Writer is a Store that takes a batch before its commit, without waiting for the disk. A start after the end of the process
// carries it out.
type Writer interface {
	// Write writes a batch. Commit follows, with all batches that were written as one, in their order.
	Write(b *Batch) error
}

// IsUndone reports whether an error of Commit says that nothing of the batch is there, nor will be after the next start. After
// other errors that is not known.
func IsUndone(err error) bool {
	return errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrTooLarge) || errors.Is(err, errAsideFull)
}

// An Index finds what was committed. It can be made anew of what a journal has. Its methods return
// copies a part at a time, and no iterator, so that it may be on another machine.
type Index interface {
	// LastID returns the highest id of all messages that were ever stored.
	LastID() uint64
	// Get reads a message. It reports false if there is none with that id.
	Get(id uint64, e *Entry) (bool, error)
	// Scan passes messages to f in the order of their ids, from the first id that is
	// not below from. It stops behind limit messages, and returns the id to go on with,
	// which is 0 when there are no more. The entry is f's until it returns. Messages of a
	// batch whose commit has not returned yet may be among them.
	Scan(from uint64, limit int, f func(*Entry) error) (next uint64, err error)
	// Lookup returns the value of a note, that of the latest day if there are several. It reports false
	// if there is none.
	Lookup(kind Kind, key []byte) (value []byte, ok bool, err error)
	// Notes passes up to limit notes of a kind to f, by day and in the order of the keys in a day,
	// without those whose keys are below from. A key that has notes of several days may come once for
	// each. It stops at an error of f, which it returns. The octets are f's until it returns.
	Notes(kind Kind, from []byte, limit int, f func(key, value []byte) error) error
	// Events passes up to limit events with numbers above after to f, in their order,
	// and returns the last number, which is after if there are none. Only events whose
	// commit has returned are among them. The line is f's until it returns.
	Events(after uint64, limit int, f func(number uint64, line []byte) error) (last uint64, err error)
}

// An Entry is a message as it stands in the store.
type Entry struct {
	ID     uint64
	Record []byte // what Batch.Put wrote; DecodeHead and Decode read it
	State  []byte // what Batch.Keep wrote last, nil if it never did; DecodeState reads it
}

// Stats is what is known of a store.
type Stats struct {
	Engine   string
	Octets   int64  // on disk
	Commits  int64  // batches committed since it was opened
	Syncs    int64  // synced writes since then
	Messages int64  // put and not deleted, those found at the opening among them
	Stalls   int64  // how often the store took no batch for a while
	Slow     int64  // operations on the disk that took long
	Stalled  bool   // the store takes no batch at present, because its background work does not follow
	Full     bool   // the disk was full, and the reserve that the store keeps on it is in use
	OldKey   bool   // messages may wait that are encrypted with the key of before
	Problem  string // what is wrong with the store; empty if nothing is
}

// Errors that callers distinguish.
var (
	// ErrLocked says that another process has the store open.
	ErrLocked = errors.New("another process has it open")
	// ErrNewer says that a later version of the gateway has written the store.
	ErrNewer = errors.New("a later version of pmg has written it")
	// ErrDamaged says that the store cannot be read; the error names the file.
	ErrDamaged = errors.New("it is damaged")
)
