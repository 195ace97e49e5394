package fit

import (
	"bytes"

	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/sms/userdata"
)

// PartOf returns the part of a long message that a message's header describes, and the text after the header.
// It returns false if the message is whole.
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

// Join sets the text of m to the joined texts of the parts, in their order; m may be one of the parts. It
// returns false, and m is unchanged, if the messages are not parts of one text: alphabets, classes, protocol
// identifiers or other elements of the headers differ. It also returns false if the text would be longer than
// any protocol carries.
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
