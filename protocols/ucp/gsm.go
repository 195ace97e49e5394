package ucp

import "pmg/sms/charset"

// gsmEscape announces a character of the extension table.
const gsmEscape = 0x1B

// appendGSM appends a text in Latin-1 in the GSM 7-bit alphabet, one septet an octet.
// It reports false, and appends nothing, if a character has no place there.
func appendGSM(to, text []byte) ([]byte, bool) {
	var room [2 * maxPasswordField]byte
	characters, _ := charset.Charset{Coding: charset.Latin1}.Decode(room[:0], text)
	to, loss := charset.Charset{}.Encode(to, characters, charset.Report)
	return to, loss.Count == 0
}

// appendLatin1 appends a text in the GSM 7-bit alphabet, one septet an octet, in
// Latin-1, as a mobile would show it. It reports false if a character has no place there; '?' stands for it.
func appendLatin1(to, gsm []byte) ([]byte, bool) {
	var room [2 * maxPasswordField]byte
	characters, ok := charset.Charset{}.Decode(room[:0], gsm)
	to, loss := charset.Charset{Coding: charset.Latin1}.Encode(to, characters, charset.Replace)
	return to, ok && loss.Count == 0
}
