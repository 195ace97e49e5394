// Package journal keeps records in an order that survives a power cut. What a record means is its user's: those of the store are
// its batches.
//
// Package file keeps them on the disk of this machine, nats on several machines, journaltest in memory for
// simulations. What every implementation must do is tested by journaltest.
//
// # Start reading
//
// journal.go, then package file.
package journal

import (
	"errors"
	"fmt"
)

// A Seq is the place of a record. Places are above 0 and rise from record to record, not always by one.
type Seq uint64

// An ID is different for all records of all nodes, so that one that was appended twice is known as the same.
type ID struct {
	Node   uint32
	Run    uint32 // of the node: each start has the next one
	Number uint64 // of the record in that run, rising
}

// MaxRecord is how many octets a record has at most.
const MaxRecord = 32 << 20

// A Journal is safe for concurrent use. After an error of Append or Write it is not known whether the record is there, unless the
// error is ErrFull or ErrTooLarge: then it is not.
type Journal interface {
	// Append adds a record. When it returns, that one and all before survive a power cut.
	Append(id ID, record []byte) (Seq, error)
	// Write adds a record that survives the end of the process. It survives a power cut when a later Append or Sync has returned.
	Write(id ID, record []byte) (Seq, error)
	// Sync returns when the records up to a place survive a power cut.
	Sync(upTo Seq) error
	// Follow calls f with each record behind after, in order, up to the last one there is. f must not keep the record. An
	// error of f ends it and is returned.
	Follow(after Seq, f func(Seq, ID, []byte) error) error
	// Trim allows the records up to a place to be dropped.
	Trim(upTo Seq) error
	Status() Status
	Close() error
}

// A Status says how much a journal has.
type Status struct {
	First  Seq   // from which on all records are kept; 0: none is
	Last   Seq   // of the newest record, 0 if there was none
	Synced Seq   // up to which all survive a power cut
	Octets int64 // on the disk
	Fault  error // why nothing is appended any more, until the next start
}

var (
	// ErrClosed is the error of everything that is done behind Close.
	ErrClosed = errors.New("the journal is closed")
	// ErrTrimmed is that of Follow if some of the records that are asked for were dropped.
	ErrTrimmed = errors.New("the journal does not have these records any more")
	// ErrFull is that of Append and Write if there is no room. There may be, later.
	ErrFull = errors.New("there is no room for the journal")
	// ErrTooLarge is that of a record with more than MaxRecord octets.
	ErrTooLarge = fmt.Errorf("a record of the journal has at most %d octets", MaxRecord)
)
