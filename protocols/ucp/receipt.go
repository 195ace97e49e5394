package ucp

import (
	"bytes"
	"strconv"

	"pmg/protocols"
	"pmg/sms"
)

// receipt makes a message of a notification. Its text is that of a receipt as clients
// of SMPP know it (SMPP 3.4, appendix B); what the notification said besides is in the
// native part.
func (s *session) receipt(p *PDU, m *sms.Message) {
	b := &p.SM
	dst := byte(dstNotDelivered)
	if b.Dst.n == 1 {
		dst = p.text[b.Dst.at]
	}
	rsn := max(digits(p.get(b.Rsn)), 0)
	stat := stateOf(dst, rsn)
	reached := byte('0')
	if stat == delivered {
		reached, rsn = '1', 0
	}
	at := len(p.buf)
	t := append(p.buf, "id:"...)
	t = append(append(append(t, p.get(b.OAdC)...), ':'), p.get(b.SCTS)...)
	t = append(append(t, " sub:001 dlvrd:00"...), reached)
	t = appendReversed(append(t, " submit date:"...), p.get(b.SCTS))
	t = appendReversed(append(t, " done date:"...), p.get(b.DSCTS))
	t = append(append(t, " stat:"...), stat...)
	t = append(t, " err:"...)
	t = append(t, '0'+byte(rsn/100%10), '0'+byte(rsn/10%10), '0'+byte(rsn%10))
	p.buf = append(t, " text:"...)
	text := p.buf[at:]
	m.Set(s.originator(p), s.number(p.get(b.AdC)), text)
	s.setNative(p, m, true)
}

// appendReversed appends DDMMYYHHmm of a time as YYMMDDHHmm, or the other way round.
func appendReversed(b, t []byte) []byte {
	if len(t) < minuteLen || !isDigits(t) {
		return b
	}
	b = append(append(append(b, t[4:6]...), t[2:4]...), t[:2]...)
	return append(b, t[6:minuteLen]...)
}

// putReceipt fills in a notification. A receipt from UCP has its fields in the native
// part; of another its text says what can be said.
func (s *session) putReceipt(now int64, p *PDU, m *sms.Message) {
	native := m.Native(protocols.UCP)
	p.putNative(native)
	b := &p.SM
	if native == nil {
		text := m.Text()
		if r, ok := m.Report(); ok {
			text = r.Original
		}
		s.putOutcome(now, p, text)
		at := len(p.buf)
		p.buf = appendHex(p.buf, text[:min(len(text), maxMsg/2)])
		p.end(&b.Msg, at)
	}
	p.put(&b.MT, []byte{'3'})
	for _, f := range []*Field{&b.SCTS, &b.DSCTS} {
		if f.n == 0 {
			s.putTime(p, f, now, secondLen)
		}
	}
}

// putOutcome reads the text of a receipt.
func (s *session) putOutcome(now int64, p *PDU, text []byte) {
	b := &p.SM
	id := word(text, "id:")
	switch n := bytes.LastIndexByte(id, ':'); {
	case n >= 0 && len(id)-n-1 == secondLen && isDigits(id[n+1:]):
		p.put(&b.SCTS, id[n+1:])
	case len(id) == sms.IDLen:
		if ours, err := strconv.ParseUint(string(id), 16, 64); err == nil {
			at := len(p.buf)
			p.buf = appendStamp(p.buf, ours)
			p.end(&b.SCTS, at)
		}
	}
	dst := dstOf(word(text, "stat:"))
	p.put(&b.Dst, []byte{dst})
	rsn := reasonFailed
	if dst != dstNotDelivered {
		rsn = 0
	}
	if n := digits(word(text, "err:")); n > 0 && n <= 255 && dst == dstNotDelivered {
		rsn = n
	}
	p.put(&b.Rsn, []byte{'0' + byte(rsn/100), '0' + byte(rsn/10%10), '0' + byte(rsn%10)})
	if done := word(text, "done date:"); len(done) >= minuteLen && isDigits(done) {
		at := len(p.buf)
		p.buf = append(appendReversed(p.buf, done), "00"...)
		if len(done) == secondLen {
			copy(p.buf[len(p.buf)-2:], done[minuteLen:])
		}
		p.end(&b.DSCTS, at)
	}
}

// word returns what stands behind a name in the text of a receipt, up to the next space.
func word(text []byte, name string) []byte {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(name))
		if i < 0 {
			return nil
		}
		from := at + i + len(name)
		if at+i == 0 || text[at+i-1] == ' ' {
			v, _, _ := bytes.Cut(text[from:], []byte{' '})
			return v
		}
		at = from
	}
}
