package fit

import (
	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/sms/charset"
	"pmg/sms/userdata"
)

// maxOctets is the maximum length of a text in any protocol.
const maxOctets = 0xFFFF

// A Result is the result of a conversion.
type Result uint8

// The results.
const (
	Left        Result = iota // the message is unchanged: it is in UCS-2 already, or is not a text
	Converted                 // the message has a new text
	Refused                   // the message is unchanged, and the peer cannot read it
	TooLong                   // the message is unchanged: the new text would be longer than any protocol carries
	PartTooLong               // the message has a new text, and is a part of a long message that is too long for a short message
)

// A Converter has storage for the conversion of a text. It is not safe for concurrent use.
type Converter struct {
	text   []byte // UTF-8
	octets []byte // the text in the new alphabet
	data   []byte // the text with its header
	header []byte // the header of the parts of a text that is split
}

// Convert converts the text of a message to an alphabet that the peer reads. The peer does not accept the present alphabet. If
// a part of a long message would be too long in UCS-2, similar characters are used if possible.
func (c *Converter) Convert(f *Form, m *sms.Message) Result {
	_, _, isPart := PartOf(m)
	return c.convert(f, m, isPart)
}

// ConvertPart converts a message that is a part of a long message, whatever its header contains.
func (c *Converter) ConvertPart(f *Form, m *sms.Message) Result { return c.convert(f, m, true) }

func (c *Converter) convert(f *Form, m *sms.Message, isPart bool) Result {
	var ok bool
	if c.text, ok = smstext.Append(c.text[:0], m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text()); !ok {
		return Left
	}
	var head []byte
	if m.Flags&sms.HasHeader != 0 {
		head, _, _ = userdata.Cut(m.Text())
	}
	h, malformed := userdata.Parse(head)
	a, cs, result := c.encode(f, &h, m.Alphabet)
	if result != Converted {
		return result
	}
	if isPart && a == sms.UCS2 && m.Alphabet != sms.DefaultUCS2 && len(head)+len(c.octets) > charset.PartOctets {
		if a, cs, ok = c.similar(f, &h, len(head)); !ok {
			a, cs, _ = c.ucs2()
			result = PartTooLong
		}
	}
	c.data = c.data[:0]
	if len(head) > 0 && malformed != nil {
		c.data = append(c.data, head...) // an invalid header is kept unchanged
	} else if c.data, ok = userdata.AppendShifted(c.data, head, cs); !ok {
		return TooLong
	}
	header := len(c.data)
	c.appendBody(a)
	if len(c.data) > maxOctets {
		return TooLong
	}
	c.setText(m, header)
	m.Alphabet = a
	m.Flags |= sms.Converted
	return result
}

// similar encodes c.text in the peer's default alphabet, with similar characters for those that the alphabet lacks. It reports
// false if a character has no similar one, or if the text and a header of header octets do not fit into a short message.
func (c *Converter) similar(f *Form, h *userdata.Header, header int) (sms.Alphabet, charset.Charset, bool) {
	if !f.Reads.Has(f.Default) {
		return 0, charset.Charset{}, false
	}
	cs := f.charset(c.text, h)
	var loss charset.Loss
	c.octets, loss = cs.Encode(c.octets[:0], c.text, charset.Transliterate)
	return f.Default, cs, loss.Replaced == 0 && len(c.octets) <= (charset.PartOctets-header)*8/7
}

// appendBody appends c.octets to the header in c.data, packed if the alphabet is.
func (c *Converter) appendBody(a sms.Alphabet) {
	if a == sms.DefaultPacked {
		c.data = charset.AppendPacked(c.data, c.octets, charset.FillBits(len(c.data)))
	} else {
		c.data = append(c.data, c.octets...)
	}
}

// setText sets a message's text to c.data, which begins with a header of a number of octets.
func (c *Converter) setText(m *sms.Message, header int) {
	m.Flags &^= sms.HasHeader
	if header > 0 {
		m.Flags |= sms.HasHeader
	}
	m.SetText(c.data)
}

// encode encodes c.text in an alphabet that the peer reads, to c.octets. Septets are not packed yet.
func (c *Converter) encode(f *Form, h *userdata.Header, from sms.Alphabet) (sms.Alphabet, charset.Charset, Result) {
	if !f.Reads.Has(f.Default) {
		return c.ucs2()
	}
	cs := f.charset(c.text, h)
	var loss charset.Loss
	if c.octets, loss = cs.Encode(c.octets[:0], c.text, charset.Report); loss.Count == 0 {
		return f.Default, cs, Converted
	}
	if f.Missing == Transliterate {
		if c.octets, loss = cs.Encode(
			c.octets[:0], c.text, charset.Transliterate,
		); loss.Replaced == 0 && !f.prefersUCS2(cs, c.text, len(c.octets)) {
			return f.Default, cs, Converted
		}
	}
	switch {
	case from == sms.UCS2:
		return from, cs, Left
	case f.Missing == Refuse:
		return from, cs, Refused
	}
	return c.ucs2()
}

// prefersUCS2 reports whether UCS-2 is better than a text with similar characters, whose length is octets in cs. Where
// languages are configured, exact characters matter, so UCS-2 is preferred if it needs no more parts.
func (f *Form) prefersUCS2(cs charset.Charset, text []byte, octets int) bool {
	if f.Languages == 0 {
		return false
	}
	exact := charset.Charset{Coding: charset.UCS2}
	units, ok := exact.Count(text)
	return ok && exact.Parts(units) <= cs.Parts(octets)
}

func (c *Converter) ucs2() (sms.Alphabet, charset.Charset, Result) {
	cs := charset.Charset{Coding: charset.UCS2}
	c.octets, _ = cs.Encode(c.octets[:0], c.text, charset.Replace)
	return sms.UCS2, cs, Converted
}

// charset returns the charset for a text in the peer's default alphabet. A message that came with tables of a
// language keeps the tables if the text needs them.
func (f *Form) charset(text []byte, h *userdata.Header) charset.Charset {
	cs, _ := smstext.CharsetOf(f.Default)
	if cs.Coding != charset.GSM7 && cs.Coding != charset.Packed {
		return cs
	}
	plain, own := charset.Charset{}, h.Charset(charset.Charset{})
	if own != plain {
		if _, ok := plain.Count(text); ok {
			return plain
		}
		if _, ok := own.Count(text); ok {
			return own
		}
	}
	if f.Languages != 0 {
		if best := charset.Best(text, f.Languages); best.Coding == charset.GSM7 {
			return best
		}
	}
	return plain
}
