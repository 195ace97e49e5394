// Package journal keeps records in an order that survives a power cut. The user of the journal
// decides what a record means. The store's records are its batches.
//
// Package file keeps records on the disk of this machine, package nats on several machines, and
// package journaltest in memory for simulations. Package journaltest also tests what every
// implementation must do.
//
// # Start reading
//
// journal.go, then package file.
package journal

import (
	"errors"
	"fmt"
)

// A Seq is the place of a record. Places are above 0 and rise from record to record, by one or
// more.
type Seq uint64

// An ID identifies a record among the records of all nodes, so that a record that was appended
// twice is recognized.
type ID struct {
	Node   uint32
	Run    uint32 // run of the node: each start of the node has the next higher run
	Number uint64 // number of the record in its run; numbers rise
}

// MaxRecord is the maximum size of a record, in octets.
const MaxRecord = 32 << 20

// A Journal is safe for concurrent use. After an error of Append or Write the record may or may not
// be in the journal. After ErrFull or ErrTooLarge it is certainly not.
type Journal interface {
	// Append adds a record. When it returns, this record and all earlier records survive a power cut.
	Append(id ID, record []byte) (Seq, error)
	// Write adds a record that survives the end of the process. The record survives a power cut after a
	// later Append or Sync has returned.
	Write(id ID, record []byte) (Seq, error)
	// Sync returns when the records up to the place upTo survive a power cut.
	Sync(upTo Seq) error
	// Follow calls f with each record after the place after, in order, up to the last existing record.
	// f must not retain the record. If f returns an error, Follow ends and returns the error. Where
	// others can write to the same journal, f gets an empty ID for each place that has no record.
	Follow(after Seq, f func(Seq, ID, []byte) error) error
	// Trim allows the journal to drop the records up to the place upTo.
	Trim(upTo Seq) error
	Status() Status
	Close() error
}

// A Status describes the contents of a journal.
type Status struct {
	First  Seq   // all records from this place on are kept; 0: no record is kept
	Last   Seq   // place of the newest record; 0: there was no record
	Synced Seq   // records up to this place survive a power cut
	Octets int64 // octets on the disk
	Fault  error // why nothing is appended any more, until the next start
}

var (
	// ErrClosed is the error of all calls after Close.
	ErrClosed = errors.New("the journal is closed")
	// ErrTrimmed is the error of Follow if some of the requested records were dropped.
	ErrTrimmed = errors.New("the journal does not have these records any more")
	// ErrFull is the error of Append and Write if there is no room. A later call may succeed.
	ErrFull = errors.New("there is no room for the journal")
	// ErrTooLarge is the error for a record with more than MaxRecord octets.
	ErrTooLarge = fmt.Errorf("a record of the journal has at most %d octets", MaxRecord)
)
