package store

import (
	"encoding/binary"
	"fmt"

	"pmg/sms"
)

// The versions of a mapping's record. A record has the lowest version with all of the mapping's
// fields, which keeps the many records small.
const (
	mappingOfPeer    = 1
	mappingWithWay   = 2 // the mapping has the way to the peer
	mappingSubmitted = 3 // the mapping has the message as the client submitted it, and optionally the way to the peer
	mappingContext   = 4 // the mapping has a context, and optionally the fields above
	mappingElsewhere = 5 // our id only: the mapping is in the note of KindEnded with this id
	mappingNetwork   = 6 // the mapping has a network, and optionally the fields above
	mappingPriced    = 7 // the mapping has a price, and optionally the fields above
)

// A Mapping is stored under a peer's id of a message. It holds all data that the gateway needs to
// pass a receipt to the client that submitted the message. Times are those of the wall clock.
type Mapping struct {
	ID          uint64 // the gateway's id of the message
	Offset      uint16 // this and the next fields are as in sms.Message
	Part, Parts uint8
	Notify      sms.Notify // the receipts that the client has requested

	Account, Connector []byte // the origin of the message
	Source, Dest       sms.Address
	Arrived, DeliverAt int64

	// By and PeerID are the way to the peer that has accepted the message, for later requests of the
	// client.
	By       []byte // the out connector; empty: none
	PeerID   []byte // the peer's id of the message
	Flags    sms.Flags
	Alphabet sms.Alphabet

	Submitted []byte // sms.Message.SubmittedOctets; empty: the message is unchanged since the client submitted it
	Context   []byte // sms.Message.Context; empty: the message has no context
	Network   sms.Network
	Price     sms.Money // charged to the account, and paid back if the message is not delivered; 0: nothing was charged
}

// KnownID returns the id by which the client knows the message.
func (v *Mapping) KnownID() uint64 { return v.ID - uint64(v.Offset) }

// WholeID returns an id that all parts of one long message share.
func (v *Mapping) WholeID() uint64 { return v.ID - uint64(v.Part) }

// walk passes w along the fields of a mapping.
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

// AppendElsewhere appends a record that only has our id. The mapping itself is in the note of
// KindEnded with this id.
func AppendElsewhere(b []byte, id uint64) []byte {
	w := walk{mode: writing, b: b}
	w.begin(mappingElsewhere)
	w.u64("id", &id)
	return w.b
}

// Elsewhere returns the id of a record that AppendElsewhere made. ok is false for other records.
func Elsewhere(record []byte) (id uint64, ok bool) {
	if len(record) != 9 || record[0] != mappingElsewhere {
		return 0, false
	}
	return binary.BigEndian.Uint64(record[1:]), true
}

// IsMappingOf reports whether a record is a mapping of the message with this id.
func IsMappingOf(record []byte, id uint64) bool {
	return len(record) > 9 && binary.BigEndian.Uint64(record[1:]) == id
}

// MappingOf returns the mapping of a message. ahead is how many nanoseconds the wall clock is ahead
// of the clock of the message's times. The mapping shares its octets with the message.
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

// TakenBy records the way to the peer that has accepted a message: the out connector, or "" if
// there is none, and the peer's id. The mapping shares its octets with the arguments.
func (v *Mapping) TakenBy(connector string, peerID []byte, m *sms.Message) {
	v.By, v.PeerID, v.Flags, v.Alphabet = octetsOf(connector), peerID, m.Flags, m.Alphabet
}

// ReportedBy records the out connector whose SMSC has reported the outcome of a message.
func (v *Mapping) ReportedBy(connector string) { v.By = octetsOf(connector) }

// Append appends the mapping, encoded as a record.
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

// CutMapping decodes the mapping at the beginning of a record. rest is the remainder of the record.
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

// DecodeMapping decodes a record that Append made. The mapping shares its octets with the record.
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
