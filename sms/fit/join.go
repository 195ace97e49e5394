package fit

import (
	"bytes"

	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/sms/userdata"
)

// PartOf returns which part of a long message the header of a message says that it is, and
// the text behind the header. It returns false for a message that is whole.
func PartOf(m *sms.Message) (p userdata.Part, text []byte, ok bool) {
	if m.Flags&sms.HasHeader == 0 {
		return p, nil, false
	}
	head, text, ok := userdata.Cut(m.Text())
	if !ok {
		return p, nil, false
	}
	h, err := userdata.Parse(head)
	return h.Part, text, err == nil && h.Part.Total > 1
}

// Join gives m, which may be one of the parts, the text that the parts make together, in
// their order. It returns false, and m is as it was, if they are no parts of one text, because
// their alphabets, classes or protocol identifiers differ, or what else their headers say does,
// or if the text would be longer than any protocol carries.
func (c *Converter) Join(parts []*sms.Message, m *sms.Message) bool {
	c.octets = c.octets[:0]
	for i, part := range parts {
		if part.Alphabet != m.Alphabet || part.Class != m.Class || part.PID != m.PID {
			return false
		}
		var own []byte
		body := part.Text()
		if part.Flags&sms.HasHeader != 0 {
			var ok bool
			if own, body, ok = userdata.Cut(body); !ok {
				return false
			}
		}
		rest, _ := userdata.AppendHeader(c.data[:0], own, userdata.Part{})
		c.data = rest
		if i == 0 {
			c.header = append(c.header[:0], rest...)
		} else if !bytes.Equal(rest, c.header) {
			return false
		}
		if m.Alphabet == sms.DefaultPacked {
			c.octets = smstext.Unpack(c.octets, own, body)
		} else {
			c.octets = append(c.octets, body...)
		}
		if len(c.octets) > 2*maxOctets { // too long, packed or not: the other parts need not be copied
			return false
		}
	}
	c.data = append(c.data[:0], c.header...)
	c.appendBody(m.Alphabet)
	if len(c.data) > maxOctets {
		return false
	}
	c.setText(m, len(c.header))
	return true
}
