package store

import (
	"encoding/binary"
	"fmt"

	"pmg/sms"
)

// The versions of the record of a mapping. Each has the lowest that has all of its fields, because
// there are many.
const (
	mappingOfPeer    = 1
	mappingWithWay   = 2 // with a way to the peer
	mappingSubmitted = 3 // with what the client has submitted, and perhaps a way to the peer
	mappingContext   = 4 // with a context, and perhaps the others
	mappingElsewhere = 5 // our id alone: the mapping is the note of KindEnded that has it
	mappingNetwork   = 6 // with a network, and perhaps the others
	mappingPriced    = 7 // with a price, and perhaps the others
)

// A Mapping is what a peer's id of a message stands for: all that the gateway needs to give
// a receipt of the message to the client that submitted it. Times are by the wall clock.
type Mapping struct {
	ID          uint64 // the gateway's
	Offset      uint16 // these are as in sms.Message
	Part, Parts uint8
	Notify      sms.Notify // what the client has asked for

	Account, Connector []byte // the message's origin
	Source, Dest       sms.Address
	Arrived, DeliverAt int64

	// The way to the peer that has accepted the message, for what its client asks later.
	By       []byte // the out connector; empty: none
	PeerID   []byte // the peer's id
	Flags    sms.Flags
	Alphabet sms.Alphabet

	Submitted []byte // sms.Message.SubmittedOctets; empty: the message is as the client has submitted it
	Context   []byte // sms.Message.Context; empty: it has none
	Network   sms.Network
	Price     sms.Money // that its account was charged, and gets back if it is not delivered; 0: nothing
}

// KnownID returns the id by which the client knows the message.
func (v *Mapping) KnownID() uint64 { return v.ID - uint64(v.Offset) }

// WholeID returns an id that all parts of the same long message have in common.
func (v *Mapping) WholeID() uint64 { return v.ID - uint64(v.Part) }

// walk leads w along the fields of a mapping.
func (v *Mapping) walk(w *walk) {
	w.u64("id", &v.ID)
	w.u16("offset of the id", &v.Offset)
	w.u8("part", &v.Part)
	w.u8("parts", &v.Parts)
	w.u8("notifications", (*uint8)(&v.Notify))
	w.time("time of arrival", &v.Arrived)
	w.time("delivery time", &v.DeliverAt)
	w.octets16("account", &v.Account)
	w.octets16("connector", &v.Connector)
	w.u8("source's type", &v.Source.TON)
	w.u8("source's plan", &v.Source.NPI)
	w.octets8("source", &v.Source.Addr)
	w.u8("destination's type", &v.Dest.TON)
	w.u8("destination's plan", &v.Dest.NPI)
	w.octets8("destination", &v.Dest.Addr)
	if w.atLeast(mappingWithWay) {
		w.octets16("connector of the peer", &v.By)
		w.octets8("peer's id", &v.PeerID)
		w.u8("flags", (*uint8)(&v.Flags))
		w.u8("alphabet", (*uint8)(&v.Alphabet))
	}
	if w.atLeast(mappingSubmitted) {
		w.octets16("what the client has submitted", &v.Submitted)
	}
	if w.atLeast(mappingContext) {
		w.octets16("context", &v.Context)
	}
	if w.atLeast(mappingNetwork) {
		w.network((*uint32)(&v.Network), w.atLeast(mappingPriced))
	}
	if w.atLeast(mappingPriced) {
		w.money("price", &v.Price)
	}
}

// AppendElsewhere appends the record of a mapping that the note of KindEnded with our id has.
func AppendElsewhere(b []byte, id uint64) []byte {
	w := walk{mode: writing, b: b}
	w.begin(mappingElsewhere)
	w.u64("id", &id)
	return w.b
}

// Elsewhere returns our id if that is all that a record has, and reports whether it is.
func Elsewhere(record []byte) (id uint64, ok bool) {
	if len(record) != 9 || record[0] != mappingElsewhere {
		return 0, false
	}
	return binary.BigEndian.Uint64(record[1:]), true
}

// MappingOf returns what the peer's id of a message stands for. ahead is how many nanoseconds
// the wall clock is ahead of the clock that the message's times are by. The mapping's octets
// are the message's.
func MappingOf(m *sms.Message, ahead int64) Mapping {
	v := Mapping{
		ID: m.ID, Offset: m.Offset, Part: m.Part, Parts: m.Parts, Notify: m.Notify,
		Submitted: m.SubmittedOctets(), Context: m.Context(), Source: m.Source(), Dest: m.Dest(),
		Arrived: shift(m.Arrived, ahead), DeliverAt: shift(m.DeliverAt, ahead), Network: m.Network,
	}
	if o := m.Origin; o != nil {
		v.Account, v.Connector = octetsOf(o.Account), octetsOf(o.Connector)
	}
	return v
}

// TakenBy records the way to the peer that has accepted a message: the out connector, "" where there
// is none, and the peer's id. The mapping's octets are theirs.
func (v *Mapping) TakenBy(connector string, peerID []byte, m *sms.Message) {
	v.By, v.PeerID, v.Flags, v.Alphabet = octetsOf(connector), peerID, m.Flags, m.Alphabet
}

// ReportedBy records the out connector whose SMSC has reported what became of a message.
func (v *Mapping) ReportedBy(connector string) { v.By = octetsOf(connector) }

// Append appends the mapping as a record.
func (v *Mapping) Append(b []byte) []byte {
	w := walk{mode: writing, b: b}
	version := uint8(mappingOfPeer)
	if len(v.By) > 0 {
		version = mappingWithWay
	}
	if len(v.Submitted) > 0 {
		version = mappingSubmitted
	}
	if len(v.Context) > 0 {
		version = mappingContext
	}
	if v.Network != 0 {
		version = mappingNetwork
	}
	if v.Price != 0 {
		version = mappingPriced
	}
	w.begin(version)
	v.walk(&w)
	return w.b
}

// CutMapping reads a mapping, and returns what stands behind it.
func CutMapping(record []byte) (v Mapping, rest []byte, err error) {
	w := walk{b: record}
	if err := w.version("mapping", mappingPriced); err != nil {
		return Mapping{}, nil, err
	}
	if w.v == mappingElsewhere {
		return Mapping{}, nil, ErrNewer
	}
	v.walk(&w)
	return v, w.b, w.err("mapping")
}

// DecodeMapping reads what Append has appended. The mapping's octets are the record's.
func DecodeMapping(record []byte) (v Mapping, err error) {
	w := walk{b: record}
	if err := w.version("mapping", mappingPriced); err != nil {
		return Mapping{}, err
	}
	if w.v == mappingElsewhere {
		return Mapping{}, fmt.Errorf("cannot read a mapping of version %d, which is a note elsewhere: %w", w.v, ErrNewer)
	}
	v.walk(&w)
	if w.v == mappingWithWay && len(v.By) == 0 {
		w.fail("connector of the peer", true)
	}
	if w.v == mappingSubmitted && len(v.Submitted) == 0 {
		w.fail("what the client has submitted", true)
	}
	if w.v == mappingContext && len(v.Context) == 0 {
		w.fail("context", true)
	}
	if err := w.end("mapping"); err != nil {
		return Mapping{}, err
	}
	return v, nil
}
