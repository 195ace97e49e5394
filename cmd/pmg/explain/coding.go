package explain

import (
	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/sms/charset"
	"pmg/sms/fit"
	"pmg/sms/userdata"
)

// A Text is how the text of a message is sent.
type Text struct {
	Coding  string `json:"coding"`            // that the peer is sent
	Unit    string `json:"unit"`              // "septet", or 16 bits: "unit"
	Units   int    `json:"units"`             // on the air
	Room    int    `json:"room"`              // units that one short message holds, or one part
	Parts   int    `json:"parts"`             // short messages that it is; 0: too many for any mobile
	Lacks   string `json:"lacks,omitempty"`   // the first character that GSM 7-bit does not have
	Becomes string `json:"becomes,omitempty"` // the text, if the peer is sent another one
}

// codings are the names of alphabets.
var codings = map[sms.Alphabet]string{
	sms.Default: "GSM 7-bit", sms.DefaultPacked: "packed GSM 7-bit", sms.ASCII: "ASCII", sms.DefaultASCII: "ASCII",
	sms.Latin1: "Latin-1", sms.DefaultLatin1: "Latin-1", sms.UCS2: "UCS-2", sms.DefaultUCS2: "UCS-2", sms.DefaultUTF8: "UTF-8",
}

// textOf returns how a text is sent to the peers of a form: as a message has it, in a number of parts if that is not 0.
func textOf(to *fit.Form, m *sms.Message, parts int, text string) *Text {
	t := &Text{Coding: codings[m.Alphabet], Unit: "septet"}
	if t.Coding == "" {
		return nil
	}
	if read, _ := smstext.Decode(m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text()); read != text {
		t.Becomes, text = read, read
	}
	if t.count(to, m, text); parts > 0 {
		t.Parts = parts
	}
	return t
}

// written returns a text as its sender writes it: in its default alphabet, or in UCS-2 if that lacks a character.
func written(a sms.Alphabet, text string) (sms.Alphabet, []byte) {
	cs, _ := smstext.CharsetOf(a)
	octets, loss := cs.Encode(nil, []byte(text), charset.Report)
	if loss.Count > 0 {
		a = sms.UCS2
		octets, _ = charset.Charset{Coding: charset.UCS2}.Encode(nil, []byte(text), charset.Replace)
	}
	return a, octets
}

// count fills in what the text is on the air to the peers of a form. An SMSC is assumed to write ASCII, Latin-1 and
// UTF-8 in GSM 7-bit if that has all characters.
func (t *Text) count(to *fit.Form, m *sms.Message, text string) {
	var header []byte
	if m.Flags&sms.HasHeader != 0 {
		header, _, _ = userdata.Cut(m.Text())
	}
	h, _ := userdata.Parse(header)
	air := h.Charset(charset.Charset{})
	_, loss := air.Encode(nil, []byte(text), charset.Report)
	if loss.Count > 0 {
		t.Lacks = string(loss.First)
	}
	if sent, _ := smstext.CharsetOf(m.Alphabet); sent.Coding == charset.UCS2 || loss.Count > 0 {
		air, t.Unit = charset.Charset{Coding: charset.UCS2}, "unit"
	}
	octets, _ := air.Encode(nil, []byte(text), charset.Replace)
	t.Units, _ = air.Count([]byte(text))
	s := userdata.Splitter{Coding: air.Coding, Header: header, Wide: to.Long == fit.Split16}
	t.Room = air.Room(len(header))
	if t.Parts, _ = s.Count(octets); t.Parts != 1 {
		t.Room = s.Room()
	}
}
