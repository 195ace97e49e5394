package fit

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/sms/charset"
	"pmg/sms/userdata"
)

// others are the alphabets that SMPP can name.
var others = sms.NewAlphabets(sms.ASCII, sms.Latin1, sms.UCS2, sms.Binary, sms.Other)

// message returns a message with user data. A header is part of it.
func message(t testing.TB, a sms.Alphabet, header bool, octets string) *sms.Message {
	t.Helper()
	b, err := hex.DecodeString(octets)
	if err != nil {
		t.Fatal(err)
	}
	m := &sms.Message{Alphabet: a}
	if header {
		m.Flags = sms.HasHeader
	}
	m.Set(sms.Address{Addr: []byte("PMG")}, sms.Address{Addr: []byte("46700000001")}, b)
	m.SetNative(1, []byte("native"))
	return m
}

func TestConvert(t *testing.T) {
	f := func(form *Form, a sms.Alphabet, header, octets string, want sms.Alphabet, wantHeader, wantOctets string) {
		t.Helper()
		m := message(t, a, header != "", header+octets)
		var c Converter
		if form.Takes.Has(a) {
			t.Fatal("it is taken as it is")
		}
		if r := c.Convert(form, m); r != Converted {
			t.Fatalf("%s%s: result %d", header, octets, r)
		}
		if got := hex.EncodeToString(m.Text()); got != wantHeader+wantOctets || m.Alphabet != want || m.Flags&sms.HasHeader != 0 != (wantHeader != "") {
			t.Errorf("%s%s became %s in %d, flags %b; want %s%s in %d", header, octets, got, m.Alphabet, m.Flags, wantHeader, wantOctets, want)
		}
		if !form.Reads.Has(m.Alphabet) {
			t.Error("the peer cannot read it")
		}
		if _, native := m.NativePart(); string(native) != "native" || string(m.Source().Addr) != "PMG" || string(m.Dest().Addr) != "46700000001" {
			t.Errorf("the message is %q, %q, %q", m.Source().Addr, m.Dest().Addr, native)
		}
	}
	gsm, latin1 := New(sms.Default, others, Keep), New(sms.DefaultLatin1, others, Keep)
	packed, utf8 := New(sms.DefaultPacked, others, Keep), New(sms.DefaultUTF8, others, Keep)
	ucp := New(sms.Default, sms.NewAlphabets(sms.UCS2, sms.Binary), Keep)
	f(gsm, sms.DefaultLatin1, "", "4772fcdf65404d", sms.Default, "", "47727e1e65004d") // Grüße@M
	f(latin1, sms.Default, "", "47727e1e6500", sms.DefaultLatin1, "", "4772fcdf6540")
	f(latin1, sms.Default, "", "411b65", sms.UCS2, "", "004120ac") // Latin-1 has no euro sign
	f(utf8, sms.Default, "", "411b65", sms.DefaultUTF8, "", "41e282ac")
	f(gsm, sms.DefaultUTF8, "", "d0af", sms.UCS2, "", "042f")
	f(gsm, sms.DefaultUCS2, "", "00410042", sms.Default, "", "4142")
	f(packed, sms.Default, "", "3132333435363738", sms.DefaultPacked, "", "31d98c56b3dd70")
	f(gsm, sms.DefaultPacked, "", "31d98c56b3dd7039", sms.Default, "", "313233343536373839")
	f(packed, sms.Default, "0500032a0201", "48656c6c6f", sms.DefaultPacked, "0500032a0201", "906536fb0d") // a fill bit
	f(gsm, sms.DefaultPacked, "0500032a0201", "906536fb0d", sms.Default, "0500032a0201", "48656c6c6f")
	f(ucp, sms.ASCII, "", "5b615f625d", sms.Default, "", "1b3c6111621b3e")
	f(ucp, sms.Latin1, "", "61fd", sms.UCS2, "", "006100fd")
	f(gsm, sms.DefaultLatin1, "", "", sms.Default, "", "")

	// Languages: a table that a header named, and tables that a form allows.
	f(utf8, sms.Default, "03240101", "1b67", sms.DefaultUTF8, "", "c49f") // ğ
	f(utf8, sms.Default, "080003110201240101", "1b67", sms.DefaultUTF8, "0500031102"+"01", "c49f")
	f(packed, sms.Default, "03240101", "1b67", sms.DefaultPacked, "03240101", hex.EncodeToString(charset.AppendPacked(nil, []byte{0x1b, 0x67}, 3)))
	turkish := New(sms.Default, others, AsShortest)
	turkish.Languages = turkish.Languages.With(charset.Turkish)
	long := strings.Repeat("0041", 70) // in UCS-2 it would need one part more
	f(turkish, sms.UCS2, "", long+"011f", sms.Default, "03240101", strings.Repeat("41", 70)+"1b67")
	f(turkish, sms.UCS2, "0500031102"+"01", long+"011f", sms.Default, "080003110201240101", strings.Repeat("41", 70)+"1b67")

	// The other encodings.
	f(New(sms.Default, others, AsDefault), sms.Latin1, "", "e9", sms.Default, "", "05")
	f(New(sms.Default, others, AsShortest), sms.UCS2, "", "0041", sms.Default, "", "41")
	f(New(sms.Default, others, AsUCS2), sms.Default, "", "411b65", sms.UCS2, "", "004120ac")
	similar := New(sms.Default, others, Keep)
	similar.Missing = Transliterate
	f(similar, sms.DefaultUTF8, "", hex.EncodeToString([]byte("“é” ş")), sms.Default, "", hex.EncodeToString([]byte("\"\x05\" s")))
	f(similar, sms.DefaultUTF8, "", hex.EncodeToString([]byte("a 中")), sms.UCS2, "", "006100204e2d")

	// Where languages are named too, a text is exact if that needs no more parts.
	exact := New(sms.Default, others, AsShortest)
	exact.Missing, exact.Languages = Transliterate, exact.Languages.With(charset.Turkish)
	name := []byte("Işığı")
	f(exact, sms.DefaultUTF8, "", hex.EncodeToString(name), sms.UCS2, "", "0049015f0131011f0131")
	f(exact, sms.DefaultUTF8, "", hex.EncodeToString(append(bytes.Repeat([]byte("A"), 70), "ğ"...)), sms.Default, "03240101", strings.Repeat("41", 70)+"1b67")
	f(exact, sms.DefaultUTF8, "", hex.EncodeToString(append(bytes.Repeat([]byte("A"), 70), "š"...)), sms.Default, "", strings.Repeat("41", 70)+"73") // neither has it
	f(exact, sms.DefaultUTF8, "", hex.EncodeToString(append(bytes.Repeat([]byte("A"), 69), "š"...)), sms.UCS2, "", strings.Repeat("0041", 69)+"0161")

	// What is not quite right.
	f(utf8, sms.Default, "", "4772fcdf65", sms.DefaultUTF8, "", "4772c3bcc39f65") // says GSM and is Latin-1
	f(utf8, sms.Default, "0224014142"[:6], "4142", sms.DefaultUTF8, "022401", "4142")
}

// A part of a long message that one short message has no room for in UCS-2 is written with similar
// characters. Where there are none that is said, and the text is there all the same.
func TestConvertPart(t *testing.T) {
	t.Parallel()
	const part = "\x05\x00\x03\x07\x02\x01"
	for _, f := range []struct {
		header, text string
		from         sms.Alphabet
		named        bool // as a part by the protocol
		want         Result
		alphabet     sms.Alphabet
		octets       int
	}{
		{part, strings.Repeat("a", 152) + "\xe7", sms.DefaultLatin1, false, Converted, sms.Default, 159},
		{part, strings.Repeat("a", 66) + "\xe3", sms.DefaultLatin1, false, Converted, sms.UCS2, 140},   // there is room
		{part, strings.Repeat("a", 67) + "\xe3", sms.DefaultLatin1, false, Converted, sms.Default, 74}, // there is not
		{part, strings.Repeat("\xd0\xaf", 70), sms.DefaultUTF8, false, PartTooLong, sms.UCS2, 146},
		{part, strings.Repeat("\xbc", 60) + "\xe3", sms.DefaultLatin1, false, Converted, sms.UCS2, 128},
		{part, strings.Repeat("\xbc", 100), sms.DefaultLatin1, false, PartTooLong, sms.UCS2, 206},   // 1/4 takes three
		{"", strings.Repeat("a", 152) + "\xe3", sms.DefaultLatin1, false, Converted, sms.UCS2, 306}, // it will be split
		{"", strings.Repeat("a", 152) + "\xe3", sms.DefaultLatin1, true, Converted, sms.Default, 153},
		{part, strings.Repeat("\x04\x2f", 70), sms.DefaultUCS2, false, Converted, sms.UCS2, 146}, // it was as long before
	} {
		m := message(t, f.from, f.header != "", hex.EncodeToString([]byte(f.header+f.text)))
		var c Converter
		form := New(sms.Default, others, Keep)
		r := Left
		if f.named {
			r = c.ConvertPart(form, m)
		} else {
			r = c.Convert(form, m)
		}
		if r != f.want || m.Alphabet != f.alphabet || len(m.Text()) != f.octets {
			t.Errorf("%q: result %d, %d octets in %d; want %d, %d in %d", f.text, r, len(m.Text()), m.Alphabet, f.want, f.octets, f.alphabet)
		}
	}
	m := message(t, sms.DefaultLatin1, true, hex.EncodeToString([]byte(part+strings.Repeat("a", 153))))
	if r := new(Converter).Convert(New(sms.Default, others, AsUCS2), m); r != PartTooLong {
		t.Errorf("with all texts in UCS-2 the result is %d", r)
	}
}

func TestConvertLeaves(t *testing.T) {
	f := func(form *Form, want Result, a sms.Alphabet, header bool, octets string) {
		t.Helper()
		m := message(t, a, header, octets)
		before := new(sms.Pool).Copy(m)
		var c Converter
		if r := c.Convert(form, m); r != want || !bytes.Equal(m.Text(), before.Text()) || m.Alphabet != a || m.Flags != before.Flags {
			t.Errorf("%s: result %d, %x in %d", octets, r, m.Text(), m.Alphabet)
		}
	}
	gsm := New(sms.Default, others, AsShortest)
	f(gsm, Left, sms.UCS2, false, "0410")       // no character of GSM
	f(gsm, Left, sms.UCS2, false, "d83d")       // half a character
	f(gsm, Left, sms.UCS2, false, "004100")     // no text
	f(gsm, Left, sms.DefaultUTF8, true, "0541") // no header
	gsm.Missing = Refuse
	f(gsm, Refused, sms.DefaultUTF8, false, "d0af")
	f(gsm, Left, sms.UCS2, false, "0410")
	f(New(sms.DefaultUCS2, others, Keep), TooLong, sms.Default, false, hex.EncodeToString(bytes.Repeat([]byte("A"), 40000)))
	f(New(sms.DefaultUCS2, others, Keep), TooLong, sms.Default, true, "03240101"+hex.EncodeToString(bytes.Repeat([]byte("A"), 40000)))
}

// What is taken as it is depends on the form alone.
func TestTakes(t *testing.T) {
	f := func(form *Form, takes, reads sms.Alphabets) {
		t.Helper()
		if form.Takes != takes || form.Reads != reads {
			t.Errorf("takes %b, reads %b; want %b, %b", form.Takes, form.Reads, takes, reads)
		}
	}
	set := sms.NewAlphabets
	all := set(sms.DefaultLatin1, sms.ASCII, sms.Latin1, sms.UCS2, sms.Binary, sms.Other)
	f(New(sms.DefaultLatin1, others, Keep), all, all)
	f(New(sms.Default, others, AsDefault), set(sms.Default, sms.UCS2, sms.Binary, sms.Other), set(sms.Default, sms.UCS2, sms.Binary, sms.Other))
	f(New(sms.Default, others, AsShortest), set(sms.Default, sms.Binary, sms.Other), set(sms.Default, sms.UCS2, sms.Binary, sms.Other))
	f(New(sms.Default, others, AsUCS2), set(sms.UCS2, sms.Binary, sms.Other), set(sms.UCS2, sms.Binary, sms.Other))
}

// Any text is converted to a form that its peer reads, or stays as it was. If the form has every
// character, the text says the same afterwards.
func FuzzConvert(f *testing.F) {
	for a := sms.Default; a <= sms.LastAlphabet; a++ {
		f.Add(byte(a), byte(0), byte(0), byte(0), false, []byte("Grüße [€] \x1be ğ 中 😀"))
		f.Add(byte(a), byte(sms.DefaultPacked), byte(3), byte(1), true, []byte("\x03\x24\x01\x01AB\x1bg\x00A"))
	}
	f.Fuzz(func(t *testing.T, from, to, as, missing byte, header bool, octets []byte) {
		a, own := sms.Alphabet(from)%(sms.LastAlphabet+1), sms.Alphabet(to)%(sms.LastAlphabet+1)
		if !own.IsDefault() {
			own = sms.Default
		}
		form := New(own, others, EncodeAs(as%4))
		form.Missing = Missing(missing % 3)
		form.Languages = charset.AllLanguages
		m := message(t, a, header, hex.EncodeToString(octets))
		if form.Takes.Has(a) {
			return
		}
		_, _, isPart := PartOf(m)
		before, readable := smstext.Decode(a, header, octets)
		var c Converter
		r := c.Convert(form, m)
		if r != Converted && r != PartTooLong {
			if !bytes.Equal(m.Text(), octets) || m.Alphabet != a {
				t.Fatalf("result %d, and it has changed", r)
			}
			if r == Refused && form.Missing != Refuse || r == Left && readable && a != sms.UCS2 {
				t.Fatalf("result %d", r)
			}
			return
		}
		if !form.Reads.Has(m.Alphabet) || len(m.Text()) > maxOctets {
			t.Fatalf("became %d octets in %d", len(m.Text()), m.Alphabet)
		}
		if m.Flags&sms.HasHeader != 0 {
			if _, _, ok := userdata.Cut(m.Text()); !ok {
				t.Fatalf("%x has no header", m.Text())
			}
		}
		after, ok := smstext.Decode(m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text())
		if !ok {
			t.Fatalf("%x cannot be read", m.Text())
		}
		if form.Missing == UseUCS2 && after != before && !isPart && m.Alphabet != sms.DefaultPacked { // what is packed may lose an '@' at its end
			t.Fatalf("%q became %q in %d", before, after, m.Alphabet)
		}
	})
}
