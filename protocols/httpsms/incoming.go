package httpsms

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"pmg/internal/smstext"
	"pmg/protocols"
	"pmg/protocols/http1"
)

// An incoming is a request that came by a session, with the answer that its PDU becomes.
type incoming struct {
	http       http1.Request
	payload    *Payload // nil: the request is for the general server
	submission Submission
	id         []byte // of the request, for its client
	asked      PDU    // the request, after its PDU has become the answer
	answer     *Answer
	at         int64 // when the request came, by the engine's clock
	last       bool  // the connection is closed behind the answer

	date   http1.Date
	fields []byte // storage for those of the answer
}

// read reads a request. It reports false if the request is for the general server.
func (p *PDU) read(b []byte, payloads []*Payload, number uint32) bool {
	if p.in == nil {
		p.in = &incoming{}
	}
	in := p.in
	in.forget()
	if !http1.Read(&in.http, b) {
		return false
	}
	payload := payloadAt(payloads, in.http.Path)
	if payload == nil || traced(&in.http) {
		return false
	}
	r := request(&in.http)
	if !payload.Read(r, &in.submission) {
		return false
	}
	in.payload, in.last = payload, in.http.Close
	in.id = appendID(in.id[:0], number)
	p.Begin(Submit, number, 0)
	p.Add("method", r.Method)
	p.Add("path", payload.Path)
	p.Add("request", string(in.id))
	o := &in.submission.Order
	p.Add("from", o.From)
	p.Add("to", o.To)
	p.Add("reference", o.Context.Reference)
	p.AddText("text", TextOf(o))
	return true
}

// forget prepares for the next request.
func (in *incoming) forget() {
	in.http.Reset()
	in.payload, in.answer, in.last, in.submission = nil, nil, false, Submission{}
}

// traced reports whether a request continues a trace, which the general server knows how to.
func traced(r *http1.Request) bool {
	_, n := r.Field("traceparent")
	return n > 0
}

// request returns a request for a dialect.
func request(h *http1.Request) *Request {
	r := &Request{Method: http.MethodGet, Path: string(h.Path), Query: string(h.Query)}
	if h.Post {
		r.Method, r.Body = http.MethodPost, h.Body
		r.Header = http.Header{}
		for name, value := range h.Fields {
			http.Header(r.Header).Add(string(name), string(value))
		}
	}
	return r
}

// appendID appends the id of a request: its number, and a random part, by which ids differ after a restart.
func appendID(b []byte, number uint32) []byte {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	b = strconv.AppendUint(append(b, 'r'), uint64(number), 16)
	b = append(b, '-')
	for random, n := rand.Uint64(), 0; n < 10; n++ {
		b = append(b, digits[random&31])
		random >>= 5
	}
	return b
}

// TextOf returns the text of an order as UTF-8, or the octets if the order is binary.
func TextOf(o *Order) []byte {
	if text, ok := smstext.Append(nil, o.Alphabet, false, o.Text); ok {
		return text
	}
	return o.Text
}

// reply makes the PDU the answer to its request.
func (p *PDU) reply(a *Answer) {
	in := p.in
	in.asked.Kind, in.asked.Number, in.asked.Code = p.Kind, p.Number, 0
	in.asked.fields, p.fields = p.fields, in.asked.fields
	p.Begin(SubmitAnswer, p.Number, uint32(a.Status))
	in.answer = a
}

// Request implements protocols.Pair.
func (p *PDU) Request() protocols.PDU { return &p.in.asked }

// Last implements protocols.Pair.
func (p *PDU) Last() bool { return p.in != nil && p.in.last }

// isOurs reports whether the PDU is a request that came by a session, and is not for the general server.
func (p *PDU) isOurs() bool { return p.in != nil && p.in.payload != nil }

// hideOrder removes the message of a request whose login was refused from the pdu log: it may be anything.
func (p *PDU) hideOrder() {
	in := p.in
	p.Begin(p.Kind, p.Number, 0)
	p.Add("method", http.MethodGet)
	if in.http.Post {
		p.fields.Reset()
		p.Add("method", http.MethodPost)
	}
	p.Add("path", in.payload.Path)
	p.Add("request", string(in.id))
}

// AppendWire implements protocols.PDU. Only answers to requests of sessions have octets.
func (p *PDU) AppendWire(b []byte) []byte {
	if p.in == nil || p.in.answer == nil {
		return b
	}
	in := p.in
	fields := in.fields[:0]
	if in.answer.ContentType != "" {
		fields = http1.AppendField(fields, "Content-Type", in.answer.ContentType)
	}
	for _, f := range in.answer.Header {
		fields = http1.AppendField(fields, f[0], f[1])
	}
	in.fields = http1.AppendField(fields, "Request-Id", in.id)
	return http1.AppendAnswer(b, &http1.Answer{
		Status: in.answer.Status, Date: in.date.At(time.Unix(0, in.at)), Fields: in.fields, Body: in.answer.Body,
		Close: in.last, HTTP10: in.http.HTTP10,
	})
}
