package gateway

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"pmg/events"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// endedName is the name under which the store keeps the final states of messages by our ids, for
// the queries of clients. It has the messages whose clients asked for receipts, and all messages of
// connectors with the option operations, for as long as mappings are kept. A value is a
// store.Mapping and behind it
//
//	+-------+-------+-------+
//	| state | error | since |
//	| 1     | 1     | 8     |
//	+-------+-------+-------+
const (
	endedName = ".ended"
	endedTail = 10
)

// notesEnd reports whether the state of a message is kept under endedName. Of a long message only
// the first part has one, because clients know the message by that part's id.
func notesEnd(m *sms.Message, e *ending) bool {
	return (m.Notify != 0 || e.operations) && m.Kind == sms.Submit && m.Offset == 0 && m.Account() != ""
}

// noteEnd adds the state of a message that has ended to the open batch. A message that an SMSC has
// accepted is on its way until its receipt comes.
func (g *Gateway) noteEnd(b *store.Batch, m *sms.Message, e *ending, ahead int64) {
	state, since := stateOfEnd(e.state), e.answer.At+ahead
	v := store.MappingOf(m, ahead)
	if e.state == events.Sent {
		state = sms.StateEnroute
		v.TakenBy(e.lane.Connector, e.answer.PeerID, m)
	}
	g.noteState(b, v, state, 0, since)
}

// noteReport notes what a receipt says of a message, all parts of it if it has some.
func (g *Gateway) noteReport(now int64, f *match, r *sms.Report) {
	if g.Store == nil || !r.State.Final() || f.Offset != 0 && f.Parts <= 1 {
		return
	}
	v := f.Mapping
	v.ID, v.Offset, v.Part, v.Parts = v.KnownID(), 0, 0, 0
	wall := g.Clock.Wall(now)
	since := r.Done
	if since == 0 {
		since = wall
	}
	b := g.Committer.Begin()
	g.receipts.told.add(v.ID)
	g.noteState(b, v, r.State, uint8(min(r.NetworkError, math.MaxUint8)), since)
	g.Committer.End()
}

func (g *Gateway) noteState(b *store.Batch, v store.Mapping, state sms.State, failure uint8, since int64) {
	r := &g.receipts
	r.noting.Lock()
	defer r.noting.Unlock()
	r.key = binary.BigEndian.AppendUint64(r.key[:0], v.ID)
	r.record = append(v.Append(r.record[:0]), uint8(state), failure)
	r.record = binary.BigEndian.AppendUint64(r.record, uint64(since))
	today := store.DayOf(g.Clock.Wall(g.Clock.Now()))
	b.Map(today, endedName, r.key, r.record)
	if len(v.Submitted) == 0 {
		return
	}
	submitted, _ := sms.ReadSubmitted(v.Submitted)
	for _, j := range submitted.Joined { // by which clients know it
		b.Map(today, endedName, binary.BigEndian.AppendUint64(nil, j.ID), r.record)
	}
}

// ended carries out an operation about a message that has left. It reports errNoMessage if
// nothing is known of it.
func (o *operation) ended(ctx context.Context) error {
	v, tail, err := o.lookUp()
	switch {
	case err != nil:
		return err
	case string(v.Account) != o.account || !bytes.Equal(v.Source.Addr, o.Source.Addr),
		o.Dest.Addr != nil && !bytes.Equal(v.Dest.Addr, o.Dest.Addr):
		return errNoMessage
	}
	o.result.State, o.result.Error = sms.State(tail[0]), tail[1]
	if !o.result.State.Final() {
		o.code = o.forward(ctx, &v)
	} else {
		o.code, o.result.Since = sms.Rejected, int64(binary.BigEndian.Uint64(tail[2:]))
	}
	if o.Kind == protocols.Query { // without an answer of the SMSC, what is known: that it has accepted the message
		o.code = sms.OK
	}
	return nil
}

// lookUp returns what was noted of a message that has left.
func (o *operation) lookUp() (v store.Mapping, tail []byte, err error) {
	g := o.gateway
	if g.Store == nil {
		return v, nil, errNoMessage
	}
	if err := g.Committer.SyncSoon(); err != nil { // what was noted last is in the open batch
		return v, nil, err
	}
	value, ok, err := g.Store.Lookup(endedName, binary.BigEndian.AppendUint64(nil, o.ID))
	if err == nil && !ok {
		return v, nil, errNoMessage
	}
	if err == nil && len(value) < endedTail {
		err = store.ErrDamaged
	}
	if err == nil {
		value, tail = value[:len(value)-endedTail], value[len(value)-endedTail:]
		v, err = store.DecodeMapping(value)
	}
	if err != nil {
		return v, nil, fmt.Errorf("cannot look up message %s: %w", sms.FormatID(o.ID), err)
	}
	return v, tail, nil
}
