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
	request    Request
	remote     string // the client's address
	id         string // of the request, for its client
	asked      PDU    // the request, after its PDU has become the answer
	answer     *Answer
	at         int64 // when the request came, by the engine's clock
	last       bool  // the connection is closed after the answer
	fits       bool  // the request may use the login of its session

	// Storage for the next request:
	date   http1.Date
	fields []byte // of the answer
	text   []byte // of the message
}

// read reads a request. It reports false if the request is for the general server.
func (p *PDU) read(b []byte, payloads []*Payload, remote string, number uint32) bool {
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
	in.fill(payload.Path)
	if !payload.Read(&in.request, &in.submission) {
		return false
	}
	in.payload, in.last = payload, in.http.Close
	in.remote, in.id = remote, RequestID(number)
	p.describe(number)
	o := &in.submission.Order
	p.Add("from", o.From)
	p.Add("to", o.To)
	p.Add("reference", o.Context.Reference)
	if text, ok := smstext.Append(in.text[:0], o.Alphabet, false, o.Text); ok {
		in.text = text
		p.AddText("text", text)
	} else {
		p.AddText("text", o.Text)
	}
	return true
}

// describe begins the form of the pdu log.
func (p *PDU) describe(number uint32) {
	p.Begin(Submit, number, 0)
	p.Add("method", p.in.request.Method)
	p.Add("path", p.in.payload.Path)
	p.Add("remote", p.in.remote)
	p.Add("request", p.in.id)
}

// forget prepares for the next request.
func (in *incoming) forget() {
	in.http.Reset()
	in.payload, in.answer, in.last, in.fits, in.submission = nil, nil, false, false, Submission{}
}

// traced reports whether a request continues a trace: only the general server does that.
func traced(r *http1.Request) bool {
	_, n := r.Field("traceparent")
	return n > 0
}

// fill makes the request for a dialect. Without a body, a dialect reads nothing but the query.
func (in *incoming) fill(path string) {
	in.request = Request{Method: http.MethodGet, Path: path, Query: string(in.http.Query)}
	if in.http.Post {
		h := http.Header{}
		for name, value := range in.http.Fields {
			h.Add(string(name), string(value))
		}
		in.request.Method, in.request.Body, in.request.Header = http.MethodPost, in.http.Body, h
	}
}

// RequestID returns the id of a request for its client: the number of the request, and random digits, so that no other
// request has the id, also of another connection or after a restart.
func RequestID(number uint32) string {
	const digits, most = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 10
	b := strconv.AppendUint(append(make([]byte, 0, 24), 'r'), uint64(number), 16)
	b = append(b, '-')
	for bits, n := rand.Uint64(), 0; n < most; n++ {
		b = append(b, digits[bits&31])
		bits >>= 5
	}
	return string(b)
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

// Credentials implements protocols.Pair.
func (p *PDU) Credentials() protocols.Credentials {
	s := &p.in.submission
	return protocols.Credentials{SystemID: []byte(s.Name), Password: []byte(s.Password), Bind: protocols.Transmitter}
}

// Last implements protocols.Pair.
func (p *PDU) Last() bool { return p.in != nil && p.in.last }

// isOurs reports whether the PDU is a request that came by a session, and is not for the general server.
func (p *PDU) isOurs() bool { return p.in != nil && p.in.payload != nil }

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
