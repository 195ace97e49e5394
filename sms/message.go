package sms

import "sync"

// An Address is a party of a message. TON and NPI have the values of
// 3GPP TS 23.040 §9.1.2.5, which SMPP shares.
type Address struct {
	TON, NPI uint8
	Addr     []byte // digits without '+', or the characters of an alphanumeric sender
}

// A Kind tells what a message carries.
type Kind uint8

// The kinds of message.
const (
	Submit  Kind = iota // from a client towards a mobile
	MO                  // from a mobile towards a client
	Receipt             // a delivery receipt or an intermediate notification
)

// A Message is one SMS on its way through the gateway. Its byte slices lie in
// storage of its own, filled by Own, so it outlives the PDU it came from.
type Message struct {
	ID        uint64 // given by the gateway, unique across restarts, rising: also the order of arrival
	Kind      Kind
	Account   string // system_id of the client that submitted it; empty from an SMSC
	From      string // connector it arrived on
	Arrived   int64  // Unix nanoseconds
	DeliverAt int64  // Unix nanoseconds before which it is not sent; 0: at once
	Expires   int64  // Unix nanoseconds after which it is not worth sending; 0: never
	Attempts  int    // times it was put on a wire
	Priority  uint8  // 0 lowest

	Source, Dest       Address
	Service            []byte // service_type
	Class              uint8  // esm_class: message type and user data header bits (3GPP TS 23.040 §9.2.3.23)
	PID                uint8  // protocol identifier (3GPP TS 23.040 §9.2.3.9)
	DCS                uint8  // data coding scheme
	RegisteredDelivery uint8
	Replace            uint8
	DefaultID          uint8 // predefined text of the SMSC
	Validity           []byte
	Text               []byte // user data as octets, with its header if Class says so
	Params             []byte // optional parameters as they stood on the wire, for a peer of the same protocol

	own  []byte
	pool *Pool
}

// keepOwn is the largest storage a released message keeps for its next use.
const keepOwn = 4096

// Own copies every byte slice into the message's own storage, in one piece. A
// driver points the slices into a PDU and calls Own before the PDU is reused.
func (m *Message) Own() {
	n := len(m.Source.Addr) + len(m.Dest.Addr) + len(m.Service) + len(m.Validity) + len(m.Text) + len(m.Params)
	if cap(m.own) < n {
		m.own = make([]byte, 0, max(n, 192))
	}
	m.own = m.move(m.own[:0])
}

// move copies every byte slice to the end of b, which has the room, and points it there.
func (m *Message) move(b []byte) []byte {
	for _, f := range [...]*[]byte{&m.Source.Addr, &m.Dest.Addr, &m.Service, &m.Validity, &m.Text, &m.Params} {
		at := len(b)
		b = append(b, *f...)
		*f = b[at:len(b):len(b)]
	}
	return b
}

// CopyTo makes dst a copy whose bytes lie in b, which is returned, grown if need
// be. The copy is for reading only and belongs to no pool.
func (m *Message) CopyTo(dst *Message, b []byte) []byte {
	if cap(b) < len(m.own) {
		b = make([]byte, 0, max(len(m.own), 192))
	}
	*dst = *m
	dst.own, dst.pool = nil, nil
	return dst.move(b[:0])
}

// Release gives the message back to its pool. Nobody may touch it afterwards.
func (m *Message) Release() {
	if p := m.pool; p != nil {
		p.put(m)
	}
}

// A Pool recycles messages.
type Pool struct{ p sync.Pool }

// Get returns an empty message.
func (p *Pool) Get() *Message {
	if m, ok := p.p.Get().(*Message); ok {
		m.pool = p
		return m
	}
	return &Message{pool: p}
}

func (p *Pool) put(m *Message) {
	own := m.own
	if cap(own) > keepOwn {
		own = nil
	}
	*m = Message{own: own[:0]}
	p.p.Put(m)
}
