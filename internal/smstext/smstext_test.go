package smstext

import (
	"encoding/hex"
	"testing"

	"pmg/sms"
)

// U14, U15: texts are read in their alphabets.
func TestDecode(t *testing.T) {
	f := func(a sms.Alphabet, header bool, octets, want string) {
		t.Helper()
		b, err := hex.DecodeString(octets)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := Decode(a, header, b); !ok || got != want {
			t.Errorf("alphabet %d, %s: %q, %t; want %q", a, octets, got, ok, want)
		}
	}
	f(sms.Default, false, "", "")
	f(sms.Default, false, "48656c6c6f", "Hello")
	f(sms.Default, false, "47727e1e6500", "Grüße@")
	f(sms.Default, false, "1b651b3c1b3e1b281b291b2f1b3d1b401b14", "€[]{}\\~|^")
	f(sms.Default, false, "411b42", "AB") // not in the extension table
	f(sms.Default, false, "411b", "A ")
	f(sms.Default, false, "4772fcdf65", "Grüße") // not GSM: Latin-1
	f(sms.ASCII, false, "4140", "A@")
	f(sms.Latin1, false, "4772fcdf65", "Grüße")
	f(sms.UCS2, false, "041f04400438043204350442", "Привет")
	f(sms.UCS2, false, "0041d83dde00", "A😀")
	f(sms.UCS2, false, "d83d0041", "\ufffdA")
	f(sms.UCS2, false, "0041d83d", "A\ufffd")
	f(sms.UCS2, true, "050003cc0201041f0440", "Пр")
	f(sms.Default, true, "050003cc020148656c6c6f", "Hello")
	f(sms.Default, true, "00", "")
	f(sms.Default, true, "062401012501010b1c071b651b67", "ĞŞı€ğ")
	f(sms.Default, true, "022401414243", "ABC") // the header cannot be read, the text can
	f(sms.Default, true, "03240101c9", "É")
}

func TestDecodeRefuses(t *testing.T) {
	f := func(a sms.Alphabet, header bool, octets ...byte) {
		t.Helper()
		if got, ok := Decode(a, header, octets); ok {
			t.Errorf("alphabet %d, %x: %q", a, octets, got)
		}
	}
	f(sms.Binary, false, 'a')
	f(sms.Other, false, 'a')
	f(sms.UCS2, false, 4, 0x1f, 4)
	f(sms.Default, true)
	f(sms.Default, true, 5, 0, 3, 1)
}

// A text is written in the default alphabet if that has all its characters, else in UCS-2.
func TestEncode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to sms.Alphabet
		text     string
		octets   string
	}{
		{sms.Default, sms.Default, "@€", "\x00\x1be"},
		{sms.Latin1, sms.Latin1, "é", "\xe9"},
		{sms.Latin1, sms.UCS2, "a€", "\x00a\x20\xac"},
		{sms.Default, sms.UCS2, "😀", "\xd8\x3d\xde\x00"},
		{sms.Default, sms.Default, "", ""},
	} {
		a, octets := Encode(c.from, c.text)
		if read, ok := Decode(a, false, octets); a != c.to || string(octets) != c.octets || read != c.text || !ok {
			t.Errorf("%q: %d %q, read as %q", c.text, a, octets, read)
		}
	}
}
