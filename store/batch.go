package store

import (
	"slices"

	"pmg/sms"
	"pmg/store/journal"
	"pmg/store/seal"
)

// A Batch is a list of changes that are carried out together. It is not safe for concurrent use.
type Batch struct {
	// Ahead is how many nanoseconds the wall clock is ahead of the clock of the messages' times. Stored
	// times are those of the wall clock.
	Ahead int64

	position Position
	ops      []op
	octets   []byte
	ends     bool        // the batch deletes messages
	asIs     bool        // records are not encrypted, because the batch is a copy of a store's contents
	at       journal.Seq // place of the batch's last record in the journal; 0: the batch is not completely written
}

// Position returns the position that the batch will have in the log.
func (b *Batch) Position() Position { return b.position }

// An opKind is the kind of an operation. Each constructor below makes one kind. The numbers are
// stored on disk.
type opKind uint8

const (
	opPut opKind = iota
	opReplace
	opKeep
	opDelete
	opNote
	opForgetBefore
	opEvent
	opDropEvents
	opErase
)

// An op is one operation of a batch. Its key and its value are stored in the batch's octets, one
// after the other.
type op struct {
	kind     opKind
	id       uint64 // id of a message, a day, or the number of an event
	at       int    // index of the operation's first octet in the batch's octets
	key, len int    // octets of the key, and of key and value together; opKeep: the key is the state
	aside    bool   // opKeep: the message is put aside, and the value is the message's record
	size     int    // opDelete: octets of the deleted record
	stays    bool   // opPut, opReplace: no peer waits for the operation, so it stays in the batch if a commit fails
	claims   bool   // opNote: the note belongs to a message of a peer, and is dropped with the message if a commit fails
	current  bool   // opNote: if a commit has several notes with the same key, only the last is stored
}

// A Lane is the name of a lane: the name of an out connector, or of a client account and its
// connector.
type Lane struct{ Connector, Account string }

// ToClient reports whether the lane is that of a client account, not of an out connector.
func (l Lane) ToClient() bool { return l.Account != "" }

// Put stores a message that was accepted for a lane.
func (b *Batch) Put(m *sms.Message, lane Lane) {
	at := len(b.octets)
	b.octets = AppendRecord(b.octets, m, lane, b.Ahead)
	b.add(op{kind: opPut, id: m.ID}, at, 0)
}

// Replace stores a new record for a message that was put before. If the commit fails, the message
// keeps its old record.
func (b *Batch) Replace(m *sms.Message, lane Lane) {
	at := len(b.octets)
	b.octets = AppendRecord(b.octets, m, lane, b.Ahead)
	b.add(op{kind: opReplace, id: m.ID}, at, 0)
}

// ReplaceOwn stores a new record, as Replace does, for a change that no peer waits for. If the
// commit fails, the change is part of the next commit.
func (b *Batch) ReplaceOwn(m *sms.Message, lane Lane) {
	b.Replace(m, lane)
	b.ops[len(b.ops)-1].stays = true
}

// PutOwn stores a message that the gateway has made, such as a receipt. If the commit fails, the
// message is part of the next commit.
func (b *Batch) PutOwn(m *sms.Message, lane Lane) {
	b.Put(m, lane)
	b.ops[len(b.ops)-1].stays = true
}

// Keep stores the state of a message, which has changed since the message was accepted. If the
// message is put aside, the batch also contains its record, for stores that are not durable.
func (b *Batch) Keep(m *sms.Message, s State) {
	at := len(b.octets)
	b.octets = AppendState(b.octets, m, s, b.Ahead)
	key := len(b.octets) - at
	if s.Aside != InLane {
		b.octets = AppendRecord(b.octets, m, s.Lane, b.Ahead)
	}
	b.add(op{kind: opKeep, id: m.ID, aside: s.Aside != InLane}, at, key)
}

// Delete removes a message and its state. It must be called once for each message that was put.
// size is about how many octets the record has; RecordSize counts them.
func (b *Batch) Delete(id uint64, size int) {
	b.add(op{kind: opDelete, id: id, size: size}, len(b.octets), 0)
	b.ends = true
}

// Note stores a note. The note is kept until ForgetBefore is called with a later day. Days are
// counted from 1970. If the key is stored again, the day must not be earlier.
func (b *Batch) Note(kind Kind, key, value []byte, day uint32) {
	at := len(b.octets)
	b.octets = appendNote(b.octets, kind, key)
	n := len(b.octets) - at
	b.octets = append(b.octets, value...)
	b.add(op{kind: opNote, id: uint64(day)}, at, n)
}

// seal encrypts the records of messages, and the notes with texts, that are not encrypted yet.
func (b *Batch) seal(s *seal.Sealer) {
	if s == nil || b.asIs {
		return
	}
	for i := range b.ops {
		o := &b.ops[i]
		id, ok := b.sealed(o)
		if !ok || seal.Is(b.valueOf(*o)) {
			continue
		}
		at := len(b.octets)
		b.octets = append(b.octets, b.keyOf(*o)...)
		b.octets = s.Append(b.octets, id, b.valueOf(*o))
		o.at, o.len = at, len(b.octets)-at
	}
}

// sealed returns the id to which the encrypted value of an operation is bound. It returns false if the value is not encrypted.
func (b *Batch) sealed(o *op) (id uint64, ok bool) {
	switch o.kind {
	case opPut, opReplace:
		return o.id, true
	case opNote:
		return sealedNote(b.keyOf(*o), b.valueOf(*o))
	}
	return 0, false
}

// NoteCurrent stores a note, as Note does, that each new message replaces. The journal gets all
// such notes. The store carries out only the last one of a commit.
func (b *Batch) NoteCurrent(kind Kind, key, value []byte, day uint32) {
	b.Note(kind, key, value, day)
	b.ops[len(b.ops)-1].current = true
}

// Claim stores a note, as Note does, that belongs to a message of a peer in the same batch. If the
// commit fails, the next commit stores an empty value, in case the note was stored nevertheless.
func (b *Batch) Claim(kind Kind, key, value []byte, day uint32) {
	b.Note(kind, key, value, day)
	b.ops[len(b.ops)-1].claims = true
}

// Erase removes the note with this key and day.
func (b *Batch) Erase(kind Kind, key []byte, day uint32) {
	at := len(b.octets)
	b.octets = appendNote(b.octets, kind, key)
	b.add(op{kind: opErase, id: uint64(day)}, at, len(b.octets)-at)
}

// ForgetBefore removes all notes of days before day.
func (b *Batch) ForgetBefore(day uint32) {
	b.add(op{kind: opForgetBefore, id: uint64(day)}, len(b.octets), 0)
}

// Event stores an event. It is kept until DropEvents. Numbers must rise.
func (b *Batch) Event(number uint64, line []byte) {
	at := len(b.octets)
	b.octets = append(b.octets, line...)
	b.add(op{kind: opEvent, id: number}, at, 0)
}

// DropEvents removes the events with numbers up to upTo.
func (b *Batch) DropEvents(upTo uint64) {
	b.add(op{kind: opDropEvents, id: upTo}, len(b.octets), 0)
}

func (b *Batch) add(o op, at, key int) {
	o.at, o.key, o.len = at, key, len(b.octets)-at
	b.ops = append(b.ops, o)
}

// Len returns how many operations the batch has.
func (b *Batch) Len() int { return len(b.ops) }

// Octets returns how many octets the operations of the batch contain.
func (b *Batch) Octets() int { return len(b.octets) }

// opOctets is about how many octets an operation takes in addition to its own octets: for a key and
// lengths.
const opOctets = 16

// Size returns about how many octets an engine writes for the batch.
func (b *Batch) Size() int { return len(b.octets) + opOctets*len(b.ops) }

// deleted returns the total size of the records that the batch deletes, in octets.
func (b *Batch) deleted() (octets int64) {
	for _, o := range b.ops {
		octets += int64(o.size)
	}
	return octets
}

// keepBatch is the largest storage that an emptied batch keeps.
const keepBatch = 4 << 20

// Reset empties the batch. It keeps the batch's storage for reuse, unless the storage is large.
func (b *Batch) Reset() {
	if cap(b.octets) > keepBatch {
		*b = Batch{}
		return
	}
	b.ops, b.octets, b.ends, b.at = b.ops[:0], b.octets[:0], false, 0
}

// Append adds the operations of another batch.
func (b *Batch) Append(other *Batch) {
	b.ends, b.at = b.ends || other.ends, other.at
	shift := len(b.octets)
	b.octets = append(b.octets, other.octets...)
	for _, o := range other.ops {
		o.at += shift
		b.ops = append(b.ops, o)
	}
}

// Changes has a method for each kind of operation, with the names of the Batch's methods. A method
// may use its octets only until it returns.
type Changes interface {
	Put(id uint64, record []byte) // replaces the record if the message exists
	// Keep stores a state. record is the message's record if the message is put aside, otherwise nil.
	Keep(id uint64, state, record []byte)
	Delete(id uint64)
	// Note stores a note. key is the note's kind and key together.
	Note(day uint32, key, value []byte)
	Erase(day uint32, key []byte)
	ForgetBefore(day uint32)
	Event(number uint64, line []byte)
	DropEvents(upTo uint64)
}

// Each passes the operations of the batch, in their order, to an engine outside of this package.
func (b *Batch) Each(c Changes) {
	for _, o := range b.ops {
		switch o.kind {
		case opPut, opReplace:
			c.Put(o.id, b.valueOf(o))
		case opKeep:
			var record []byte
			if o.aside {
				record = b.valueOf(o)
			}
			c.Keep(o.id, b.keyOf(o), record)
		case opDelete:
			c.Delete(o.id)
		case opNote:
			c.Note(uint32(o.id), b.keyOf(o), b.valueOf(o))
		case opErase:
			c.Erase(uint32(o.id), b.keyOf(o))
		case opForgetBefore:
			c.ForgetBefore(uint32(o.id))
		case opEvent:
			c.Event(o.id, b.valueOf(o))
		case opDropEvents:
			c.DropEvents(o.id)
		}
	}
}

func (b *Batch) keyOf(o op) []byte   { return b.octets[o.at : o.at+o.key] }
func (b *Batch) valueOf(o op) []byte { return b.octets[o.at+o.key : o.at+o.len] }

// addUndone adds the operations of a batch whose commit failed, except the messages of peers. It
// adds deletions of those messages, in case they were stored nevertheless.
func (b *Batch) addUndone(failed *Batch) {
	b.Append(failed)
	b.ops = slices.DeleteFunc(b.ops, func(o op) bool { return (o.kind == opPut || o.kind == opReplace) && !o.stays })
	for _, o := range failed.ops {
		if o.kind == opPut && !o.stays {
			b.Delete(o.id, o.len)
		}
	}
	for i := range b.ops {
		if o := &b.ops[i]; o.claims {
			o.len = o.key
		}
	}
	b.at = 0
}

// A batch stands in the journal as one record, or as several of about pieceSize octets each, which count together:
//
//	version | flags | operation | operation | …
//
// The version and the flags have one octet. An operation is its kind, its number, and what it carries, as walk has it.
const (
	writtenVersion = 1
	pieceSize      = 512 << 10
)

// The flags of a record. A batch whose last record is missing does not count, because its commit
// never succeeded.
const (
	isFirst uint8 = 1 << iota
	isLast
)

// walk passes w along the fields of an operation. b has the operation's key and value.
func (b *Batch) walk(w *walk, o *op) {
	key, value := []byte(nil), []byte(nil)
	if w.mode == writing {
		key, value = b.keyOf(*o), b.valueOf(*o)
	}
	w.enum("kind", (*uint8)(&o.kind), uint8(opErase))
	w.u64("number", &o.id)
	switch o.kind {
	case opPut, opReplace, opEvent:
		w.octets32("value", &value)
	case opKeep:
		w.octets32("state", &key) // the store already has the record of a message that is put aside
	case opErase:
		w.octets32("key", &key)
	case opNote:
		w.octets32("key", &key)
		w.octets32("value", &value)
	}
	if w.mode == reading {
		o.at, o.key, o.len = len(b.octets), len(key), len(key)+len(value)
		b.octets = append(append(b.octets, key...), value...)
	}
}

// appendPiece appends operations, beginning with number first, as a record. It returns the record
// and the number of operations in it.
func (b *Batch) appendPiece(record []byte, first int) ([]byte, int) {
	w := walk{mode: writing, b: append(record, writtenVersion, 0)}
	flags := uint8(isLast)
	n := first
	for ; n < len(b.ops); n++ {
		if len(w.b)-len(record)+b.ops[n].len > pieceSize && n > first {
			flags = 0
			break
		}
		b.walk(&w, &b.ops[n])
	}
	if first == 0 {
		flags |= isFirst
	}
	w.b[len(record)+1] = flags
	return w.b, n - first
}

// readPiece adds the operations of a record to the batch. whole is true if the record was the
// batch's last one. If the record begins a new batch, readPiece first drops the operations of an
// incomplete batch.
func (b *Batch) readPiece(record []byte) (whole bool, err error) {
	w := walk{b: record}
	if err := w.version("record of the journal", writtenVersion); err != nil {
		return false, err
	}
	var flags uint8
	w.enum("flags", &flags, isFirst|isLast)
	if flags&isFirst != 0 {
		b.Reset()
	}
	for w.fault == "" && len(w.b) > 0 {
		var o op
		if b.walk(&w, &o); w.fault == "" {
			b.ops = append(b.ops, o)
		}
	}
	return flags&isLast != 0, w.end("record of the journal")
}
