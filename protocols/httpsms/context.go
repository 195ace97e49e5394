package httpsms

import (
	"encoding/binary"

	"pmg/protocols"
	"pmg/sms"
)

// A Dialect is the form in which requests, their answers and the calls that follow are written. The
// numbers are part of stored messages, so their meaning never changes.
type Dialect uint8

// The dialects.
const (
	Own    Dialect = iota // the API of docs/http.md
	Kannel                // Kannel's sendsms
	Jasmin                // Jasmin's HTTP and REST interfaces
	dialects
)

// String returns the dialect's name in the configuration.
func (d Dialect) String() string {
	if d < dialects {
		return [...]string{"pmg", "kannel", "jasmin"}[d]
	}
	return "unknown"
}

// A Context is what a request says that the client gets back with each call about its message. It is the
// native part of a message, and follows the message into what the gateway knows until its receipts have come.
type Context struct {
	Dialect   Dialect
	Reference string // the client's own id of the message
	URL       string // that is called; empty: the webhooks of the account
	Fields    []Field
}

// A Field is something else that a dialect's calls need.
type Field struct {
	Name  FieldName
	Value string
}

// A FieldName says what a field is. The numbers are part of stored messages, so their meaning never changes.
type FieldName uint8

// The names.
const (
	Mask        FieldName = 1 + iota // of events that are wanted, as the dialect writes it: dlr-mask, dlr-level
	Method                           // of the calls
	Service                          // Kannel: name of the sendsms-user
	AccountInfo                      // Kannel: account
	Billing                          // Kannel: binfo
	MetaData                         // Kannel: meta-data
	Charset                          // Kannel: charset of the text
	Tags                             // labels that routes look at
	Batch                            // id of the batch that the message came in
	Parent                           // traceparent of the request
)

// Get returns the value of a field, and "" if there is none.
func (c *Context) Get(name FieldName) string {
	for _, f := range c.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Add adds a field, unless its value is empty.
func (c *Context) Add(name FieldName, value string) {
	if value != "" {
		c.Fields = append(c.Fields, Field{name, value})
	}
}

// The numbers of a context's strings, beside those of its fields.
const (
	numberReference = 0xFF
	numberURL       = 0xFE
)

// MaxContext is how many octets a context may take.
const MaxContext = 8 << 10

// Append appends the context. Its form never changes:
//
//	+---------+---------+--------------------------------+
//	| version | dialect | n × (number, length, octets)   |
//	| 1       | 1       | n × (1 + 2 + length)           |
//	+---------+---------+--------------------------------+
func (c *Context) Append(b []byte) []byte {
	b = append(b, 1, byte(c.Dialect))
	add := func(number uint8, s string) {
		if s = s[:min(len(s), MaxContext)]; s != "" {
			b = append(binary.BigEndian.AppendUint16(append(b, number), uint16(len(s))), s...)
		}
	}
	add(numberReference, c.Reference)
	add(numberURL, c.URL)
	for _, f := range c.Fields {
		add(uint8(f.Name), f.Value)
	}
	return b
}

// ReadContext reads what Append has appended. It reports false for anything else.
func ReadContext(b []byte) (c Context, ok bool) {
	if len(b) < 2 || b[0] != 1 {
		return Context{}, false
	}
	c.Dialect = Dialect(b[1])
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
		default:
			c.Fields = append(c.Fields, Field{FieldName(number), value})
		}
	}
	return c, len(b) == 0
}

// ContextOf returns the context of a message, empty if it has none.
func ContextOf(m *sms.Message) Context {
	c, _ := ReadContext(m.Native(protocols.HTTP))
	return c
}
