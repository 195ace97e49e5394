package pdulog

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"pmg/internal/logtext"
	"pmg/protocols"
)

// AppendJSON appends the line as a JSON object and a line end. The fields keep their
// order and have strings as values; a name that occurs more than once has an array.
func AppendJSON(b []byte, e *Entry) []byte {
	b = append(b, `{"time":`...)
	b = appendString(b, e.Time.Format(timeLayout))
	b = append(b, `,"connector":`...)
	b = appendString(b, e.Connector)
	b = append(b, `,"instance":`...)
	b = strconv.AppendInt(b, int64(e.Instance), 10)
	b = append(b, `,"direction":`...)
	b = appendString(b, e.Direction())
	b = append(b, `,"command":`...)
	b = appendString(b, e.Command)
	if n, ok := e.Sequence(); ok {
		b = append(b, `,"sequence":`...)
		b = strconv.AppendUint(b, uint64(n), 10)
	}
	if s, ok := e.Status(); ok {
		b = append(b, `,"status":`...)
		b = strconv.AppendUint(b, uint64(s.Value), 10)
		if s.Name != "" {
			b = append(b, `,"status_name":`...)
			b = appendString(b, s.Name)
		}
	}
	b = append(b, `,"fields":{`...)
	b = appendFields(b, e.Rest)
	return append(b, "}}\n"...)
}

// appendFields appends the members of an object.
func appendFields(b, rest []byte) []byte {
	var names []string
	values := map[string][]string{}
	for len(rest) > 0 {
		var field []byte
		field, rest = logtext.NextField(rest)
		n, v, _ := bytes.Cut(field, []byte{'='})
		name := string(n)
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], unquote(v))
	}
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		if v := values[name]; len(v) == 1 {
			b = appendString(b, v[0])
		} else {
			j, _ := json.Marshal(v) // as appendString
			b = append(b, j...)
		}
	}
	return b
}

func appendString(b []byte, s string) []byte {
	j, _ := json.Marshal(s) // a string always has a JSON form
	return append(b, j...)
}

// unquote takes the quotation marks and escapes off a value. One that stands for
// bytes which are no text keeps its escapes, since JSON could not carry it.
func unquote(value []byte) string {
	if s, err := strconv.Unquote(string(value)); err == nil && utf8.ValidString(s) {
		return s
	}
	return string(value)
}

// A Hexer turns lines into the bytes that stood on the wire.
type Hexer struct {
	lookup  func(e *Entry) (protocols.Driver, error)
	drivers map[string]hexDriver // by connector
	wire    []byte
}

type hexDriver struct {
	driver protocols.Driver
	pdu    protocols.PDU
}

// NewHexer makes one that asks lookup, once for each connector, which protocol
// a connector speaks; e is a line of it.
func NewHexer(lookup func(e *Entry) (protocols.Driver, error)) *Hexer {
	return &Hexer{lookup: lookup, drivers: map[string]hexDriver{}}
}

// Append appends the line up to its command, then the PDU as hexadecimal digits,
// and a line end. A line that does not hold all octets of its PDU is not converted:
// the error wraps protocols.ErrHidden.
func (h *Hexer) Append(b []byte, e *Entry) ([]byte, error) {
	d, ok := h.drivers[e.Connector]
	if !ok {
		driver, err := h.lookup(e)
		if err != nil {
			return b, err
		}
		d = hexDriver{driver, driver.NewPDU()}
		h.drivers[e.Connector] = d
	}
	d.pdu.Reset()
	if err := d.driver.ParseLog(d.pdu, e.PDU); err != nil {
		return b, fmt.Errorf("cannot convert pdu log line %q: %w", e.Line, err)
	}
	h.wire = d.pdu.AppendWire(h.wire[:0])
	b = append(b, e.Line[:len(e.Line)-len(e.PDU)]...)
	b = append(b, e.Command...)
	b = append(b, ' ')
	b = hex.AppendEncode(b, h.wire)
	return append(b, '\n'), nil
}
