package ucp

import (
	"bytes"
	"strconv"

	"pmg/internal/logtext"
)

// A result is A/SM/ or A/MVP/SM/, or N/EC/SM/. Some SMSCs send fewer elements, or one more: the last is the system message in
// any case.
const (
	maxAckElements  = 2 // MVP and SM
	maxNackElements = 2 // EC and SM
)

// usual returns the usual number of elements after the A or N of the result.
func (p *PDU) usual() uint8 {
	if p.Nack {
		return maxNackElements
	}
	return row(p.OT).acked
}

// Refuse appends the result that refuses the operation in a frame for the moment, with 04, the only error code after which a
// client tries again. It appends nothing if the frame has no operation.
func Refuse(to, frame []byte) []byte {
	var p PDU
	if _ = p.Decode(frame); p.noise || p.Result {
		return to
	}
	refusal := PDU{TRN: p.TRN, OT: p.OT, Result: true, Nack: true, EC: ecNotAllowed}
	refusal.elements = refusal.usual()
	return refusal.AppendWire(to)
}

func (p *PDU) walkResult(w *Walk) {
	switch w.mode {
	case read:
		if !p.readVerdict(w) {
			return
		}
	case write:
		w.b = append(w.b, "AN"[b2i(p.Nack)], '/')
	case show:
		if p.elements != p.usual() {
			w.b = strconv.AppendUint(logtext.AppendName(w.b, "elements"), uint64(p.elements), 10)
		}
	case scan:
		p.scanVerdict(w)
	case visit:
		w.call("result", "AN"[b2i(p.Nack):][:1])
	}
	n := p.elements
	if p.Nack {
		p.walkEC(w)
		n--
	} else if n == maxAckElements {
		w.Str("MVP", 12, ecSyntax, &p.MVP)
		n--
	}
	if n > 0 {
		w.Str("SM", maxSM, ecSyntax, &p.SysMsg)
	}
}

// readVerdict reads the A or N, and counts the elements after it.
func (p *PDU) readVerdict(w *Walk) bool {
	b := w.p.text[w.at:w.end]
	p.MVP, p.SysMsg, p.EC = Field{}, Field{}, 0
	if len(b) < 2 || b[0] != 'A' && b[0] != 'N' || b[1] != '/' {
		w.fail("result", ecSyntax, "begins neither with A nor with N")
		return false
	}
	p.Nack = b[0] == 'N'
	w.at += 2
	most, least := maxAckElements, 0
	if p.Nack {
		most, least = maxNackElements, 1
	}
	n := bytes.Count(b[2:], slash)
	if n < least || n > most {
		w.fail("result", ecSyntax, "has "+strconv.Itoa(n)+" elements")
		return false
	}
	p.elements = uint8(n)
	return true
}

// scanVerdict sets A or N by the status in the line of the log.
func (p *PDU) scanVerdict(w *Walk) {
	p.elements = p.usual()
	if !w.line.Take("elements") {
		return
	}
	if p.elements = uint8(w.line.Number(8)); p.elements > maxAckElements || p.Nack && p.elements == 0 {
		w.line.Fail("elements", "are too many or too few")
	}
}

// walkEC passes the error code to the walk. The pdu log shows it as the status.
func (p *PDU) walkEC(w *Walk) {
	switch w.mode {
	case read:
		var f Field
		w.read("EC", 2, ecSyntax, &f)
		if w.err != nil {
			return
		}
		n := digits(p.get(f))
		if f.n != 2 || n < 1 {
			w.fail("EC", ecSyntax, "is not two digits")
			return
		}
		p.EC = uint8(n)
	case write:
		w.b = append(appendTwo(w.b, p.EC), '/')
	case visit:
		w.call("EC", string(appendTwo(nil, p.EC)))
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
