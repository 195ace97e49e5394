package smstext

import (
	"bytes"
	"testing"

	"pmg/sms"
	"pmg/sms/charset"
)

// A masked text has the header, the length and the classes of the characters, and none of the letters and digits.
func TestMask(t *testing.T) {
	t.Parallel()
	header := "\x05\x00\x03\xcc\x02\x01"
	packed := func(s string) string { return string(charset.AppendPacked(nil, []byte(s), charset.FillBits(6))) }
	for _, c := range []struct {
		alphabet  sms.Alphabet
		header    bool
		text, not string
	}{
		{sms.Default, false, "Code 4711, Ann!", "Xxxx 0000, Xxx!"},
		{sms.Default, false, "a\x1b\x28b\x7b\x5b", "x\x1b\x65xxX"},
		{sms.Default, false, "caf\xe9", "xxxx"},
		{sms.Default, true, header + "Hi 1", header + "Xx 0"},
		{sms.Default, true, "\x09\x00", "\x00\x00"},
		{sms.Latin1, false, "\xc4\xe9 \xbf5", "Xx \xbf0"},
		{sms.UCS2, false, "\x04\x14\x04\x30\x00 \x00a\x00B\x001\x4e\x2d\xd8\x3c\xdf\x89\x00", "\x04\x16\x04\x36\x00 \x00x\x00X\x000\x5b\x57\xd8\x3d\xde\x00\x00"},
		{sms.UCS2, true, header + "\x06\x28", header + "\x5b\x57"},
		{sms.DefaultUTF8, false, "aB1 é中🎉\xff", "xX0 ж字😀x"},
		{sms.DefaultPacked, true, header + packed("Hello 12"), header + packed("Xxxxx 00")},
		{sms.UCS2, false, "\x24\x60\x00\xb2\x21\x63\xff\x14\x09\x15\x09\x3f", "\x000\x000\x000\x000\x5b\x57\x03\x01"}, // ①²Ⅳ４कि
		{sms.Latin1, false, "a\xb2\xbd", "x00"},
		{sms.DefaultUTF8, false, "²①", "ж字"},
		{sms.Default, true, "\x03\x25\x01\x06\x15\x51", "\x03\x25\x01\x06xx"}, // Hindi: a letter, and its vowel sign
		{sms.Binary, false, "secret\x00\xff", "\x00\x00\x00\x00\x00\x00\x00\x00"},
		{sms.Binary, true, header + "secret", header + "\x00\x00\x00\x00\x00\x00"},
	} {
		before := []byte(c.text)
		got := Mask(c.alphabet, c.header, before)
		if want := c.not; string(got) != want {
			t.Errorf("%v %q: %q, want %q", c.alphabet, c.text, got, want)
		}
		if !bytes.Equal(before, []byte(c.text)) {
			t.Error("the text itself is changed")
		}
		if again := Mask(c.alphabet, c.header, got); !bytes.Equal(again, got) {
			t.Errorf("%q becomes %q", got, again)
		}
	}
}

// Any octets keep their number.
func FuzzMask(f *testing.F) {
	f.Add(uint8(0), true, []byte("\x05\x00\x03\xcc\x02\x01text"))
	f.Add(uint8(4), false, []byte("\xd8\x00\x00"))
	f.Fuzz(func(t *testing.T, a uint8, header bool, text []byte) {
		if got := Mask(sms.Alphabet(a), header, text); len(got) != len(text) {
			t.Errorf("%d octets become %d", len(text), len(got))
		}
	})
}
