package explain

import (
	"fmt"

	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/sms/charset"
	"pmg/sms/fit"
	"pmg/sms/userdata"
)

type coded struct {
	coding  string // coding of the text that the peer gets
	unit    string // "septet", or 16 bits: "unit"
	units   int    // length of the text in septets or 16-bit units
	room    int    // units that fit into a short message, or into a part
	parts   int    // number of short messages; 0: more than any mobile accepts
	lacks   string // the first character that GSM 7-bit does not have
	becomes string // the text that the peer gets; empty: the text is not changed
}

// codings are the names of alphabets.
var codings = map[sms.Alphabet]string{
	sms.Default: "GSM 7-bit", sms.DefaultPacked: "packed GSM 7-bit", sms.ASCII: "ASCII", sms.DefaultASCII: "ASCII",
	sms.Latin1: "Latin-1", sms.DefaultLatin1: "Latin-1", sms.UCS2: "UCS-2", sms.DefaultUCS2: "UCS-2", sms.DefaultUTF8: "UTF-8",
	sms.Cyrillic: "ISO 8859-5", sms.Hebrew: "ISO 8859-8",
}

// textOf returns the coding and the length of a message's text when it is sent to peers with a form. parts is the
// number of short messages, if it is not 0.
func textOf(to *fit.Form, m *sms.Message, parts int, text string) *coded {
	t := &coded{coding: codings[m.Alphabet], unit: "septet"}
	if t.coding == "" {
		return nil
	}
	if read, _ := smstext.Decode(m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text()); read != text {
		t.becomes, text = read, read
	}
	if t.count(to, m, text); parts > 0 {
		t.parts = parts
	}
	return t
}

// count sets alphabet, length and number of parts of the text when it is sent to peers with a form. An SMSC is
// assumed to send ASCII, Latin-1 and UTF-8 in GSM 7-bit if that has all characters.
func (t *coded) count(to *fit.Form, m *sms.Message, text string) {
	var header []byte
	if m.Flags&sms.HasHeader != 0 {
		header, _, _ = userdata.Cut(m.Text())
	}
	h, _ := userdata.Parse(header)
	air := h.Charset(charset.Charset{})
	_, loss := air.Encode(nil, []byte(text), charset.Report)
	if loss.Count > 0 {
		t.lacks = string(loss.First)
	}
	if sent, _ := smstext.CharsetOf(m.Alphabet); sent.Coding == charset.UCS2 || loss.Count > 0 {
		air, t.unit = charset.Charset{Coding: charset.UCS2}, "unit"
	}
	octets, _ := air.Encode(nil, []byte(text), charset.Replace)
	t.units, _ = air.Count([]byte(text))
	s := userdata.Splitter{Coding: air.Coding, Header: header, Wide: to.Long == fit.Split16}
	t.room = air.Room(len(header))
	if t.parts, _ = s.Count(octets); t.parts != 1 {
		t.room = s.Room()
	}
}

// String describes the coding and the length of a text.
func (t *coded) String() string {
	what := fmt.Sprintf("sent in %s", t.coding)
	if t.becomes != "" {
		what += fmt.Sprintf(" as %q", t.becomes)
	}
	if t.lacks != "" {
		what += fmt.Sprintf(" (GSM 7-bit does not have %q)", t.lacks)
	}
	switch t.parts {
	case 0:
		return fmt.Sprintf("%s: %d %ss, which is too long for a long message", what, t.units, t.unit)
	case 1:
		return fmt.Sprintf("%s: %d of %d %ss of one short message", what, t.units, t.room, t.unit)
	}
	return fmt.Sprintf("%s: %d %ss, which are %d short messages of up to %d", what, t.units, t.unit, t.parts, t.room)
}
