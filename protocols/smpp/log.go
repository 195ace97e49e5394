package smpp

import (
	"fmt"
	"strconv"

	"pmg/internal/logtext"
	"pmg/protocols"
)

// AppendLog implements protocols.PDU:
//
//	submit_sm seq=17 source_addr=46700000001 ... short_message="hello"
//	submit_sm_resp seq=17 status=0x58(ESME_RTHROTTLED)
//	submit_sm seq=17 malformed hex=0000... error="service_type does not end"
//
// A request's status is printed only when it is not 0, as it should be.
func (p *PDU) AppendLog(b []byte, full bool) []byte {
	b = append(b, p.ID.String()...)
	err := p.Err()
	if err != nil && err.Lost && !full {
		return p.appendLost(b)
	}
	b = append(b, " seq="...)
	if p.ID == GenericNack && p.CommandStatus == StatusInvCmdLen && !full {
		b = append(b, '*') // the number may repeat octets that appendLost hides
	} else {
		b = strconv.AppendUint(b, uint64(p.SequenceNumber), 10)
	}
	if p.ID.IsResponse() || p.CommandStatus != 0 {
		b = appendStatus(append(b, " status="...), p.CommandStatus)
	}
	if full = full && !p.isLogin(); err != nil {
		return p.appendMalformed(b, err, full)
	}
	w := Walk{b: b, mode: show, full: full, room: maxOctets}
	p.fields(&w)
	return w.b
}

func appendStatus(b []byte, status uint32) []byte {
	if status == 0 { // the usual case needs no search for the name
		return append(b, '0')
	}
	return logtext.AppendCode(b, status, StatusName(status))
}

// isLogin reports whether a PDU holds a password. It ignores the Response bit, which the
// peer may have set by mistake.
func (p *PDU) isLogin() bool {
	id := p.ID &^ Response
	return id.IsBind() || id == Outbind
}

// appendLost appends the number of octets that are no valid header. It hides the octets,
// because they may be the body of a bind whose command_length is 16.
func (p *PDU) appendLost(b []byte) []byte {
	b = logtext.AppendHidden(append(b, " seq=* malformed hex="...), len(p.raw()))
	return append(b, ` error="cannot find the beginning of the PDU"`...)
}

// appendMalformed appends the octets of a PDU that cannot be read, or only their number if
// they may be private.
func (p *PDU) appendMalformed(b []byte, err *Error, full bool) []byte {
	shown := 0
	if full {
		shown = maxOctets
	}
	b = logtext.AppendOctets(append(b, " malformed hex="...), p.raw(), shown)
	return logtext.AppendQuoted(append(b, " error="...), []byte(err.Text))
}

// ParseLog parses the output of AppendLog, with or without the further fields that the pdu
// log appends. The fields of p may point into line. If the error wraps protocols.ErrHidden,
// the line does not hold all octets, and p has those that it holds.
func (p *PDU) ParseLog(line []byte) error {
	p.Reset()
	line, _ = logtext.CutAbout(line)
	s := logtext.NewScanner(line, p.scratch)
	name := s.Word()
	known := string(name) == commands[0].name
	for _, c := range commands {
		if c.name == string(name) {
			p.ID, known = c.id, true
		}
	}
	if !known {
		return fmt.Errorf("cannot parse pdu: command %q is not known", name)
	}
	if s.Take("seq") {
		p.SequenceNumber = uint32(s.Number(32))
	}
	if s.Take("status") {
		p.CommandStatus = uint32(s.Number(32))
	}
	if s.TakeWord("malformed") {
		p.scanMalformed(&s)
	} else {
		w := Walk{mode: scan, line: &s}
		p.fields(&w)
	}
	s.End()
	p.scratch = s.Own()
	if err := s.Err(); err != nil {
		return fmt.Errorf("cannot parse %s: %w", name, err)
	}
	if s.Hidden {
		return fmt.Errorf("cannot parse %s: %w", name, protocols.ErrHidden)
	}
	return nil
}

// scanMalformed parses the output of appendMalformed.
func (p *PDU) scanMalformed(s *logtext.Scanner) {
	x := p.withExtras()
	if !s.Take("hex") { // logs from before 2026-11-22 have no hex field if the octets are hidden
		s.Hidden = true
	} else if x.raw = s.Octets(); len(x.raw) >= HeaderLen {
		p.header(x.raw)
	}
	x.err = &Error{Status: StatusInvCmdLen}
	if s.Take("error") {
		x.err.Text = string(s.Value())
	}
}
