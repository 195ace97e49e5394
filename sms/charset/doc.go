// Package charset writes text in the alphabets of short messages and reads it: the
// GSM 7-bit alphabet with its national language tables (3GPP TS 23.038 §6), packed
// or one septet an octet, ASCII, Latin-1, UCS-2 with surrogates, and UTF-8. Text is
// UTF-8 on this side.
//
// Other packages map a sms.Alphabet to a charset, because the default alphabet depends on the peer.
//
// # Start reading
//
// charset.go (Charset, Decode, Encode), then gsm.go. tables.go is made of
// testdata/gsm7_tables.json by the test TestTablesFresh with -update.
package charset
