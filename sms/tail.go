package sms

import (
	"encoding/binary"
	"slices"
)

// The tail of a message contains data that few messages have: what the client has submitted, the tags, and
// the price, in this order. Each part follows its length, which has two octets. Flags in the message's
// protocol show which parts exist.
const (
	hasSubmitted Protocol = 0x80
	hasTags      Protocol = 0x40
	hasPrice     Protocol = 0x20
	inTail                = hasSubmitted | hasTags | hasPrice
)

// LastProtocol is the highest number that a protocol may have.
const LastProtocol = hasPrice - 1

// A tail is a tail that was cut off a message.
type tail struct {
	octets []byte
	has    Protocol
}

func (m *Message) tailAt() int { return m.nativeAt() + int(m.native) }

// storageOf returns the octets of a message and the storage behind them.
func storageOf(m *Message) []byte {
	if m.isSpilled() {
		return *m.spill
	}
	return m.inline[:]
}

// tailLen returns the length of the tail in octets, including the lengths of its parts.
func (m *Message) tailLen() (n int) {
	if m.protocol&inTail == 0 {
		return 0
	}
	for part := hasSubmitted; part >= hasPrice; part >>= 1 {
		if m.protocol&part != 0 {
			n += 2 + int(binary.BigEndian.Uint16(storageOf(m)[m.tailAt()+n:]))
		}
	}
	return n
}

// tail returns a copy of the message's tail.
func (m *Message) tail() tail {
	if m.protocol&inTail == 0 {
		return tail{}
	}
	return tail{slices.Clone(m.octets()[m.tailAt():]), m.protocol & inTail}
}

// cutTail removes and returns the tail, so that the octets before it can change.
func (m *Message) cutTail() tail {
	t := m.tail()
	if m.protocol &^= inTail; t.has != 0 && m.isSpilled() {
		*m.spill = (*m.spill)[:m.tailAt()]
	}
	return t
}

// putTail appends the tail again.
func (m *Message) putTail(t tail) {
	if t.has == 0 {
		return
	}
	at := m.tailAt()
	old := m.octets()
	b := m.room(at + len(t.octets))
	if len(old) > 0 && &b[0] != &old[0] {
		copy(b, old[:at])
	}
	copy(b[at:], t.octets)
	m.protocol |= t.has
}

// partOf returns a part of a message's tail, nil if the tail lacks it.
func partOf(m *Message, wanted Protocol) []byte {
	if m.protocol&wanted == 0 {
		return nil
	}
	at := m.tailAt()
	for part := hasSubmitted; ; part >>= 1 {
		if m.protocol&part == 0 {
			continue
		}
		end := at + 2 + int(binary.BigEndian.Uint16(storageOf(m)[at:]))
		if part == wanted {
			return m.octets()[at+2 : end : end]
		}
		at = end
	}
}

// setPart sets a part of a message's tail, or removes the part if b is empty. A part that is too long is not stored.
func setPart(m *Message, wanted Protocol, b []byte) {
	var t tail
	for part := hasSubmitted; part >= hasPrice; part >>= 1 {
		octets := partOf(m, part)
		if part == wanted {
			octets = b
		}
		if len(octets) > 0 && len(octets) <= 0xFFFF {
			t.octets = append(binary.BigEndian.AppendUint16(t.octets, uint16(len(octets))), octets...)
			t.has |= part
		}
	}
	m.cutTail()
	m.putTail(t)
}
