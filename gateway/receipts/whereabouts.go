package receipts

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// The store keeps the final states of messages by our ids (store.KindEnded), for
// the queries of clients. It has those of the messages whose clients asked for receipts, and all messages of
// connectors with the option operations, for as long as mappings are kept. The SMSC's id of such a message leads to
// our id alone. A value is a store.Mapping and behind it
//
//	+--------+-----+------------------+--------+-------+-------+-------+-------+
//	| answer | err | length of answer | of err | parts | state | error | since |
//	| n      | n   | 1                | 1      | 1     | 1     | 1     | 8     |
//	+--------+-----+------------------+--------+-------+-------+-------+-------+
//
// The highest bit of the state says that there are all of these: earlier values begin with the state. The next one says
// that no SMSC has taken the message.
const (
	endedTail    = 10 // octets from the state on
	endedLengths = 3  // octets in front of the state
	endedMore    = 0x80
	endedUntaken = 0x40
)

// RecordsEnd reports whether the state of a message is kept as store.KindEnded. Of a long message only
// the first part has one, because clients know the message by that part's id.
func RecordsEnd(m *sms.Message, e *keep.Ending) bool {
	return (m.Notify != 0 || e.Operations || m.Context() != nil) && m.Kind == sms.Submit && m.Offset == 0 && m.Account() != ""
}

// RecordEnd adds the state of a message that has ended to the open batch. A message that an SMSC has
// accepted is on its way until its receipt comes.
func (d *Matcher) RecordEnd(b *store.Batch, m *sms.Message, e *keep.Ending, ahead int64) {
	v := store.MappingOf(m, ahead)
	f := Fate{State: stateOfEnd(e.State), Since: e.Answer.At + ahead, Parts: max(m.Parts, 1)}
	quoteEnded(&v, m, e)
	switch e.State {
	case events.Sent:
		f.State = sms.StateEnroute
		v.TakenBy(e.Lane.Connector, e.Answer.PeerID, m)
	case events.Cut: // the parts of the message are on their way
		f.State = sms.StateEnroute
	default:
		v.ReportedBy(e.Lane.Connector)
		if f.Untaken, f.Err = true, errOf(e.Answer.Status); len(v.Context) > 0 {
			f.Answer = answerOf(e)
		}
	}
	d.recordState(b, &v, &f, store.DayOf(f.Since))
}

// recordReport records what a receipt says of a message, all parts of it if it has some. It reports false if that is nothing
// final.
func (d *Matcher) recordReport(now int64, of *store.Mapping, r *sms.Report) bool {
	if !r.State.Final() || of.Offset != 0 && of.Parts <= 1 {
		return false
	}
	o := d.outcomes.Get().(*outcome)
	o.known, o.fate = *of, Fate{
		State: r.State, Error: uint8(min(r.NetworkError, math.MaxUint8)), Since: r.Done, Untaken: r.Untaken,
		Parts: max(of.Parts, 1), Answer: r.Answer, Err: r.AppendError(o.room[:0]),
	}
	v, f := &o.known, &o.fate
	v.ID, v.Offset, v.Part, v.Parts, v.PeerID = v.KnownID(), 0, 0, 0, r.ID
	if f.Since == 0 {
		f.Since = d.node.Clock.Wall(now)
	}
	f.Since = max(f.Since, v.Arrived) // the times of an SMSC are often whole minutes
	o.today = store.DayOf(d.node.Clock.Wall(now))
	d.keep.Batches.Write(o.write)
	o.known, o.fate = store.Mapping{}, Fate{}
	d.outcomes.Put(o)
	return true
}

// An outcome is what recordReport writes. It is reused, because each receipt has one.
type outcome struct {
	known store.Mapping
	fate  Fate
	today uint32             // day of the receipt by the wall clock
	room  [8]byte            // of fate.Err, if that is short
	write func(*store.Batch) // writes the outcome
}

func newOutcome(d *Matcher) *outcome {
	o := &outcome{}
	o.write = func(b *store.Batch) {
		d.told.add(o.known.ID)
		d.recordState(b, &o.known, &o.fate, o.today)
	}
	return o
}

// recordState adds the outcome of a message to the open batch. today is the present day by the wall clock.
func (d *Matcher) recordState(b *store.Batch, v *store.Mapping, f *Fate, today uint32) {
	d.recording.Lock()
	defer d.recording.Unlock()
	d.key = binary.BigEndian.AppendUint64(d.key[:0], v.ID)
	d.record = f.append(v.Append(d.record[:0]))
	b.Note(store.KindEnded, d.key, d.record, today)
	if len(v.Submitted) == 0 {
		return
	}
	submitted, _ := sms.ReadSubmitted(v.Submitted)
	for _, j := range submitted.Joined { // ids by which clients know the message
		b.Note(store.KindEnded, binary.BigEndian.AppendUint64(nil, j.ID), d.record, today)
	}
}

// A Fate is the recorded outcome of a message that has left.
type Fate struct {
	State   sms.State
	Error   uint8  // error code as in answers to queries
	Since   int64  // time of the outcome, by the wall clock
	Untaken bool   // this and the next fields are as in sms.Report
	Parts   uint8  // number of parts; 0: not known
	Err     []byte // encoded by sms.Report.AppendError
	Answer  []byte
}

func (f *Fate) append(b []byte) []byte {
	answer, err := f.Answer[:min(len(f.Answer), math.MaxUint8)], f.Err[:min(len(f.Err), math.MaxUint8)]
	state := uint8(f.State) | endedMore
	if f.Untaken {
		state |= endedUntaken
	}
	b = append(append(b, answer...), err...)
	b = append(b, uint8(len(answer)), uint8(len(err)), f.Parts, state, f.Error)
	return binary.BigEndian.AppendUint64(b, uint64(f.Since))
}

// FateOf returns what is recorded of a message that has left, by our id. It reports false if nothing is.
func (d *Matcher) FateOf(id uint64) (v store.Mapping, f Fate, ok bool, err error) {
	if err := d.keep.Batches.SyncSoon(); err != nil { // the latest outcome may be in the open batch
		return v, f, false, err
	}
	value, ok, err := d.keep.Index.Lookup(store.KindEnded, binary.BigEndian.AppendUint64(nil, id))
	if err == nil && !ok {
		return v, f, false, nil
	}
	if err == nil {
		v, f, err = decodeFate(value)
	}
	if err != nil {
		return v, f, false, fmt.Errorf("cannot look up message %s: %w", sms.FormatID(id), err)
	}
	return v, f, true, nil
}

// decodeFate reads what recordState has written. The mapping's octets are the value's.
func decodeFate(value []byte) (v store.Mapping, f Fate, err error) {
	value, f, err = cutFate(value)
	if err != nil {
		return v, f, err
	}
	v, err = store.DecodeMapping(value)
	return v, f, err
}

// cutFate reads the fate at the end of what recordState has written, and returns the record of the mapping in front of it.
func cutFate(value []byte) (mapping []byte, f Fate, err error) {
	if len(value) < endedTail {
		return nil, f, store.ErrDamaged
	}
	mapping, tail := value[:len(value)-endedTail], value[len(value)-endedTail:]
	f = Fate{
		State: sms.State(tail[0] &^ (endedMore | endedUntaken)), Error: tail[1],
		Since: int64(binary.BigEndian.Uint64(tail[2:])),
	}
	if tail[0]&endedMore == 0 {
		return mapping, f, nil
	}
	n := len(mapping) - endedLengths
	if n < 0 || int(mapping[n])+int(mapping[n+1]) > n {
		return nil, f, store.ErrDamaged
	}
	f.Untaken, f.Parts = tail[0]&endedUntaken != 0, mapping[n+2]
	errAt := n - int(mapping[n+1])
	answerAt := errAt - int(mapping[n])
	f.Answer, f.Err = mapping[answerAt:errAt], mapping[errAt:n]
	return mapping[:answerAt], f, nil
}

// A Known is what is known of a message: the entry of one that the store keeps, or what is recorded of one that has left.
type Known struct {
	store.Entry // Record is nil if the message has left
	Left        store.Mapping
	Fate        Fate
}

// ErrNoList says that the store does not list messages, because it is in memory.
var ErrNoList = errors.New("the store is in memory, which does not list messages")

// List passes what is known of messages to f, the latest first: of all in the store, and of those that have left since a
// time by the wall clock. It is store.Lister's; an id by which a client knows a message that was joined of several
// comes as one of its own.
func List(k *keep.Keeper, below uint64, since int64, limit int, f func(*Known) error) (last uint64, err error) {
	lister, ok := k.Index.(store.Lister)
	if !ok {
		return 0, ErrNoList
	}
	if err := k.Batches.SyncSoon(); err != nil {
		return 0, err
	}
	return lister.List(store.KindEnded, below, store.DayOf(since), limit, func(e *store.Listed) (err error) {
		k := Known{Entry: e.Entry}
		if e.Record == nil {
			if k.Left, k.Fate, err = decodeFate(e.Note); err != nil {
				return fmt.Errorf("message %s: %w", sms.FormatID(e.ID), err)
			}
		}
		return f(&k)
	})
}

// Unreported returns what is recorded of messages that an SMSC has accepted under ids that begin with a prefix, from the id from
// on, and of which no final receipt has come: up to limit of those that were recorded.
func Unreported(k *keep.Keeper, operator, prefix string, from []byte, limit int) (all []store.Mapping, err error) {
	if err = k.Batches.SyncSoon(); err != nil {
		return nil, err
	}
	var found [][]byte
	err = k.Index.Notes(store.IDsOf(operator), from, limit, func(peerID, value []byte) error {
		if bytes.HasPrefix(peerID, []byte(prefix)) {
			found = append(found, bytes.Clone(value))
		}
		return nil
	})
	for _, record := range found {
		if err != nil {
			break
		}
		var ok bool
		if record, ok, err = mappingOf(k.Index, record); err != nil || !ok {
			continue
		}
		var v store.Mapping
		if v, err = store.DecodeMapping(record); err != nil {
			continue
		}
		var value []byte
		if value, ok, err = k.Index.Lookup(store.KindEnded, binary.BigEndian.AppendUint64(nil, v.KnownID())); err != nil || !ok {
			continue
		}
		var f Fate
		if _, f, err = cutFate(value); err == nil && !f.State.Final() {
			all = append(all, v)
		}
	}
	return all, err
}
