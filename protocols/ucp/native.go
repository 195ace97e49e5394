package ucp

import (
	"encoding/binary"

	"pmg/protocols"
	"pmg/sms"
)

// The native part of a message from UCP contains the fields that sms.Message lacks. Most messages have none. It is a list of
// fields, each with its number and length before its characters. The numbers are part of stored messages and never change.
//
//	+--------+--------+------------+
//	| number | length | characters |
//	| 1      | 2      |            |
//	+--------+--------+------------+
const (
	nativeMT = 1 + iota // MT of a numeric text
	nativeLRq
	nativeLRAd
	nativeLPID
	nativeMMS
	nativeDCs
	nativeRPI // RPI of a response
	nativeHPLMN
	nativeCPg
	nativeRPLy
	nativeRES4
	nativeRES5
	nativeXSer // extra services without those in sms.Message
	nativeSCTS
	_ // the next three are in a sms.Report
	_
	_
	nativeMsg // text of a notification
	nativeEnd
)

const nativeHead = 3

// A carried is a field in the native part, and the operations that it is written to.
type carried struct {
	number uint8
	in     ops
	field  func(m *SM) *Field
}

// ops is a set of the operations that carry outgoing messages, as bits.
type ops uint8

const (
	inSubmit ops = 1 << iota
	inDeliver
	inNotify
	inAll = inSubmit | inDeliver | inNotify
)

// opsOf returns the bit of an operation, and 0 for an operation without outgoing messages.
func opsOf(ot uint8) ops {
	switch ot {
	case Submit:
		return inSubmit
	case Deliver:
		return inDeliver
	case Notify:
		return inNotify
	}
	return 0
}

// carriedFields lists the fields that are passed on unchanged. AC is not among them, because it is meant for the SMSC that the
// client sent it to. NAdC and NPID are not either, because notifications must come to the gateway.
var carriedFields = [...]carried{
	{nativeLRq, inSubmit, func(m *SM) *Field { return &m.LRq }},
	{nativeLRAd, inSubmit, func(m *SM) *Field { return &m.LRAd }},
	{nativeLPID, inSubmit, func(m *SM) *Field { return &m.LPID }},
	{nativeMMS, inAll, func(m *SM) *Field { return &m.MMS }},
	{nativeDCs, inSubmit | inDeliver, func(m *SM) *Field { return &m.DCs }},
	{nativeHPLMN, inDeliver | inNotify, func(m *SM) *Field { return &m.HPLMN }},
	{nativeCPg, inAll, func(m *SM) *Field { return &m.CPg }},
	{nativeRPLy, inAll, func(m *SM) *Field { return &m.RPLy }},
	{nativeRES4, inAll, func(m *SM) *Field { return &m.RES4 }},
	{nativeRES5, inAll, func(m *SM) *Field { return &m.RES5 }},
	{nativeSCTS, inDeliver, func(m *SM) *Field { return &m.SCTS }},
}

// setNative stores the fields that sms.Message lacks, if there are any, in the native part. exact means that the coding was
// completely expressed by the message's alphabet and class.
func (s *session) setNative(p *PDU, m *sms.Message, exact bool) {
	at := len(p.buf)
	b := &p.SM
	for i := range carriedFields {
		c := &carriedFields[i]
		p.buf = appendNative(p.buf, c.number, p.get(*c.field(b)))
	}
	if p.isType('2') && p.OT != Transfer {
		p.buf = appendNative(p.buf, nativeMT, []byte{'2'})
	}
	if m.Flags&sms.ReplyPath == 0 {
		p.buf = appendNative(p.buf, nativeRPI, p.get(b.RPI))
	}
	if m.Kind == sms.Receipt {
		p.buf = appendNative(p.buf, nativeMsg, p.get(b.Msg))
	}
	s.appendServices(p, exact)
	m.SetNative(protocols.UCP, p.buf[at:])
}

// appendServices appends the extra services that sms.Message does not contain.
func (s *session) appendServices(p *PDU, exact bool) {
	at := len(p.buf)
	p.buf = append(p.buf, nativeXSer, 0, 0)
	for x := p.get(p.SM.XSer); len(x) > 0; {
		number, _, rest, ok := cutXSer(x)
		if !ok {
			break
		}
		if number != xserHeader && (number != xserDCS || !exact) {
			p.buf = append(p.buf, x[:len(x)-len(rest)]...)
		}
		x = rest
	}
	n := len(p.buf) - at - nativeHead
	if n == 0 {
		p.buf = p.buf[:at]
		return
	}
	binary.BigEndian.PutUint16(p.buf[at+1:], uint16(n))
}

// appendNative appends a field of the native part, unless it is empty.
func appendNative(b []byte, number uint8, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	b = binary.BigEndian.AppendUint16(append(b, number), uint16(len(v)))
	return append(b, v...)
}

// cutNative cuts the first field off a native part. It reports false at its end.
func cutNative(b []byte) (number uint8, v, rest []byte, ok bool) {
	if len(b) < nativeHead {
		return 0, nil, nil, false
	}
	n := nativeHead + int(binary.BigEndian.Uint16(b[1:]))
	if n > len(b) {
		return 0, nil, nil, false
	}
	return b[0], b[nativeHead:n], b[n:], true
}

// putNative writes the fields of a native part that the operation has. It returns the extra services among them, as digits.
func (p *PDU) putNative(native []byte) (xser []byte) {
	to := opsOf(p.OT)
	for {
		number, v, rest, ok := cutNative(native)
		if !ok {
			return xser
		}
		native = rest
		switch number {
		case nativeXSer:
			xser = v
		case nativeRPI:
			p.put(&p.SM.RPI, v)
		case nativeMT:
			p.put(&p.SM.MT, v)
		case nativeMsg:
			p.put(&p.SM.Msg, v)
		}
		for i := range carriedFields {
			if c := &carriedFields[i]; c.number == number && c.in&to != 0 {
				p.put(c.field(&p.SM), v)
			}
		}
	}
}
