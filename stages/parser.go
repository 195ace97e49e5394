package stages

import (
	"pmg/connector"
	"pmg/flow"
)

// parser collects bytes until there is a whole PDU, as its driver says, and has
// the driver read its fields.
type parser struct {
	*Deps
	ends     []int // of the PDUs in what is at work
	decoding *Job
}

func newParser(d *Deps) (flow.Stage[Job], error) { return &parser{Deps: d}, nil }

func (p *parser) Work(out *flow.Out[Job], j *Job) {
	h := j.Handle
	if j.Kind != Bytes {
		out.To(toPDULogger, j)
		return
	}
	b := j.Bytes
	if len(h.Rest) > 0 {
		h.Rest = append(h.Rest, b...)
		b = h.Rest
	}
	rest := p.frame(h, b)
	if n := len(p.ends); n > 1 {
		h.Retain(n - 1)
		out.CountRef()
		j.refs = n // one for each PDU
	}
	defer func() {
		if p.decoding != nil { // a fault; the session is ended
			out.Forget(p.decoding)
			p.decoding, h.Lost = nil, true
		}
	}()
	at := 0
	for _, end := range p.ends {
		p.pdu(out, j, b[at:end])
		at = end
	}
	p.keep(out, h, rest, at > 0)
	discard(out, j)
}

// frame notes where the PDUs in b end, and returns what is left.
func (p *parser) frame(h *connector.Handle, b []byte) (rest []byte) {
	p.ends = p.ends[:0]
	at := 0
	for !h.Lost && at < len(b) {
		n, err := h.Connector.Driver.Frame(b[at:])
		if err != nil {
			h.Lost = true
			n = len(b) - at
		}
		if n > len(b)-at {
			break
		}
		at += n
		p.ends = append(p.ends, at)
	}
	return b[at:]
}

// pdu hands on one PDU of those that came with from, and one of its references.
func (p *parser) pdu(out *flow.Out[Job], from *Job, b []byte) {
	h, j := from.Handle, out.Get()
	j.Kind = Received
	j.Bytes = append(j.Bytes, b...)
	p.decoding = j
	_ = h.Connector.Driver.Decode(j.pdu(h.Connector), j.Bytes) // the PDU keeps the error; the session answers it
	p.decoding = nil
	j.Handle, j.refs = h, 1
	from.refs--
	out.To(toPDULogger, j)
}

// keep stores the beginning of a PDU until the rest comes. fresh tells that it
// began in what was just read.
func (p *parser) keep(out *flow.Out[Job], h *connector.Handle, b []byte, fresh bool) {
	if h.Lost || len(b) == 0 {
		if h.Rest != nil {
			h.Rest = nil
			h.Partial.Store(0)
		}
		return
	}
	if fresh || h.Partial.Load() == 0 {
		h.Partial.Store(out.Now())
	}
	if !fresh && len(h.Rest) > 0 {
		return // it is there already, and may be long
	}
	if cap(h.Rest) >= len(b) && cap(h.Rest) <= keepBytes {
		h.Rest = append(h.Rest[:0], b...)
		return
	}
	h.Rest = append([]byte(nil), b...)
}
