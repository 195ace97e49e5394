package smpp

import (
	"encoding/binary"

	"pmg/sms"
	"pmg/sms/userdata"
)

// Part implements protocols.PartNamer.
func (d *Driver) Part(m *sms.Message) (p userdata.Part, ok bool) {
	_, _, params := nativeOf(m)
	return partOf(params)
}

// partOf returns the part of a long message that optional parameters describe. They count only if all three are present.
func partOf(params []byte) (p userdata.Part, ok bool) {
	var found uint8
	for tag, v := range TLVs(params) {
		switch {
		case tag == tagSARReference && len(v) == 2:
			p.Reference = binary.BigEndian.Uint16(v)
			found |= 1
		case tag == tagSARTotal && len(v) == 1:
			p.Total = v[0]
			found |= 2
		case tag == tagSARNumber && len(v) == 1:
			p.Number = v[0]
			found |= 4
		}
	}
	p.Wide = p.Reference > 0xFF
	if found != 7 || !p.Valid() {
		return userdata.Part{}, false
	}
	return p, true
}

// sarTags are the optional parameters that together say which part a message is.
var sarTags = [...]uint16{tagSARReference, tagSARTotal, tagSARNumber}

// SetPart implements protocols.PartNamer.
func (d *Driver) SetPart(m *sms.Message, p userdata.Part) {
	b := nativeWithout(m, sarTags[:]...)
	if p != (userdata.Part{}) {
		b = AppendTLV(b, tagSARReference, []byte{byte(p.Reference >> 8), byte(p.Reference)})
		b = AppendTLV(b, tagSARTotal, []byte{p.Total})
		b = AppendTLV(b, tagSARNumber, []byte{p.Number})
	}
	putNative(m, b)
}

// putHeader puts a user data header that names the part of a long message before the text, for a
// peer that does not know optional parameters.
func (p *PDU) putHeader(part userdata.Part) {
	n := len(p.scratch)
	b, _ := userdata.AppendHeader(p.scratch, nil, part)
	p.scratch = append(b, p.SM.ShortMessage...)
	p.SM.ShortMessage = p.scratch[n:]
	p.SM.ESMClass |= ClassHeader
}

// HasRoom implements protocols.Limited: a peer of SMPP 3.3 does not know message_payload.
func (s *session) HasRoom(octets int) bool { return octets <= maxShort || s.optional() }
