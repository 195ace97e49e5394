package explain

import (
	"unicode/utf8"

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
	Refused string `json:"refused,omitempty"` // why it cannot be sent
}

// codings are the names of alphabets.
var codings = map[sms.Alphabet]string{
	sms.Default: "GSM 7-bit", sms.DefaultPacked: "packed GSM 7-bit", sms.ASCII: "ASCII", sms.DefaultASCII: "ASCII",
	sms.Latin1: "Latin-1", sms.DefaultLatin1: "Latin-1", sms.UCS2: "UCS-2", sms.DefaultUCS2: "UCS-2", sms.DefaultUTF8: "UTF-8",
}

// plan returns how a text is sent to a peer. The peer that it comes from is assumed to write
// its own default alphabet, or UCS-2 if that lacks a character.
func plan(from, to *fit.Form, text string) *Text {
	if !utf8.ValidString(text) {
		return &Text{Refused: "it is not UTF-8"}
	}
	m := written(from.Default, text)
	if !to.Takes.Has(m.Alphabet) {
		switch new(fit.Converter).Convert(to, m) {
		case fit.Refused:
			return &Text{Refused: "missing_characters is refuse, and the peer's alphabet lacks some"}
		case fit.TooLong:
			return &Text{Refused: "it is too long"}
		}
	}
	t := &Text{Coding: codings[m.Alphabet], Unit: "septet"}
	if read, _ := smstext.Decode(m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text()); read != text {
		t.Becomes, text = read, read
	}
	t.count(to, m, text)
	if to.Splits(m) {
		var ok bool
		if t.Parts, ok = new(fit.Converter).Parts(to, m); !ok {
			return &Text{Refused: "it needs more than 255 parts"}
		}
	}
	return t
}

// written returns a message with a text as its sender writes it.
func written(a sms.Alphabet, text string) *sms.Message {
	cs, _ := smstext.CharsetOf(a)
	octets, loss := cs.Encode(nil, []byte(text), charset.Report)
	if loss.Count > 0 {
		a = sms.UCS2
		octets, _ = charset.Charset{Coding: charset.UCS2}.Encode(nil, []byte(text), charset.Replace)
	}
	m := &sms.Message{Alphabet: a}
	m.Set(sms.Address{}, sms.Address{}, octets)
	return m
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
