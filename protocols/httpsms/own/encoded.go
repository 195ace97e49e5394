package own

import (
	"fmt"
	"unicode/utf8"

	"pmg/sms"
	"pmg/sms/charset"
)

// maxCharacters is the limit of a text's length: the text of 255 short messages, the maximum number of parts
// (3GPP TS 23.040 §9.2.3.24.1), in the alphabet with the most characters in a part.
const maxCharacters = 255 * 153

// An encoded is a text in an alphabet, or the reason why the alphabet cannot represent the text.
type encoded struct {
	text, asked string // the text as the client has it, and the encoding that the client asks for
	octets      []byte
	alphabet    sms.Alphabet
	name        string // name of the encoding
	wrong       Error  // the problem; its pointer is the name of a member
}

// encode encodes a text. A text that is too long is not examined.
func encode(text, asked string) encoded {
	e := encoded{text: text, asked: asked}
	if len(text) > maxCharacters && utf8.RuneCountInString(text) > maxCharacters {
		e.wrong = Error{
			"text", "too-long", fmt.Sprintf("must be at most %d characters, which are 255 short messages", maxCharacters),
		}
		return e
	}
	switch asked {
	case "", "auto":
		if !e.write(sms.Default) {
			e.write(sms.UCS2) // UCS-2 has all characters
		}
	case "gsm7":
		e.write(sms.Default)
	case "ucs2":
		e.write(sms.UCS2)
	case "latin1":
		e.write(sms.Latin1)
	default:
		e.wrong = Error{"encoding", "invalid", "must be auto, gsm7, ucs2, latin1 or binary"}
	}
	return e
}

// write writes the text in an alphabet. It reports false if the alphabet lacks a character of the text.
func (e *encoded) write(a sms.Alphabet) bool {
	var c charset.Charset
	e.alphabet, e.name, e.wrong = a, "gsm7", Error{}
	switch a {
	case sms.UCS2:
		c.Coding, e.name = charset.UCS2, "ucs2"
	case sms.Latin1:
		c.Coding, e.name = charset.Latin1, "latin1"
	}
	var loss charset.Loss
	if e.octets, loss = c.Encode(nil, []byte(e.text), charset.Report); loss.Count > 0 {
		e.wrong = Error{
			"text", "missing-characters",
			fmt.Sprintf(
				"%q, character %d, is not in %s: leave encoding out, and the text is sent in one that has it", loss.First,
				loss.At, e.name,
			),
		}
	}
	return loss.Count == 0
}
