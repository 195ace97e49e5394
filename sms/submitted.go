package sms

import (
	"bytes"
	"encoding/binary"
)

// A Submitted is the client's view of a message that the gateway has changed since it was submitted. Receipts are made from
// it.
type Submitted struct {
	Source, Dest Address // addresses as the client wrote them

	// Joined are the client's messages that ask for receipts and were joined into the message. If there are
	// any, the message's own id and Notify do not count.
	Joined []Joined
}

// A Joined is a message of a client that has become part of another message.
type Joined struct {
	ID     uint64 // id of the message, as the client knows it
	Notify Notify
}

// Submitted returns the client's view of the message. It reports false if the message is unchanged. The slices are valid as
// long as the message does not change.
func (m *Message) Submitted() (s Submitted, ok bool) { return ReadSubmitted(m.SubmittedOctets()) }

// SetSubmitted sets the client's view of the message.
func (m *Message) SetSubmitted(s *Submitted) { m.SetSubmittedOctets(s.Append(nil)) }

// KeepAddresses records the message's addresses as those that the client wrote, unless the new addresses are the same.
func (m *Message) KeepAddresses(source, dest Address) {
	if from, to := m.Source(), m.Dest(); !from.equal(source) || !to.equal(dest) {
		m.SetSubmitted(&Submitted{Source: from, Dest: to})
	}
}

func (a Address) equal(b Address) bool {
	return a.TON == b.TON && a.NPI == b.NPI && bytes.Equal(a.Addr, b.Addr)
}

// SubmittedOctets returns the octets for SetSubmittedOctets of another message, or for ReadSubmitted; nil if
// there are none. The octets are stored, so that their form never changes:
//
//	+------------+----------------+------------+--------------+------------------+
//	| type, plan | length, source | type, plan | length, dest | n × (id, notify) |
//	| 2          | 1 + n          | 2          | 1 + n        | n × (8 + 1)      |
//	+------------+----------------+------------+--------------+------------------+
func (m *Message) SubmittedOctets() []byte { return partOf(m, hasSubmitted) }

// SetSubmittedOctets sets the client's view of the message; empty: the message is unchanged.
func (m *Message) SetSubmittedOctets(b []byte) { setPart(m, hasSubmitted, b) }

const joinedLen = 9

// Append appends the form that ReadSubmitted reads.
func (s *Submitted) Append(b []byte) []byte {
	for _, a := range [...]Address{s.Source, s.Dest} {
		n := min(len(a.Addr), maxAddress)
		b = append(append(b, a.TON, a.NPI, uint8(n)), a.Addr[:n]...)
	}
	for _, j := range s.Joined {
		b = append(binary.BigEndian.AppendUint64(b, j.ID), uint8(j.Notify))
	}
	return b
}

// ReadSubmitted reads the output of SubmittedOctets. Slices are parts of b.
func ReadSubmitted(b []byte) (s Submitted, ok bool) {
	for _, a := range [...]*Address{&s.Source, &s.Dest} {
		if len(b) < 3 || len(b) < 3+int(b[2]) {
			return Submitted{}, false
		}
		n := 3 + int(b[2])
		*a = Address{TON: b[0], NPI: b[1], Addr: part(b, 3, n)}
		b = b[n:]
	}
	for ; len(b) >= joinedLen; b = b[joinedLen:] {
		s.Joined = append(s.Joined, Joined{binary.BigEndian.Uint64(b), Notify(b[8])})
	}
	return s, len(b) == 0
}
