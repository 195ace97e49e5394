package stages

import "pmg/stages/flow"

// parser collects octets until the driver finds a whole PDU, which the driver decodes. It owns the beginnings of PDUs.
type parser struct {
	*Deps
	ends     []int // where the PDUs end in the current octets
	decoding *Job
}

// parserState is the parser's state of a session.
type parserState struct {
	rest []byte // the beginning of a PDU
	lost bool   // framing is lost, so nothing more is parsed
}

func newParser(d *Deps) (flow.Stage[Job], error) { return &parser{Deps: d}, nil }

func (p *parser) Work(out *flow.Out[Job], j *Job) {
	h := j.Handle
	if j.Kind != Bytes {
		out.To(toPDULogger, j)
		return
	}
	b, s := j.Octets.b, &h.parser
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
		if p.decoding != nil { // the driver panicked; the session is ended
			out.Forget(p.decoding)
			p.decoding, s.lost = nil, true
		}
	}()
	at := 0
	for _, end := range p.ends {
		p.pdu(out, j, b[at:end])
		at = end
	}
	p.keep(out, h, rest, at > 0)
	p.buffers.giveBack(j)
	discard(out, j)
}

// frame records where the PDUs in b end. It returns the octets after the last one, and the
// weight of all PDUs.
func (p *parser) frame(h *handle, b []byte) (rest []byte, weight int) {
	p.ends = p.ends[:0]
	at := 0
	for s := &h.parser; !s.lost && at < len(b); {
		n, err := h.Connector.Sessions.Frame(b[at:])
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

// pdu passes on one of the PDUs in from, with its part of the references.
func (p *parser) pdu(out *flow.Out[Job], from *Job, b []byte) {
	h, j := from.Handle, out.Get()
	j.Kind = Received
	j.Bytes = append(j.Bytes, b...)
	p.decoding = j
	_ = h.Connector.Sessions.Decode(j.pdu(h.Connector), j.Bytes) // the PDU keeps the error; the session answers it
	p.decoding = nil
	j.Handle, j.refs = h, int32(weightOf(len(b)))
	from.refs -= j.refs
	out.To(toPDULogger, j)
}

// keepRest is the largest storage for the beginning of a PDU that a session keeps.
const keepRest = 4096

// keep stores the beginning of a PDU until the rest comes. fresh reports whether the PDU
// began in the octets that were just read.
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
		return // it is stored already; copying it again would be slow if it is long
	}
	if cap(s.rest) >= len(b) && cap(s.rest) <= keepRest {
		s.rest = append(s.rest[:0], b...)
		return
	}
	s.rest = append([]byte(nil), b...)
}
