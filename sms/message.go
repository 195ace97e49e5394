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
	fields := [...]*[]byte{&m.Source.Addr, &m.Dest.Addr, &m.Service, &m.Validity, &m.Text, &m.Params}
	n := 0
	for _, f := range fields {
		n += len(*f)
	}
	b := m.own[:0]
	if cap(b) < n {
		b = make([]byte, 0, max(n, 192))
	}
	for _, f := range fields {
		if len(*f) == 0 { // half of them, mostly
			*f = nil
			continue
		}
		at := len(b)
		b = append(b, *f...)
		*f = b[at:len(b):len(b)]
	}
	m.own = b
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
	m, ok := p.p.Get().(*Message)
	if !ok {
		return &Message{pool: p}
	}
	*m = Message{own: m.own, pool: p} // now, when it is wanted in the cache anyway
	return m
}

func (p *Pool) put(m *Message) {
	if cap(m.own) > keepOwn || len(m.Text)+len(m.Params) > keepOwn { // the latter where they are not its own
		*m = Message{}
	}
	m.pool = nil // released twice, it does not belong to two
	p.p.Put(m)
}
