package stages

import (
	"pmg/connector"
	"pmg/flow"
)

// parser collects bytes until there is a whole PDU, as its driver says, and has
// the driver read its fields.
type parser struct{ *Deps }

func newParser(d *Deps) (flow.Stage[Job], error) { return &parser{d}, nil }

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
	first := true
	for !h.Lost && len(b) > 0 {
		n, err := h.Connector.Driver.Frame(b)
		if err != nil {
			h.Lost = true
			n = len(b)
		}
		if n > len(b) {
			break
		}
		p.pdu(out, h, b[:n], first)
		first = false
		b = b[n:]
	}
	p.keep(out, h, b, !first)
	if first {
		release(out, j)
	}
	j.Handle, j.refs = nil, 0 // the first PDU has taken over its reference
	out.Release(j)
}

// pdu hands on one PDU. The first takes over the reference of the bytes it came in.
func (p *parser) pdu(out *flow.Out[Job], h *connector.Handle, b []byte, first bool) {
	j := out.Get()
	j.Kind = Received
	if first {
		j.Handle, j.refs = h, 1
	} else {
		j.retain(h)
		out.CountRef()
	}
	j.Bytes = append(j.Bytes, b...)
	_ = h.Connector.Driver.Decode(j.pdu(h.Connector), j.Bytes) // the PDU keeps the error; the session answers it
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
