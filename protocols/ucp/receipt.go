package ucp

import (
	"bytes"

	"pmg/protocols"
	"pmg/sms"
)

// receipt makes a receipt of a notification. The SMSC's text for people is stored in the native part.
func (s *session) receipt(p *PDU, m *sms.Message) {
	b := &p.SM
	dst := byte(0)
	if b.Dst.n == 1 {
		dst = p.text[b.Dst.at]
	}
	rsn := p.get(b.Rsn)
	r := sms.Report{State: stateOf(dst, digits(rsn))}
	r.ID, r.TextID = s.notifiedIDs(p)
	r.Submitted, _ = parseTime(p.get(b.SCTS), s.zone)
	r.Done, _ = parseTime(p.get(b.DSCTS), s.zone)
	if n := digits(rsn); n >= 0 && n <= maxReason && dst != dstDelivered {
		r.Err, r.Network, r.NetworkError = rsn, networkSMSC, uint16(n)
	}
	m.SetReport(s.originator(p), s.number(p.get(b.AdC)), &r)
	s.setNative(p, m, true)
}

// notifiedIDs returns the id of the message in a notification: the recipient and the SCTS, as the SMSC wrote it, and with the
// recipient in its other form. An SMSC may accept 0046700000001 and notify of 46700000001, or the other way round.
func (s *session) notifiedIDs(p *PDU) (id, other []byte) {
	oadc, prefix := p.get(p.SM.OAdC), s.options.InternationalPrefix
	id = p.notifiedID("", oadc)
	if rest, ok := bytes.CutPrefix(oadc, []byte(prefix)); prefix != "" && ok {
		return id, p.notifiedID("", rest)
	}
	return id, p.notifiedID(prefix, oadc)
}

// notifiedID returns an id in p's own storage.
func (p *PDU) notifiedID(prefix string, recipient []byte) []byte {
	at := len(p.buf)
	p.buf = append(append(append(p.buf, prefix...), recipient...), ':')
	p.buf = append(p.buf, p.get(p.SM.SCTS)...)
	return p.buf[at:]
}

// putReceipt fills in a notification. The peer identifies the message by its recipient and the SCTS of our result.
func (s *session) putReceipt(now int64, p *PDU, m *sms.Message) {
	b := &p.SM
	r, ok := m.Report()
	if !ok {
		r.State = sms.StateUnknown
	}
	native := m.Native(protocols.UCP)
	if r.Known != 0 {
		native = nil // the text contains the SCTS of the SMSC
	}
	p.putNative(native)
	at := len(p.buf)
	switch id := idStamp(r.ID); {
	case r.Known != 0:
		p.buf = appendStamp(p.buf, r.Known)
	case id != nil:
		p.buf = append(p.buf, id...)
	default:
		p.buf = appendTime(p.buf, min(orNow(r.Submitted, now), lastTime), s.zone, secondLen)
	}
	p.end(&b.SCTS, at)
	dst, rsn := dstOf(r.State), reasonOf(&r)
	p.put(&b.Dst, []byte{dst})
	p.put(&b.Rsn, []byte{'0' + byte(rsn/100), '0' + byte(rsn/10%10), '0' + byte(rsn%10)})
	s.putTime(p, &b.DSCTS, orNow(r.Done, now), secondLen)
	p.put(&b.MT, []byte{'3'})
	if b.Msg.n == 0 && native == nil {
		p.putNotice(dst, rsn)
	}
}

// idStamp returns the SCTS at the end of an SMSC's id, or nil if it has none.
func idStamp(id []byte) []byte {
	if n := bytes.LastIndexByte(id, ':'); n >= 0 && len(id)-n-1 == secondLen && isDigits(id[n+1:]) {
		return id[n+1:]
	}
	return nil
}

// orNow returns a time, or now if the time is unknown.
func orNow(at, now int64) int64 {
	if at == 0 {
		return now
	}
	return at
}

// putNotice fills in the text of a notification for people, in the words of the specification. It uses only characters that
// ASCII and the GSM alphabet have in common.
func (p *PDU) putNotice(dst byte, rsn int) {
	b := &p.SM
	var room [256]byte
	t := append(room[:0], "Message for "...)
	t = append(append(t, p.get(b.OAdC)...), ", with identification "...)
	t = appendReversed(t, p.get(b.SCTS))
	switch dst {
	case dstDelivered:
		t = appendDay(append(t, " has been delivered on "...), p.get(b.DSCTS))
	case dstBuffered:
		t = append(t, " has been buffered"...)
	default:
		t = append(t, " could not be delivered"...)
		if why := findReason(rsn); why != nil {
			t = append(append(t, " because of "...), why.Text...)
		}
	}
	at := len(p.buf)
	p.buf = appendHex(p.buf, t)
	p.end(&b.Msg, at)
}

// appendReversed appends a DDMMYYHHmmss as YYMMDDHHmmss.
func appendReversed(b, t []byte) []byte {
	b = append(append(append(b, t[4:6]...), t[2:4]...), t[:2]...)
	return append(b, t[6:]...)
}

// appendDay appends a DDMMYYHHmmss as 20YY-MM-DD at HH:mm:ss.
func appendDay(b, t []byte) []byte {
	b = append(append(append(append(b, "20"...), t[4:6]...), '-'), t[2:4]...)
	b = append(append(append(b, '-'), t[:2]...), " at "...)
	return append(append(append(append(append(b, t[6:8]...), ':'), t[8:10]...), ':'), t[10:]...)
}
