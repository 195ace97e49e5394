package pdulog

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"pmg/internal/logtext"
	"pmg/internal/smstext"
	"pmg/protocols"
	"pmg/sms"
)

// A Decoder reads lines as PDUs of their protocols. It is not safe for concurrent use.
type Decoder struct {
	lookup func(command string) (protocols.Driver, error)
	known  map[string]*codec // codecs, by command
	buf    []byte
	line   []byte // without texts
}

// A codec is a protocol, with a PDU into which lines are parsed.
type codec struct {
	driver protocols.Driver
	pdu    protocols.PDU
}

// NewDecoder returns a decoder. It calls lookup once for each command, for the command's
// protocol.
func NewDecoder(lookup func(command string) (protocols.Driver, error)) *Decoder {
	return &Decoder{lookup: lookup, known: map[string]*codec{}}
}

// parse returns the PDU of a line, which is valid until the next call. It returns the PDU with an error that
// wraps protocols.ErrHidden if the line does not contain the complete PDU.
func (d *Decoder) parse(e *Entry) (protocols.PDU, error) {
	c := d.known[e.Command]
	if c == nil {
		driver, err := d.lookup(e.Command)
		if err != nil {
			return nil, err
		}
		c = &codec{driver, driver.NewPDU()}
		d.known[e.Command] = c
	}
	c.pdu.Reset()
	return c.pdu, c.driver.ParseLog(c.pdu, e.PDU)
}

// AppendHex appends the line up to its command, then the PDU as hexadecimal digits,
// and a line end. A line that does not hold all octets of its PDU is not converted:
// the error wraps protocols.ErrHidden.
func (d *Decoder) AppendHex(b []byte, e *Entry) ([]byte, error) {
	octets, err := d.AppendOctets(d.buf[:0], e)
	if d.buf = octets; err != nil {
		return b, err
	}
	b = append(b, beforePDU(e.Line)...)
	b = append(b, e.Command...)
	b = append(b, ' ')
	b = hex.AppendEncode(b, d.buf)
	return append(b, '\n'), nil
}

// AppendOctets appends the PDU of a line, as AppendHex does.
func (d *Decoder) AppendOctets(b []byte, e *Entry) ([]byte, error) {
	p, err := d.parse(e)
	if err != nil {
		return b, fmt.Errorf("pdu log line %q: %w", e.Line, err)
	}
	return p.AppendWire(b), nil
}

// beforePDU returns the time, the connector and the direction of a line.
func beforePDU(line []byte) []byte {
	n := 0
	for range 3 {
		n += bytes.IndexByte(line[n:], ' ') + 1
	}
	return line[:n]
}

// Text returns the message text in the line as UTF-8, without a user data header. It returns
// false if there is no text, or if it cannot be decoded.
func (d *Decoder) Text(e *Entry) (string, bool) {
	_, text, ok := d.text(e)
	return text, ok
}

func (d *Decoder) text(e *Entry) (t protocols.Text, text string, ok bool) {
	if !bytes.Contains(e.PDU, []byte(`="`)) { // texts are always in quotes
		return t, "", false
	}
	p, err := d.parse(e)
	if err != nil && !errors.Is(err, protocols.ErrHidden) {
		return t, "", false
	}
	if t, ok = p.Text(); ok {
		text, ok = smstext.Decode(t.Alphabet, t.Header, t.Octets)
	}
	return t, text, ok
}

// AppendLine appends the line for people. It replaces the message text, unless that is
// readable already, by
//
//	udh=050003cc0201 text="Привет"
//
// where udh is the user data header, if there is one.
func (d *Decoder) AppendLine(b []byte, e *Entry) []byte {
	t, text, ok := d.text(e)
	if !ok || isPlain(&t) {
		return append(b, e.Line...)
	}
	return appendText(b, e.Line, &t, text)
}

// find reports whether the decoded message text matches, or the line with that text.
func (d *Decoder) find(e *Entry, pattern *regexp.Regexp) bool {
	t, text, ok := d.text(e)
	if !ok {
		return false
	}
	if pattern.MatchString(text) {
		return true
	}
	d.buf = appendText(d.buf[:0], e.Line, &t, text)
	return pattern.Match(d.buf)
}

// isPlain reports whether the octets of a text are readable without decoding. Peers code @, [ and some others
// differently in the default alphabet, so that these characters count as readable and are left as they are.
func isPlain(t *protocols.Text) bool {
	if t.Header || t.Alphabet == sms.UCS2 {
		return false
	}
	for _, c := range t.Octets {
		if !logtext.Printable(c) {
			return false
		}
	}
	return true
}

// appendText appends a line with text in place of its field t.
func appendText(b, line []byte, t *protocols.Text, text string) []byte {
	name := t.Field + "="
	for rest := line; len(rest) > 0; {
		field, after := logtext.NextField(rest)
		if !bytes.HasPrefix(field, []byte(name)) {
			rest = after
			continue
		}
		at := len(line) - len(rest)
		b = append(b, line[:at]...)
		if t.Header {
			b = hex.AppendEncode(append(b, "udh="...), t.Octets[:1+int(t.Octets[0])])
			b = append(b, ' ')
		}
		b = strconv.AppendQuote(append(b, "text="...), text)
		return append(b, line[at+len(field):]...)
	}
	return append(b, line...)
}
