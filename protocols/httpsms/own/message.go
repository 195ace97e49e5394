package own

import (
	"encoding/base64"
	"strings"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
	"pmg/sms/number"
)

// MaxReference is the longest client_reference, in octets.
const MaxReference = 64

// A Message is a message in the form in which a client submits it.
type Message struct {
	httpsms.Order
	Encoding    string // encoding in which the text is sent: the requested one, or one that PMG has chosen
	Deduplicate bool   // a message with the same client_reference is not sent again

	text, binary, udh  string
	hasText, hasBinary bool
	unread             bool // the text has the wrong type, which is already reported as a problem
	sendAt, expiresAt  string
	validity, receipt  string
	class              int64
	hasClass           bool
	parameters         map[string]string // parameters of the text; nil: the text has none
	late               bool              // the delivery time is so long ago that it is a mistake
	last               *encoded          // the text of the batch that was encoded last; nil: none was
}

// maxLate is how long ago a message may have been to be sent: clocks differ, and requests come again.
const maxLate = 5 * time.Minute

// Fill copies the message to x, with the wall clock's times. A message that is too late is refused here, and
// not by the reader: a repeated request with the same key gets the same answer as the first.
func (m *Message) Fill(x *sms.Message) sms.Code {
	if m.late {
		return sms.BadSchedule
	}
	return m.Order.Fill(x)
}

// octets returns how many octets the message has.
func (m *Message) octets() int {
	return len(m.From) + len(m.To) + len(m.Header) + len(m.Text) + len(m.Context.Reference) + len(m.Context.URL)
}

// Message reads a message: a JSON object. now is the wall clock's time.
func (r *Reader) Message(body []byte, now time.Time) (*Message, *Problem) {
	s := r.scanner(body, "")
	defer r.release(s)
	m := &Message{}
	m.read(s)
	s.end()
	if s.broken != "" {
		return nil, NewProblem("malformed-json", s.broken)
	}
	m.complete(s, now)
	if len(s.found) > 0 {
		return nil, invalid(s.found)
	}
	return m, nil
}

func invalid(errors []Error) *Problem {
	p := NewProblem("invalid-message", "")
	p.Errors = errors
	return p
}

// read reads the members of a message.
func (m *Message) read(s *scanner) {
	s.object(func(name string) {
		if !m.member(s, name) {
			s.unknown()
		}
	})
}

// member reads a member of a message. It reports false if messages have no member of that name.
func (m *Message) member(s *scanner, name string) bool {
	switch name {
	case "from":
		m.From = s.text()
	case "to":
		if s.next() == '[' {
			s.mistyped("one number in a string: POST /v1/batches takes messages to several")
			return true
		}
		m.To = s.text()
	case "text":
		before := len(s.found)
		m.text, m.hasText = s.text(), true
		m.unread = len(s.found) > before
	case "parameters":
		m.readParameters(s)
	case "binary":
		m.binary, m.hasBinary = s.text(), true
	case "udh":
		m.udh = s.text()
	case "encoding":
		m.Encoding = s.text()
	case "message_class":
		m.class, m.hasClass = s.number(0, 3), true
	case "priority":
		m.Priority = uint8(s.number(0, 4))
	case "protocol_id":
		m.PID = uint8(s.number(0, 255))
	case "send_at":
		m.sendAt = s.text()
	case "expires_at":
		m.expiresAt = s.text()
	case "validity":
		m.validity = s.text()
	case "receipt":
		m.receipt = s.text()
	case "client_reference":
		if m.Context.Reference = s.text(); len(m.Context.Reference) > MaxReference {
			s.wrong("too-long", "must be at most %d octets", MaxReference)
		}
	case "deduplicate":
		m.Deduplicate = s.truth()
	case "callback_url":
		m.Context.URL = s.text()
	case "max_parts":
		m.MaxParts = int(s.number(1, 255))
	default:
		return false
	}
	return true
}

// hasHidden reports whether a text has characters that may not be seen, or that look like others.
func hasHidden(text string) bool {
	return strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c >= 0x7f })
}

// complete makes the Order from the members that were read, and records their problems.
func (m *Message) complete(s *scanner, now time.Time) {
	wrong := s.wrongAt
	if m.To == "" {
		wrong("to", "missing", "must be given")
	} else if digits, err := number.Clean(m.To); err != nil && hasHidden(m.To) { // other bad numbers are refused by intake
		wrong("to", "bad-destination", "is not a phone number; use up to 20 digits, for example +46701234567 (%v)", err)
	} else if err == nil {
		m.To = digits
	}
	if m.hasClass {
		m.Class = sms.Class0 + sms.Class(m.class)
	}
	if m.Deduplicate && m.Context.Reference == "" {
		wrong("client_reference", "missing", "must be given with deduplicate")
	}
	m.times(now, wrong)
	switch m.receipt {
	case "", "final":
		m.Notify = sms.NotifySuccess | sms.NotifyFailure
	case "all":
		m.Notify = sms.NotifySuccess | sms.NotifyFailure | sms.NotifyProgress | sms.NotifySent
	case "none":
	default:
		wrong("receipt", "invalid", "must be none, final or all")
	}
	m.content(wrong)
}

// times reads the delivery time and the validity.
func (m *Message) times(now time.Time, wrong func(member, code, format string, args ...any)) {
	from := now
	if m.sendAt != "" {
		at, err := time.Parse(time.RFC3339, m.sendAt)
		if err != nil {
			wrong("send_at", "invalid", "must be a time as 2026-11-23T12:00:00Z")
		} else if at.After(now) {
			from, m.DeliverAt = at, at.UnixNano()
		} else {
			m.late = at.Before(now.Add(-maxLate))
		}
	}
	switch {
	case m.validity != "" && m.expiresAt != "":
		wrong("validity", "conflict", "must not be given together with expires_at")
	case m.validity != "":
		d, err := time.ParseDuration(m.validity)
		if err != nil || d <= 0 || d > 366*24*time.Hour {
			wrong("validity", "invalid", "must be a duration as 90s, 30m or 24h")
			return
		}
		m.Expires = from.Add(d).UnixNano()
	case m.expiresAt != "":
		at, err := time.Parse(time.RFC3339, m.expiresAt)
		switch {
		case err != nil:
			wrong("expires_at", "invalid", "must be a time as 2026-11-23T12:00:00Z")
		case !at.After(from):
			wrong("expires_at", "invalid", "must come after the message is sent")
		default:
			m.Expires = at.UnixNano()
		}
	}
}

func (m *Message) content(wrong func(member, code, format string, args ...any)) {
	var err error
	if m.udh != "" {
		if m.Header, err = base64.StdEncoding.DecodeString(m.udh); err != nil || len(m.Header) == 0 ||
			int(m.Header[0])+1 != len(m.Header) {
			wrong("udh", "invalid", "must be a user data header with its length octet, in base64")
		}
	}
	switch {
	case m.hasText == m.hasBinary:
		wrong("text", "conflict", "either text or binary must be given")
	case m.hasBinary && (m.Encoding == "" || m.Encoding == "binary"):
		m.Encoding, m.Alphabet = "binary", sms.Binary
		if m.Text, err = base64.StdEncoding.DecodeString(m.binary); err != nil {
			wrong("binary", "invalid", "must be base64")
		}
	case m.hasBinary:
		wrong("encoding", "conflict", "must be binary, or not given, with binary")
	case m.text == "" && m.udh == "" && m.PID == 0 && !m.unread:
		wrong("text", "missing", "must not be empty")
	default:
		m.fillText(wrong)
		m.encode(wrong)
	}
}

// encode writes the text in its alphabet. Messages of a batch with the same text share the encoded text.
func (m *Message) encode(wrong func(member, code, format string, args ...any)) {
	e := m.last
	if e == nil {
		e = &encoded{}
	}
	if e.text != m.text || e.asked != m.Encoding || e.wrong == (Error{}) && e.name == "" {
		*e = encode(m.text, m.Encoding)
	}
	if e.wrong != (Error{}) {
		wrong(e.wrong.Pointer, e.wrong.Code, "%s", e.wrong.Detail)
		return
	}
	m.Text, m.Alphabet, m.Encoding = e.octets, e.alphabet, e.name
}

// An Accepted is the client's answer for a message that was accepted.
type Accepted struct {
	ID         string    `json:"id"`
	State      string    `json:"state"`
	To         string    `json:"to"`
	From       string    `json:"from,omitempty"`
	Encoding   string    `json:"encoding"`
	Parts      int       `json:"parts"`
	AcceptedAt time.Time `json:"accepted_at"`
	Reference  string    `json:"client_reference,omitempty"`
	Quote
}

// Accepted returns the answer for the message, which was accepted under an id as so many short messages, at a price.
func (m *Message) Accepted(id uint64, parts int, price sms.Quote, now time.Time) Accepted {
	state := Queued
	if m.DeliverAt > now.UnixNano() {
		state = Scheduled
	}
	return Accepted{
		ID: sms.FormatID(id), State: state, To: m.To, From: m.From, Encoding: m.Encoding, Parts: parts,
		AcceptedAt: now.UTC().Truncate(time.Millisecond), Reference: m.Context.Reference, Quote: QuoteOf(price),
	}
}

// A Preview is the outcome that a message would have.
type Preview struct {
	To        string `json:"to"`
	From      string `json:"from,omitempty"`
	Text      string `json:"text,omitempty"` // text with its parameters filled in
	Encoding  string `json:"encoding"`
	Parts     int    `json:"parts"`
	Connector string `json:"connector,omitempty"` // connector by which the message would leave; empty if an operator would decide
	Quote
}

// Previewed returns the answer for the message, which would leave by a connector as so many short messages, at a price.
func (m *Message) Previewed(parts int, price sms.Quote, connector string) Preview {
	return Preview{
		To: m.To, From: m.From, Text: m.text, Encoding: m.Encoding, Parts: parts, Connector: connector, Quote: QuoteOf(price),
	}
}

// The states of messages that wait. StateOf has the others.
const (
	Queued    = "queued"
	Scheduled = "scheduled"
)
