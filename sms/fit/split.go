package fit

import (
	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/sms/charset"
	"pmg/sms/userdata"
)

// Parts returns the number of parts in which a message is sent: 1 if it is not split. It returns false if there would be too
// many parts. A message that is already a part is not split, however long it is, and neither is a text in an unknown alphabet.
func (c *Converter) Parts(f *Form, m *sms.Message) (n int, ok bool) {
	if !f.Splits(m) {
		return 1, true
	}
	s, text, ok := c.splitter(f, m)
	if !ok {
		return 1, true
	}
	n, err := s.Count(text)
	return n, err == nil
}

// Cuts reports whether texts that are too long are split.
func (f *Form) Cuts() bool {
	return f.Long != Pass && f.Long != Payload && f.Long != Join && f.Long != Auto
}

// Counts reports whether the client gets the number of short messages of its text, as for messages submitted by HTTP.
func Counts(m *sms.Message) bool { return m.Kind == sms.Submit && m.Protocol() == sms.WithContext }

// Splits reports whether a message might need splitting; Parts decides that.
func (f *Form) Splits(m *sms.Message) bool {
	return (f.Cuts() || f.Long == Auto && Counts(m)) && len(m.Text()) > room(m.Alphabet) && m.Kind != sms.Receipt
}

// LeastParts returns the least number of parts of a text that must be split, in any alphabet. A
// character needs at least one septet.
func (f *Form) LeastParts(m *sms.Message) int {
	octets := 2 // maximum octets of a character
	switch m.Alphabet {
	case sms.UCS2, sms.DefaultUCS2, sms.DefaultUTF8:
		octets = 4
	}
	return (len(m.Text()) + octets*partSeptets - 1) / (octets * partSeptets)
}

// partSeptets is the number of septets in a part with the shortest header, or in an unsplit message.
const partSeptets = 160

// AnyRoom is the number of octets that fit into one message in any alphabet.
const AnyRoom = charset.PartOctets / 2

// room returns the number of octets of a text in an alphabet that certainly fit into one message, with or without a header.
func room(a sms.Alphabet) int {
	switch a {
	case sms.Default, sms.DefaultPacked, sms.UCS2, sms.DefaultUCS2, sms.Binary:
		return charset.PartOctets
	}
	return AnyRoom // characters of one octet may be sent in UCS-2
}

// Split sets each of the messages to its part of m, in order. The number of messages is the result of Parts.
// The messages are copies of m, and m may be the first. ref is the reference of the parts.
func (c *Converter) Split(f *Form, m *sms.Message, ref uint16, parts []*sms.Message) {
	s, text, ok := c.splitter(f, m)
	if !ok {
		return
	}
	p := userdata.Part{Reference: ref, Total: uint8(len(parts)), Wide: s.Wide}
	if !s.Wide {
		p.Reference &= 0xFF
	}
	for i, part := range parts {
		p.Number = uint8(i + 1)
		named := p
		if f.Long == SplitSAR {
			named = userdata.Part{}
		}
		c.data, _ = userdata.AppendHeader(c.data[:0], s.Header, named)
		header := len(c.data)
		var piece []byte
		piece, text = s.Next(text)
		c.data = c.appendPiece(c.data, m.Alphabet, s.Coding, piece)
		c.setText(part, header)
		part.Part, part.Parts = uint8(i), uint8(len(parts))
	}
}

// splitter returns the Splitter for a message, and its text in the form in which it is split: septets, UTF-16 or octets, as in
// the short messages. It returns false for a message that is not split. The text is a copy.
func (c *Converter) splitter(f *Form, m *sms.Message) (s userdata.Splitter, text []byte, ok bool) {
	body := m.Text()
	if m.Flags&sms.HasHeader != 0 {
		var head []byte
		if head, body, ok = userdata.Cut(body); !ok {
			return s, nil, false
		}
		if h, err := userdata.Parse(head); err != nil || h.Part != (userdata.Part{}) {
			return s, nil, false
		}
		c.header = append(c.header[:0], head...)
		s.Header = c.header
	}
	s.Wide = f.Long == Split16
	c.octets = c.octets[:0]
	switch m.Alphabet {
	case sms.Other:
		return s, nil, false
	case sms.Default:
		c.octets = append(c.octets, body...)
	case sms.UCS2, sms.DefaultUCS2:
		s.Coding = charset.UCS2
		c.octets = append(c.octets, body...)
	case sms.Binary:
		s.Coding = charset.Latin1
		c.octets = append(c.octets, body...)
	case sms.DefaultPacked:
		c.octets = smstext.Unpack(c.octets, s.Header, body)
	default:
		s.Coding = c.air(m.Alphabet, body)
	}
	return s, c.octets, true
}

// air converts a text to the form in which the SMSC sends it to a mobile, in c.octets, and returns the coding of that form.
func (c *Converter) air(a sms.Alphabet, body []byte) charset.Coding {
	c.text, _ = smstext.Append(c.text[:0], a, false, body)
	var loss charset.Loss
	if c.octets, loss = (charset.Charset{}).Encode(c.octets[:0], c.text, charset.Report); loss.Count == 0 {
		return charset.GSM7
	}
	ucs2 := charset.Charset{Coding: charset.UCS2}
	c.octets, _ = ucs2.Encode(c.octets[:0], c.text, charset.Replace)
	return charset.UCS2
}

// appendPiece appends a piece of a split text to its header, in the alphabet of the message.
func (c *Converter) appendPiece(dst []byte, a sms.Alphabet, cut charset.Coding, piece []byte) []byte {
	switch a {
	case sms.Default, sms.UCS2, sms.DefaultUCS2, sms.Binary:
		return append(dst, piece...)
	case sms.DefaultPacked:
		return charset.AppendPacked(dst, piece, charset.FillBits(len(dst)))
	}
	own, _ := smstext.CharsetOf(a)
	if own.Coding == charset.ASCII {
		own.Coding = charset.Latin1 // as it was read
	}
	c.text, _ = charset.Charset{Coding: cut}.Decode(c.text[:0], piece)
	dst, _ = own.Encode(dst, c.text, charset.Replace)
	return dst
}
