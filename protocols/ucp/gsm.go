package ucp

import "pmg/sms/charset"

// gsmEscape precedes a character of the extension table.
const gsmEscape = 0x1B

// appendGSM appends a text in Latin-1 in the GSM 7-bit alphabet, one septet in each octet. It reports false, and appends
// nothing, if the alphabet lacks a character.
func appendGSM(to, text []byte) ([]byte, bool) {
	var room [2 * maxPasswordField]byte
	characters, _ := charset.Charset{Coding: charset.Latin1}.Decode(room[:0], text)
	to, loss := charset.Charset{}.Encode(to, characters, charset.Report)
	return to, loss.Count == 0
}

// appendLatin1 appends a text in the GSM 7-bit alphabet, one septet in each octet, in Latin-1. It reports false if Latin-1
// lacks a character, which becomes '?'.
func appendLatin1(to, gsm []byte) ([]byte, bool) {
	var room [2 * maxPasswordField]byte
	characters, ok := charset.Charset{}.Decode(room[:0], gsm)
	to, loss := charset.Charset{Coding: charset.Latin1}.Encode(to, characters, charset.Replace)
	return to, ok && loss.Count == 0
}
