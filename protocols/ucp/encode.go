package ucp

import (
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// Encode implements protocols.Session. DD stays empty, because the gateway itself waits for the delivery time. If a text is
// too long for an operation, the text and the recipient are omitted, so that the peer refuses the message and does not deliver
// a shortened text.
func (s *session) Encode(now int64, pdu protocols.PDU, m *sms.Message, sequence uint32) {
	p := pdu.(*PDU)
	p.Reset()
	p.SM = SM{}
	p.TRN = uint8(sequence % trns)
	switch {
	case s.o.Role == protocols.Client:
		p.OT = Submit
	case m.Kind == sms.Receipt:
		p.OT = Notify
	default:
		p.OT = Deliver
	}
	s.ours.asks(uint32(p.TRN), p.OT)
	if p.OT == Notify {
		s.putParties(p, m)
		s.putReceipt(now, p, m)
		return
	}
	s.putNumber(p, &p.SM.AdC, m.Dest())
	s.putOriginator(p, m.Source())
	xser := p.putNative(m.Native(protocols.UCP))
	if p.OT == Deliver && p.SM.SCTS.n == 0 {
		s.putTime(p, &p.SM.SCTS, now, secondLen)
	}
	if p.OT == Submit {
		s.putSubmit(p, m)
	}
	if m.PID != 0 {
		at := len(p.buf)
		p.buf = append(appendTwo(p.buf, m.PID/100), '0'+m.PID/10%10, '0'+m.PID%10)
		p.end(&p.SM.RPID, at)
	}
	if m.Flags&sms.ReplyPath != 0 {
		p.put(&p.SM.RPI, []byte{replyRequested})
	}
	if !p.putText(m, xser, s.options.AlwaysDCS) {
		p.SM.AdC, p.SM.Msg, p.SM.XSer = Field{}, Field{}, Field{}
	}
}

// putSubmit fills in the fields that only an operation 51 has.
func (s *session) putSubmit(p *PDU, m *sms.Message) {
	if m.Notify != 0 {
		p.put(&p.SM.NRq, []byte{'1'})
		at := len(p.buf)
		p.buf = appendNT(p.buf, m.Notify)
		p.end(&p.SM.NT, at)
	}
	if m.Expires != 0 {
		s.putTime(p, &p.SM.VP, m.Expires+int64(time.Minute)-1, minuteLen) // rounded up: a validity that is over would be refused
	}
	if m.Priority > 0 && s.options.Priority {
		p.put(&p.SM.PR, []byte{'1'})
	}
}

func (s *session) putTime(p *PDU, f *Field, at int64, length int) {
	from := len(p.buf)
	p.buf = appendTime(p.buf, min(at, lastTime), s.zone, length)
	p.end(f, from)
}

// ownServices is the number of digits in XSer 01 and 02, without the octets of the header.
const ownServices = 4 + 6

// putText fills in the text of a message and its coding: MT, NB, Msg, MCLs and XSer. xser is the rest of the message's XSer.
// With always, XSer always has the coding. putText reports false if the text is too long.
func (p *PDU) putText(m *sms.Message, xser []byte, always bool) bool {
	text := m.Text()
	var header []byte
	if m.Flags&sms.HasHeader != 0 && len(text) > 0 && int(text[0]) < len(text) {
		header, text = text[:1+int(text[0])], text[1+int(text[0]):]
	}
	if 2*len(text) > maxMsg || len(xser)+ownServices+2*len(header) > maxXSer {
		return false
	}
	alphabet, ok := p.putMsg(m, text)
	if !ok {
		return false
	}
	at := len(p.buf)
	if len(header) > 0 {
		p.buf = appendXSer(p.buf, xserHeader, header)
	}
	scheme, said := dcsIn(xser)
	if m.Flags&sms.Converted != 0 {
		said = false // the scheme does not match the text any more
	}
	_, named := codingOf(scheme) // MCLs has the class if the scheme has none
	dcs, needed := dcsOf(alphabet, m.Class)
	if needed = needed || always; needed && !said {
		p.buf = appendXSer(p.buf, xserDCS, []byte{dcs})
	}
	if m.Flags&sms.Converted != 0 {
		p.buf = appendWithout(p.buf, xser, xserDCS)
	} else {
		p.buf = append(p.buf, xser...)
	}
	p.end(&p.SM.XSer, at)
	if m.Class != sms.NoClass && (!needed && !said || said && named == sms.NoClass) {
		p.put(&p.SM.MCLs, []byte{'0' + byte(m.Class-sms.Class0)})
	}
	return true
}

// putMsg fills in MT, NB and Msg, and returns the alphabet of the text on the wire.
func (p *PDU) putMsg(m *sms.Message, text []byte) (sms.Alphabet, bool) {
	alphabet := m.Alphabet
	if alphabet.IsDefault() {
		alphabet = sms.Default
	}
	if alphabet == sms.Default && p.SM.MT.n > 0 && isDigits(text) { // the message arrived as a numeric text
		p.put(&p.SM.Msg, text)
		return alphabet, len(text) <= maxMsg
	}
	at := len(p.buf)
	p.buf = appendHex(p.buf, text)
	n := len(p.buf) - at
	if n > maxMsg {
		return alphabet, false
	}
	p.end(&p.SM.Msg, at)
	if alphabet == sms.Default {
		p.put(&p.SM.MT, []byte{'3'})
		return alphabet, true
	}
	p.put(&p.SM.MT, []byte{'4'})
	at = len(p.buf)
	bits := 4 * n
	p.buf = appendTwo(appendTwo(p.buf, uint8(bits/100)), uint8(bits%100))
	p.end(&p.SM.NB, at)
	return alphabet, true
}
