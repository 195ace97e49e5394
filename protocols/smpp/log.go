package smpp

import (
	"encoding/hex"
	"fmt"
	"strconv"
)

// AppendLog implements protocols.PDU:
//
//	submit_sm seq=17 source_addr=46700000001 ... short_message="hello"
//	submit_sm_resp seq=17 status=0x58(ESME_RTHROTTLED)
//	submit_sm seq=17 malformed hex=0000... error="service_type does not end"
//
// A request's status is there only when it is not 0, as it should be.
func (p *PDU) AppendLog(b []byte, text bool) []byte {
	b = append(b, p.ID.String()...)
	b = append(b, " seq="...)
	b = strconv.AppendUint(b, uint64(p.SequenceNumber), 10)
	if p.ID.IsResponse() || p.CommandStatus != 0 {
		b = appendStatus(append(b, " status="...), p.CommandStatus)
	}
	if p.Err() != nil {
		return p.appendMalformed(b, text)
	}
	w := Walk{b: b, mode: show, text: text}
	p.fields(&w)
	return w.b
}

// appendStatus prints a number that a person would look up with its name.
func appendStatus(b []byte, status uint32) []byte {
	if status == 0 {
		return append(b, '0')
	}
	b = strconv.AppendUint(append(b, "0x"...), uint64(status), 16)
	if name := StatusName(status); name != "" {
		b = append(append(append(b, '('), name...), ')')
	}
	return b
}

// appendMalformed prints the octets of a PDU that cannot be read, unless they
// may hold a password or a text that is private.
func (p *PDU) appendMalformed(b []byte, text bool) []byte {
	b = append(b, " malformed"...)
	raw, err := p.raw(), p.Err()
	switch {
	case p.ID.IsBind(), p.ID == outbind, len(raw) == 0:
	case text || err.Lost:
		b = hex.AppendEncode(append(b, " hex="...), raw)
	default:
		b = strconv.AppendInt(append(b, " hex=*"...), int64(len(raw)), 10)
	}
	return appendQuoted(append(b, " error="...), []byte(err.Text))
}

// ParseLog reads what AppendLog printed. The fields may point into line.
func (p *PDU) ParseLog(line []byte) error {
	p.Reset()
	w := Walk{b: line, mode: scan, own: &p.own}
	name := w.word()
	known := string(name) == commands[0].name
	for _, c := range commands {
		if c.name == string(name) {
			p.ID, known = c.id, true
		}
	}
	if !known {
		return fmt.Errorf("cannot parse pdu: command %q is not known", name)
	}
	if w.take("seq") {
		p.SequenceNumber = uint32(w.number(32))
	}
	if w.take("status") {
		p.CommandStatus = uint32(w.number(32))
	}
	if w.spaces(); string(w.b) == "malformed" || len(w.b) > 10 && string(w.b[:10]) == "malformed " {
		w.word()
		p.scanMalformed(&w)
	} else {
		p.fields(&w)
	}
	if w.spaces(); len(w.b) > 0 {
		w.bad(string(w.b), "is not a field that can stand here")
	}
	if w.err != nil {
		return fmt.Errorf("cannot parse %s: %w", name, w.err)
	}
	return nil
}

// scanMalformed reads what appendMalformed printed.
func (p *PDU) scanMalformed(w *Walk) {
	x := p.rare()
	if w.take("hex") {
		if len(w.b) > 0 && w.b[0] == '*' {
			w.word()
		} else if x.raw = w.hex(); len(x.raw) >= headerLen {
			p.header(x.raw)
		}
	}
	x.err = &Error{Status: StatusInvCmdLen}
	if w.take("error") {
		x.err.Text = string(w.value())
	}
}
