package sms

import (
	"encoding/binary"
	"net/url"
	"strings"
)

// A Context is the data that a client without a session gets back with each call about its message. It is the
// native part of a message that came by WithContext. Like the message's id, the context is kept until the
// receipts have come.
type Context struct {
	Dialect   uint8  // dialect in which calls are written; package httpsms numbers the dialects
	Reference string // the client's own id of the message
	URL       string // URL that is called; empty: the account's options decide
	// Parent is the client's span that the message's trace continues, in the form of package telemetry; empty: there is none
	Parent string
	Parts  uint8 // number of short messages that the SMSC makes of a whole text; 0: not more than one
	Quote  Quote // what the client pays for the message
	Fields []Field
}

// WithContext is the protocol HTTP: the native part of its messages is a Context.
const WithContext Protocol = 3

// A Field is a further value for a dialect's calls. Package httpsms numbers the names.
type Field struct {
	Name  uint8
	Value string
}

// Get returns the value of a field, and "" if the context lacks the field.
func (c *Context) Get(name uint8) string {
	for _, f := range c.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Add adds a field, unless its value is empty.
func (c *Context) Add(name uint8, value string) {
	if value != "" {
		c.Fields = append(c.Fields, Field{name, value})
	}
}

// The numbers of a context's strings that are not fields.
const (
	numberReference = 0xFF
	numberURL       = 0xFE
	numberParent    = 0xFD
	numberParts     = 0xFC
	numberQuote     = 0xFB
)

// Sizes in the stored form of a context, in octets.
const (
	contextHead = 2
	valueHead   = 3
)

// MaxContext is the maximum size of a context in octets.
const MaxContext = 8 << 10

// Append appends the context. The stored form never changes:
//
//	+---------+---------+--------------------------------+
//	| version | dialect | n × (number, length, octets)   |
//	| 1       | 1       | n × (1 + 2 + length)           |
//	+---------+---------+--------------------------------+
func (c *Context) Append(b []byte) []byte {
	b = append(b, 1, c.Dialect)
	add := func(number uint8, s string) {
		if s = s[:min(len(s), MaxContext)]; s != "" {
			b = append(binary.BigEndian.AppendUint16(append(b, number), uint16(len(s))), s...)
		}
	}
	add(numberReference, c.Reference)
	add(numberURL, c.URL)
	add(numberParent, c.Parent)
	if c.Parts > 0 {
		add(numberParts, string([]byte{c.Parts}))
	}
	if c.Quote.IsKnown() {
		b = c.Quote.Append(append(b, numberQuote, 0, QuoteSize))
	}
	for _, f := range c.Fields {
		add(f.Name, f.Value)
	}
	return b
}

// ReadContext reads the output of Append. It reports false for other octets.
func ReadContext(b []byte) (c Context, ok bool) {
	if len(b) < 2 || b[0] != 1 {
		return Context{}, false
	}
	c.Dialect = b[1]
	for b = b[2:]; len(b) >= 3; {
		number, n := b[0], int(binary.BigEndian.Uint16(b[1:]))
		if len(b) < 3+n {
			return Context{}, false
		}
		value := string(b[3 : 3+n])
		b = b[3+n:]
		switch number {
		case numberReference:
			c.Reference = value
		case numberURL:
			c.URL = value
		case numberParent:
			c.Parent = value
		case numberParts:
			if len(value) != 1 {
				return Context{}, false
			}
			c.Parts = value[0]
		case numberQuote:
			c.Quote = ReadQuote([]byte(value))
		default:
			c.Fields = append(c.Fields, Field{number, value})
		}
	}
	return c, len(b) == 0
}

// ParentOf returns the Parent of a context, nil if the context has no Parent. It does not allocate.
func ParentOf(context []byte) []byte { return valueOf(context, numberParent) }

// PartsOf returns the Parts of a context. It does not allocate.
func PartsOf(context []byte) uint8 {
	if v := valueOf(context, numberParts); len(v) == 1 {
		return v[0]
	}
	return 0
}

// valueOf returns the string with a number, nil if the context lacks it.
func valueOf(context []byte, number uint8) []byte {
	from, to := find(context, number)
	if from == 0 {
		return nil
	}
	return context[from:to]
}

// find returns where in a context the string with a number begins and ends, 0 if the context lacks it.
func find(context []byte, number uint8) (from, to int) {
	if len(context) < contextHead || context[0] != 1 {
		return 0, 0
	}
	for at := contextHead; len(context)-at >= valueHead; at = to {
		from = at + valueHead
		to = from + int(binary.BigEndian.Uint16(context[at+1:]))
		if to > len(context) {
			return 0, 0
		}
		if context[at] == number {
			return from, to
		}
	}
	return 0, 0
}

// Context returns the octets of a message's context, nil if the message has no context.
func (m *Message) Context() []byte { return m.Native(WithContext) }

// Endpoint returns the part of a URL that identifies the server: its scheme and its host. It returns "" for
// an unreadable URL. The rest of the URL may still contain a dialect's escapes, such as %d.
func Endpoint(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	u, err := url.Parse(scheme + "://" + rest)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// EndpointOf returns the endpoint of a context's URL, empty if the context has no URL.
func EndpointOf(context []byte) string {
	if c, ok := ReadContext(context); ok && c.URL != "" {
		return Endpoint(c.URL)
	}
	return ""
}
