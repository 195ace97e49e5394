package store

import (
	"encoding/binary"
	"errors"
	"math"

	"pmg/store/journal"
	"pmg/store/notes"
)

// formatVersion is the version of the layout below.
//
// Each key of the pebble engine begins with a letter. Numbers are big-endian, so that keys are in
// the order of the numbers. Changes that are newer than the marks are only in the journal. The layout:
//
//	f                             formatVersion, in 4 octets
//	w                             marks
//	m <id>                        record of a message, written once
//	s <id>                        its state, if Keep has stored one
//	d, x                          a note (package notes)
//	e <number>                    an event
//
// Format 1 had no journal, but pebble's log. Format 2 had no file that names the newest segment of the journal, and no texts in
// ISO 8859-5 or -8. Format 3 had no tables of notes. A program that does not know these must not write to a store that has them.
const formatVersion = 4

// leastRepaired is the oldest format that Repair can read.
const leastRepaired = 2

const (
	keyFormat  = 'f'
	keyMarks   = 'w'
	keyMessage = 'm'
	keyState   = 's'
	keyNote    = notes.Plain
	keyEvent   = 'e'
	keyTimed   = notes.Timed
)

// noID is higher than the ids of all messages.
const noID = uint64(math.MaxUint64)

// appendKey appends a key: the letter of a kind and a number.
func appendKey(b []byte, kind byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append(b, kind), number)
}

// numberOf returns the number in the key of a message, a state or an event. It returns false if the
// key has no number.
func numberOf(key []byte) (uint64, bool) {
	if len(key) != 9 {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[1:]), true
}

// Forever is the day of notes that are never removed.
const Forever = notes.Forever

// appendNote appends the kind and the key of a note, which follow the day in the note's key on
// disk.
func appendNote(b []byte, kind Kind, key []byte) []byte {
	return append(append(append(b, kind...), 0), key...)
}

// marks are the store's facts about all messages together, after the record of the journal at the
// place applied. Each batch of pebble writes the marks too.
type marks struct {
	low      uint64      // no message has a lower id
	last     uint64      // the highest id that was ever put
	messages int64       // number of messages that were put and not deleted
	applied  journal.Seq // place of the last record that was carried out
	moved    journal.Seq // pebble has all changes of the records up to this place; a start replays the later records
	movedID  uint64      // pebble has the messages up to this id; messages with higher ids are young
	noted    journal.Seq // the tables of notes have the notes of the records up to this place; a start replays the later ones
}

const (
	marksLen       = 56
	marksOfFormat3 = 48 // without noted
	marksOfFormat1 = 24 // only the first three fields
)

// has reports whether pebble has the change of an operation, as far as it is not in a batch of pebble.
func (m marks) has(b *Batch, o op) bool {
	if isNote := o.kind == opNote || o.kind == opErase || o.kind == opForgetBefore; isNote {
		return b.at <= m.noted
	}
	return b.at <= m.moved
}

// replayed returns the place behind which a start replays the records of the journal.
func (m marks) replayed() journal.Seq { return min(m.moved, m.noted) }

func (m marks) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, m.low)
	b = binary.BigEndian.AppendUint64(b, m.last)
	b = binary.BigEndian.AppendUint64(b, uint64(m.messages))
	b = binary.BigEndian.AppendUint64(b, uint64(m.applied))
	b = binary.BigEndian.AppendUint64(b, uint64(m.moved))
	b = binary.BigEndian.AppendUint64(b, m.movedID)
	return binary.BigEndian.AppendUint64(b, uint64(m.noted))
}

var errMarks = errors.New("the entry w has a wrong length")

func decodeMarks(b []byte) (marks, error) {
	if len(b) != marksLen && len(b) != marksOfFormat3 && len(b) != marksOfFormat1 {
		return marks{}, errMarks
	}
	m := marks{
		low:      binary.BigEndian.Uint64(b),
		last:     binary.BigEndian.Uint64(b[8:]),
		messages: int64(binary.BigEndian.Uint64(b[16:])),
	}
	m.movedID = m.last
	if len(b) != marksOfFormat1 {
		m.applied = journal.Seq(binary.BigEndian.Uint64(b[24:]))
		m.moved = journal.Seq(binary.BigEndian.Uint64(b[32:]))
		m.movedID = binary.BigEndian.Uint64(b[40:])
		m.noted = m.applied
	}
	if len(b) == marksLen {
		m.noted = journal.Seq(binary.BigEndian.Uint64(b[48:]))
	}
	return m, nil
}

// A Kind is the kind of a note. Notes of different kinds may have the same key.
//
// The kinds below begin with a dot. Names of connectors have no dot, so the name of an SMSC is
// never equal to one of these kinds. Kinds are stored on disk.
type Kind string

// The kinds of notes, in addition to those that IDsOf returns. The packages that write the notes
// document the contents.
const (
	KindSeal    Kind = ".seal"     // store: the key with which texts are encrypted
	KindBalance Kind = ".balance"  // gateway/credit: balances of accounts, by name
	KindPaid    Kind = ".paid"     // gateway/credit: what accounts have paid, by accounts and numbers
	KindEnded   Kind = ".ended"    // gateway/receipts: outcomes of messages, by our ids
	KindFile    Kind = ".files"    // store/files: whole files
	KindForm    Kind = ".forms"    // gateway/receipts: the format of the ids of SMSCs, by name
	KindInbox   Kind = ".inbox"    // gateway/inbox: texts that accounts have received, by accounts and our ids
	KindKeyword Kind = ".keywords" // gateway/route: keywords of the first parts of long messages
	KindListed  Kind = ".listed"   // gateway/lists: numbers that were added to lists and removed, by names of lists
	KindPart    Kind = ".parts"    // gateway/receipts: outcomes of the parts of long messages
	KindRequest Kind = ".request"  // gateway/request: results of requests, by their keys
	KindWait    Kind = ".waits"    // gateway/receipts: long messages that wait for outcomes of parts
)

// IDsOf returns the kind of the notes that map an SMSC's ids to our messages.
func IDsOf(smsc string) Kind { return Kind(smsc) }

// DayLength is the length of a day of the notes, in nanoseconds.
const DayLength = int64(24 * 3600e9)

// DayOf returns the day of a time of the wall clock.
func DayOf(wall int64) uint32 { return uint32(max(wall, 0) / DayLength) }
