package stages

import (
	"pmg/protocols"
	"pmg/stages/flow"
)

// parser collects octets until the driver finds a whole PDU. The driver then decodes the PDU. The
// parser owns the incomplete PDUs.
type parser struct {
	*Deps
	ends     []int // where the PDUs end in the current octets
	decoding *Job
}

// parserState is the parser's state of a session.
type parserState struct {
	rest    []byte // the octets of an incomplete PDU, or those for the session's Host
	lost    bool   // the PDU boundaries are lost, so nothing more is parsed
	foreign bool   // all octets from rest on are for the session's Host
}

func newParser(d *Deps) (flow.Stage[Job], error) { return &parser{Deps: d}, nil }

func (p *parser) Work(out *flow.Out[Job], j *Job) {
	h := j.Handle
	if j.Kind != Bytes {
		out.To(toPDULogger, j)
		return
	}
	b, s := j.Octets.b, &h.parser
	if s.foreign {
		s.rest = append(s.rest, b...)
		p.buffers.giveBack(j)
		discard(out, j)
		return
	}
	if len(s.rest) > 0 {
		s.rest = append(s.rest, b...)
		b = s.rest
	}
	rest, weight := p.frame(h, b)
	if more := weight - int(j.refs); more > 0 {
		h.retain(more)
		out.CountRef()
		j.refs += int32(more)
	}
	defer func() {
		if p.decoding != nil { // the driver panicked, so the session is ended
			out.Forget(p.decoding)
			p.decoding, s.lost = nil, true
		}
	}()
	at := 0
	for _, end := range p.ends {
		if !p.pdu(out, j, b[at:end]) {
			s.foreign, rest = true, b[at:]
			break
		}
		at = end
	}
	p.keep(out, h, rest, at > 0)
	if s.foreign {
		h.Partial.Store(0)
		h.leave(out, toPDULogger)
	}
	p.buffers.giveBack(j)
	discard(out, j)
}

// frame records where the PDUs in b end. rest is the octets after the last whole PDU. weight is the
// total weight of the PDUs.
func (p *parser) frame(h *handle, b []byte) (rest []byte, weight int) {
	p.ends = p.ends[:0]
	at := 0
	for s := &h.parser; !s.lost && at < len(b); {
		n, err := h.Codec.Frame(b[at:])
		if err == protocols.ErrForeign {
			s.foreign = true
			break
		}
		if err != nil {
			s.lost = true
			n = len(b) - at
		}
		if n > len(b)-at {
			break
		}
		at += n
		weight += weightOf(n)
		p.ends = append(p.ends, at)
	}
	return b[at:], weight
}

// pdu passes on one of the PDUs in the job from. The PDU's job takes its part of the references. It returns false, without doing
// that, if the PDU is for the session's Host.
func (p *parser) pdu(out *flow.Out[Job], from *Job, b []byte) bool {
	h, j := from.Handle, out.Get()
	j.Kind = Received
	j.Bytes = append(j.Bytes, b...)
	p.decoding = j
	err := h.Codec.Decode(j.pdu(h.Connector), j.Bytes) // the PDU keeps the error, and the session answers it
	p.decoding = nil
	if err == protocols.ErrForeign {
		out.Release(j)
		return false
	}
	j.Handle, j.refs = h, int32(weightOf(len(b)))
	from.refs -= j.refs
	out.To(toPDULogger, j)
	return true
}

// keepRest is the size of the largest storage for an incomplete PDU that a session keeps.
const keepRest = 4096

// keep stores an incomplete PDU until the rest arrives. fresh is true if the PDU began in the
// octets that were just read.
func (p *parser) keep(out *flow.Out[Job], h *handle, b []byte, fresh bool) {
	s := &h.parser
	if s.lost || len(b) == 0 {
		if s.rest != nil {
			s.rest = nil
			h.Partial.Store(0)
		}
		return
	}
	if fresh || h.Partial.Load() == 0 {
		h.Partial.Store(out.Now())
	}
	if !fresh && len(s.rest) > 0 {
		return // the octets are already stored; copying a long PDU again would be slow
	}
	if cap(s.rest) >= len(b) && cap(s.rest) <= keepRest {
		s.rest = append(s.rest[:0], b...)
		return
	}
	s.rest = append([]byte(nil), b...)
}
