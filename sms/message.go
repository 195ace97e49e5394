package sms

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// An Address is the sender or the recipient of a message. TON and NPI have the values of
// 3GPP TS 23.040 §9.1.2.5, which SMPP uses too.
type Address struct {
	TON, NPI uint8
	Addr     []byte // digits without '+', or the characters of an alphanumeric sender
}

// A Kind is the kind of a message.
type Kind uint8

// The kinds of message.
const (
	Submit  Kind = iota // a message from a client towards a mobile
	MO                  // a message from a mobile towards a client
	Receipt             // a delivery receipt or an intermediate notification
)

// A Class is the message class of 3GPP TS 23.038 §4: where the mobile stores the message.
type Class uint8

// The message classes.
const (
	NoClass Class = iota
	Class0        // shown immediately
	Class1        // in the mobile
	Class2        // on the SIM
	Class3        // on an attached device
)

// A Notify is the set of outcomes, as bits, for which the sender wants a receipt.
type Notify uint8

// The outcomes.
const (
	NotifySuccess Notify = 1 << iota
	NotifyFailure
	NotifyProgress // intermediate notifications
	NotifySent     // a receipt is wanted when an SMSC has accepted the message; SMSCs are not asked for such receipts
)

// A Flags is a set of properties of a message, as bits.
type Flags uint8

// The flags.
const (
	HasHeader        Flags = 1 << iota // the text begins with a user data header (3GPP TS 23.040 §9.2.3.24)
	ReplyPath                          // the recipient may reply by the same SMSC (§9.2.3.17)
	RelativeValidity                   // the sender gave the validity as a duration
	Scheduled                          // the message waits for DeliverAt, and is counted as scheduled
	Settled                            // the message has its outcome, but is still in a queue
	HasReport                          // the message is a receipt whose text is a Report
	// the text was converted to another alphabet, so the coding in the native part no longer matches the text
	Converted
	// the message counts as a receipt only if its message is known: only its text looks like a receipt, and a person may have
	// written it
	ByText
)

// A Protocol is the protocol of the native part of a message. The numbers are part of
// stored messages, so their meaning never changes. Package protocols lists them.
type Protocol uint8

// An Origin is the account and the connector that messages come from. All messages of a pair share one Origin.
type Origin struct {
	Account   string // system_id of the client; empty for an SMSC
	Connector string // the connector that the messages arrived on
	Tally     *Tally // counters of the account, for all connectors
	// Parameters are the parameters of SMPP that are added to the account's messages; nil: none. All origins
	// of the account share them.
	Parameters *Parameters
}

// IsClient reports whether the messages come from a client, not from an SMSC.
func (o *Origin) IsClient() bool { return o.Account != "" }

// Parameters are optional parameters of SMPP, in wire format. They may be replaced while others read them.
type Parameters struct{ octets atomic.Pointer[[]byte] }

// Set replaces the parameters.
func (p *Parameters) Set(octets []byte) { p.octets.Store(&octets) }

// Added returns the octets of the parameters that are added to the messages, nil if there are none.
func (o *Origin) Added() []byte {
	if o == nil || o.Parameters == nil {
		return nil
	}
	if octets := o.Parameters.octets.Load(); octets != nil {
		return *octets
	}
	return nil
}

// A Message is one SMS on its way through the gateway, whatever protocol it came by. Times
// are Unix nanoseconds. A Message has its own storage for its octets, so that it outlives
// the PDU it came in.
type Message struct {
	ID        uint64 // id assigned by the gateway, unique across restarts and ascending in order of arrival
	Origin    *Origin
	Arrived   int64
	DeliverAt int64 // the sender's delivery time; 0 means immediately
	NotBefore int64 // the time of the gateway's next attempt at the earliest; 0 means immediately
	Expires   int64 // the message is not sent after this time; 0: the message never expires

	pool  *Pool
	spill *[]byte // the octets, if inline has no room for them; otherwise nil or empty

	text, native uint32 // lengths of parts of the octets, which are in this order: source, dest, text, native, tail
	Network      Network
	Claim        uint32 // reservations of the account's policies (duplicates, flood) until the message is accepted; 0: none
	source, dest uint8

	// A client's PDU may become several messages, whose ids follow each other.
	Offset      uint16 // the client knows the message by the id ID - Offset
	Part, Parts uint8  // with Parts > 1, the message is part number Part, from 0, of a long message that the gateway split

	Tried   uint16 // bits of the positions of the route's targets that have already failed to accept the message
	TriedOf uint16 // route to which the bits of Tried belong

	SourceTON, SourceNPI uint8
	DestTON, DestNPI     uint8
	Kind                 Kind
	Priority             uint8 // 0 lowest
	PID                  uint8 // protocol identifier (3GPP TS 23.040 §9.2.3.9)
	Alphabet             Alphabet
	Class                Class
	Notify               Notify
	Flags                Flags
	Attempts             uint8    // attempts that failed because of the message itself
	Earlier              uint8    // earlier attempts, at the targets of Tried
	Losses               uint8    // number of times that the session ended before an answer came
	Throttles            uint8    // consecutive times that the peer has throttled the message
	Sends                uint8    // number of times that the message was written to a peer, whatever the outcome
	protocol             Protocol // protocol, and the flags of the tail

	inline [inlineSize]byte
}

// inlineSize is enough for a usual message with a short text, which then needs no further storage. It makes a Message fill one
// of the allocator's sizes (224 octets).
const inlineSize = 117

// keepSpill is the largest storage that a released message keeps for its next use.
const keepSpill = 4096

// maxAddress is the length to which addresses are cut.
const maxAddress = 255

// Set copies the addresses and the text into the message's own storage. It removes the
// native part.
func (m *Message) Set(source, dest Address, text []byte) {
	tail := m.cutTail()
	m.SourceTON, m.SourceNPI = source.TON, source.NPI
	m.DestTON, m.DestNPI = dest.TON, dest.NPI
	src, dst := source.Addr[:min(len(source.Addr), maxAddress)], dest.Addr[:min(len(dest.Addr), maxAddress)]
	m.source, m.dest, m.text, m.native, m.protocol = uint8(len(src)), uint8(len(dst)), uint32(len(text)), 0, 0
	b := m.room(len(src) + len(dst) + len(text))
	n := copy(b, src)
	n += copy(b[n:], dst)
	copy(b[n:], text)
	m.putTail(tail)
}

// SetNative sets the protocol by which the message came, and copies the native part, which only a peer of the
// same protocol understands; most messages have no native part. It must be called after Set.
func (m *Message) SetNative(p Protocol, native []byte) {
	tail := m.cutTail()
	at := m.nativeAt()
	old := m.octets()
	b := m.room(at + len(native))
	if len(old) > 0 && &b[0] != &old[0] {
		copy(b, old[:at])
	}
	copy(b[at:], native)
	m.protocol, m.native = p, uint32(len(native))
	m.putTail(tail)
}

// room returns storage for n octets. If it is the same storage as before, it still holds
// the old octets.
func (m *Message) room(n int) []byte {
	if n <= inlineSize && !m.isSpilled() {
		return m.inline[:n]
	}
	if m.spill == nil {
		m.spill = new([]byte)
	}
	if cap(*m.spill) < n {
		*m.spill = make([]byte, n)
	}
	*m.spill = (*m.spill)[:n]
	return *m.spill
}

func (m *Message) isSpilled() bool { return m.spill != nil && len(*m.spill) > 0 }

func (m *Message) octets() []byte {
	if m.isSpilled() {
		return *m.spill
	}
	return m.inline[:m.tailAt()+m.tailLen()]
}

func (m *Message) textAt() int   { return int(m.source) + int(m.dest) }
func (m *Message) nativeAt() int { return m.textAt() + int(m.text) }

// Source returns the sender. Its octets are valid as long as the message.
func (m *Message) Source() Address {
	return Address{m.SourceTON, m.SourceNPI, part(m.octets(), 0, int(m.source))}
}

// Dest returns the recipient. Its octets are valid as long as the message.
func (m *Message) Dest() Address {
	return Address{m.DestTON, m.DestNPI, part(m.octets(), int(m.source), m.textAt())}
}

// Text returns the user data, including its header if Flags has HasHeader.
func (m *Message) Text() []byte { return part(m.octets(), m.textAt(), m.nativeAt()) }

// SetText replaces the text, which must not be the message's own. The addresses and the
// native part stay.
func (m *Message) SetText(text []byte) {
	tail := m.cutTail()
	from, size := m.nativeAt(), int(m.native)
	old := m.octets()
	m.text = uint32(len(text))
	at := m.nativeAt()
	b := m.room(at + size)
	copy(b[at:], old[from:from+size]) // copied first, because a longer text would overwrite the octets
	if len(old) > 0 && &b[0] != &old[0] {
		copy(b, old[:m.textAt()])
	}
	copy(b[m.textAt():], text)
	m.putTail(tail)
}

// Native returns the native part for the protocol, or nil if there is none.
func (m *Message) Native(p Protocol) []byte {
	if m.Protocol() != p {
		return nil
	}
	return part(m.octets(), m.nativeAt(), m.nativeAt()+int(m.native))
}

// Protocol returns the protocol by which the message came, 0 if it came by no protocol or an unknown one.
func (m *Message) Protocol() Protocol { return m.protocol &^ inTail }

// NativePart returns the native part, and the protocol to which the part belongs.
func (m *Message) NativePart() (Protocol, []byte) { return m.Protocol(), m.Native(m.Protocol()) }

func part(b []byte, from, to int) []byte {
	if from == to {
		return nil
	}
	return b[from:to:to]
}

// Due returns the time from which the message may leave: the time of its arrival, or a
// later one that its sender or the gateway has set.
func (m *Message) Due() int64 { return max(m.Arrived, m.DeliverAt, m.NotBefore) }

// Earlier returns the earlier of two times, where 0 means never.
func Earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// ForgetAttempts resets the attempts of the message. Sends, the number of writes, is not reset.
func (m *Message) ForgetAttempts() {
	m.Attempts, m.Earlier, m.Losses, m.Throttles, m.NotBefore = 0, 0, 0, 0, 0
	m.Tried, m.TriedOf = 0, 0
}

// Account returns the system_id of the client that submitted the message, or "" for a
// message from an SMSC.
func (m *Message) Account() string {
	if m.Origin == nil {
		return ""
	}
	return m.Origin.Account
}

// IsReply reports whether the message is the gateway's own reply to a mobile, which no client has submitted. It leaves by the
// connector of its origin.
func IsReply(m *Message) bool {
	return m.Kind == Submit && m.Origin != nil && !m.Origin.IsClient()
}

const (
	messageSize = int64(unsafe.Sizeof(Message{})) // without spill
	spillSize   = int64(unsafe.Sizeof([]byte{}))  // size of the header of a slice
)

// KnownID returns the id by which the client knows the message.
func (m *Message) KnownID() uint64 { return m.ID - uint64(m.Offset) }

// WholeID returns an id that all parts of the same long message have in common.
func (m *Message) WholeID() uint64 { return m.ID - uint64(m.Part) }

// Size returns the memory of the message in octets.
func (m *Message) Size() int64 {
	if m.spill == nil {
		return messageSize
	}
	return messageSize + spillSize + int64(cap(*m.spill))
}

// maxPart is the maximum number of octets in the text of a part, with its header: one for each septet.
const maxPart = 160

// SizeInParts returns the maximum memory, in octets, of the parts in which the message will be sent.
func (m *Message) SizeInParts() int64 {
	if m.Parts < 2 {
		return m.Size()
	}
	return int64(m.Parts) * (messageSize + spillSize + int64(len(m.octets())-int(m.text)) + maxPart)
}

// Release returns the message to its pool. The caller must not use the message afterwards.
func (m *Message) Release() {
	if p := m.pool; p != nil {
		p.put(m)
	}
}

// A Pool recycles messages. It is safe for concurrent use.
type Pool struct {
	p     sync.Pool
	Fresh bool // every message is new, so that its size does not depend on earlier messages; set Fresh before Get
}

// Get returns an empty message.
func (p *Pool) Get() *Message {
	m, ok := p.p.Get().(*Message)
	if !ok {
		return &Message{pool: p}
	}
	spill := m.spill
	if spill != nil {
		*spill = (*spill)[:0]
	}
	*m = Message{spill: spill, pool: p}
	return m
}

func (p *Pool) put(m *Message) {
	if m.spill != nil && cap(*m.spill) > keepSpill {
		m.spill = nil
	}
	m.pool = nil // a message that is released twice must not get two owners
	if !p.Fresh {
		p.p.Put(m)
	}
}
