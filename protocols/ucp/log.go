package ucp

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pmg/internal/logtext"
	"pmg/protocols"
)

// AppendLog implements protocols.PDU:
//
//	op51 seq=18 AdC=012345 OAdC=09876 MT=3 AMsg="Message 51"
//	op51_result seq=18 status=0 SM=012345:090996101010
//	op51_result seq=18 status=0x7(authentication_failure)
//	op51 seq=18 malformed hex=0231... error="AdC is longer than 16 characters"
//	noise malformed hex=0d0a error="is no frame"
func (p *PDU) AppendLog(b []byte, full bool) []byte {
	err := p.Err()
	b = append(b, commandNames[p.Command()]...)
	if !p.noise {
		b = strconv.AppendUint(append(b, " seq="...), uint64(p.TRN), 10)
		if row(p.OT).ot == 0 {
			b = strconv.AppendUint(append(b, " OT="...), uint64(p.OT), 10)
		}
	}
	if err != nil {
		return p.appendMalformed(b, err, full)
	}
	if p.Result {
		b = append(b, " status="...)
		if p.Nack {
			b = logtext.AppendCode(b, uint32(p.EC), StatusName(uint32(p.EC)))
		} else {
			b = append(b, '0')
		}
	}
	w := Walk{p: p, b: b, mode: show, full: full}
	p.fields(&w)
	return w.b
}

// maxOctets is the maximum number of octets that a line shows of a malformed PDU, because a peer that sends only such PDUs
// could fill the disk.
const maxOctets = 1024

// appendMalformed appends the octets of a malformed PDU, or only their number if they may be private.
func (p *PDU) appendMalformed(b []byte, err *Error, full bool) []byte {
	shown := 0
	if full && !p.mayHoldPassword() {
		shown = maxOctets
	}
	b = logtext.AppendOctets(append(b, " malformed hex="...), p.raw(), shown)
	return logtext.AppendQuoted(append(b, " error="...), []byte(err.Text))
}

// mayHoldPassword reports whether the octets may contain a password: a login, or the beginning of one.
func (p *PDU) mayHoldPassword() bool {
	return row(p.OT).secret && !p.noise || bytes.Contains(p.raw(), []byte("/60/")) || bytes.Contains(p.raw(), []byte("/61/"))
}

// ParseLog parses a line that AppendLog printed, with or without the fields that the pdu log adds about the message. An error
// that wraps protocols.ErrHidden means that the line does not show all octets; the PDU has those that it shows.
func (p *PDU) ParseLog(line []byte) error {
	p.Reset()
	p.SM = SM{}
	line, _ = logtext.CutAbout(line)
	s := logtext.NewScanner(line, nil)
	name := string(s.Word())
	command := slices.Index(commandNames, name)
	if command < 0 {
		return fmt.Errorf("cannot parse pdu: command %q is not known", name)
	}
	if p.noise = command == noiseCommand; !p.noise {
		p.OT, p.Result = operations[command/2].ot, strings.HasSuffix(name, resultSuffix)
	}
	p.parse(&s)
	s.End()
	if err := s.Err(); err != nil {
		return fmt.Errorf("cannot parse %s: %w", name, err)
	}
	if s.Hidden {
		return fmt.Errorf("cannot parse %s: %w", name, protocols.ErrHidden)
	}
	return nil
}

// parse parses the fields after the name.
func (p *PDU) parse(s *logtext.Scanner) {
	if s.Take("seq") {
		n := s.Number(8)
		if n >= trns {
			s.Fail("seq", "is not below 100")
		}
		p.TRN = uint8(n)
	}
	if row(p.OT).ot == 0 && s.Take("OT") {
		n := s.Number(8)
		if n >= trns || row(uint8(n)).ot != 0 {
			s.Fail("OT", "must be an unknown operation")
		}
		p.OT = uint8(n)
	}
	if s.TakeWord("malformed") {
		p.parseMalformed(s)
		return
	}
	if p.noise || row(p.OT).ot == 0 && !p.Result {
		s.Fail(commandNames[p.Command()], "has no fields")
		return
	}
	if p.Result && s.Take("status") {
		n := s.Number(8)
		if n >= trns {
			s.Fail("status", "is not below 100")
		}
		p.EC, p.Nack = uint8(n), n > 0
	}
	w := Walk{p: p, mode: scan, line: s}
	p.fields(&w)
}

// parseMalformed parses a line that appendMalformed printed.
func (p *PDU) parseMalformed(s *logtext.Scanner) {
	var raw []byte
	if s.Take("hex") {
		raw = s.Octets()
	}
	text := ""
	if s.Take("error") {
		text = string(s.Value())
	}
	e := &Error{EC: ecSyntax, Silent: p.noise, Text: text}
	if s.Err() != nil {
		return
	}
	var known PDU
	if len(raw) > 0 && known.Decode(raw) != nil {
		p.OT, p.TRN, p.Result, p.noise = known.OT, known.TRN, known.Result, known.noise
		e.EC, e.Silent = known.Err().EC, known.Err().Silent
	}
	x := p.rare()
	x.raw, x.err = raw, e
}
