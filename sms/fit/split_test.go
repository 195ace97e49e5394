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

// split returns the parts of a message, or nil if it leaves as it is.
func split(t testing.TB, f *Form, m *sms.Message) (parts []*sms.Message) {
	t.Helper()
	var c Converter
	n, ok := c.Parts(f, m)
	if !ok {
		t.Fatal("too many parts")
	}
	if n == 1 {
		return nil
	}
	var pool sms.Pool
	for i := range n {
		if i == 0 {
			parts = append(parts, m)
		} else {
			parts = append(parts, pool.Copy(m))
		}
	}
	c.Split(f, m, 0x1234, parts)
	return parts
}

func form(own sms.Alphabet, long Long) *Form {
	f := New(own, others, Keep)
	f.Long = long
	return f
}

func TestSplit(t *testing.T) {
	f := func(f *Form, a sms.Alphabet, header, octets string, want ...string) {
		t.Helper()
		m := message(t, a, header != "", header+octets)
		parts := split(t, f, m)
		if len(parts) != len(want) {
			t.Fatalf("%d parts, want %d", len(parts), len(want))
		}
		for i, p := range parts {
			if got := hex.EncodeToString(p.Text()); got != want[i] {
				t.Errorf("part %d is %s, want %s", i, got, want[i])
			}
			if int(p.Part) != i || int(p.Parts) != len(parts) || p.Alphabet != a || p.Flags&sms.HasHeader != 0 != (f.Long != SplitSAR || header != "") {
				t.Errorf("part %d of %d, in %d, flags %b", p.Part, p.Parts, p.Alphabet, p.Flags)
			}
			if _, native := p.NativePart(); string(native) != "native" || string(p.Dest().Addr) != "46700000001" {
				t.Errorf("part %d has lost something: %q", i, native)
			}
		}
	}
	r := strings.Repeat
	gsm8, gsm16, sar := form(sms.Default, Split8), form(sms.Default, Split16), form(sms.Default, SplitSAR)
	f(gsm8, sms.Default, "", r("41", 160))
	f(gsm8, sms.UCS2, "", r("0041", 70))
	f(gsm8, sms.Binary, "", r("00", 140))
	f(gsm8, sms.Default, "", r("41", 161), "050003340201"+r("41", 153), "050003340202"+r("41", 8))
	f(gsm16, sms.Default, "", r("41", 161), "06080412340201"+r("41", 152), "06080412340202"+r("41", 9))
	f(sar, sms.Default, "", r("41", 161), r("41", 153), r("41", 8))
	f(gsm8, sms.Default, "", r("1b65", 81), "050003340201"+r("1b65", 76), "050003340202"+r("1b65", 5))
	f(gsm8, sms.UCS2, "", r("0041", 66)+"d83dde00"+r("0041", 4), "050003340201"+r("0041", 66), "050003340202d83dde00"+r("0041", 4))
	f(gsm8, sms.Binary, "0605040b8423f0", r("00", 134), "0b00033402010"+"5040b8423f0"+r("00", 128), "0b00033402020"+"5040b8423f0"+r("00", 6))
	f(sar, sms.Binary, "0605040b8423f0", r("00", 134), "0605040b8423f0"+r("00", 128), "0605040b8423f0"+r("00", 6))
	f(gsm8, sms.Default, "03240101", r("41", 156), "080003340201240101"+r("41", 149), "080003340202240101"+r("41", 7))

	// A peer's default alphabet is counted as the SMSC sends it.
	latin1, packed, utf8 := form(sms.DefaultLatin1, Split8), form(sms.DefaultPacked, Split8), form(sms.DefaultUTF8, Split8)
	f(latin1, sms.DefaultLatin1, "", r("fc", 160))
	f(latin1, sms.DefaultLatin1, "", r("fc", 161), "050003340201"+r("fc", 153), "050003340202"+r("fc", 8))
	f(latin1, sms.DefaultLatin1, "", r("5b", 81), "050003340201"+r("5b", 76), "050003340202"+r("5b", 5)) // [ has two septets
	f(latin1, sms.DefaultLatin1, "", r("fd", 71), "050003340201"+r("fd", 67), "050003340202"+r("fd", 4)) // not in GSM 7-bit
	f(utf8, sms.DefaultUTF8, "", r("e282ac", 81), "050003340201"+r("e282ac", 76), "050003340202"+r("e282ac", 5))
	f(gsm8, sms.Latin1, "", r("41", 161), "050003340201"+r("41", 153), "050003340202"+r("41", 8))
	f(gsm8, sms.ASCII, "", r("fc", 161), "050003340201"+r("fc", 153), "050003340202"+r("fc", 8))
	septets := bytes.Repeat([]byte("A"), 161)
	pack := func(n, fill int) string { return hex.EncodeToString(charset.AppendPacked(nil, septets[:n], fill)) }
	f(packed, sms.DefaultPacked, "", pack(161, 0), "050003340201"+pack(153, 1), "050003340202"+pack(8, 1))

	// What is a part already, or no text of a known kind, leaves as it is.
	f(gsm8, sms.Default, "0500032a0201", r("41", 200))
	f(gsm8, sms.Default, "06080400010201", r("41", 200))
	f(gsm8, sms.Default, "0300032a", r("41", 200)) // malformed
	f(gsm8, sms.Other, "", r("41", 300))
	f(form(sms.Default, Pass), sms.Default, "", r("41", 300))
	f(form(sms.Default, Payload), sms.Default, "", r("41", 300))
	// A header that says that it is no part of a message is none.
	f(gsm8, sms.Default, "0500032a0001", r("41", 161), "050003340201"+r("41", 153), "050003340202"+r("41", 8))
}

func TestTooManyParts(t *testing.T) {
	var c Converter
	m := message(t, sms.Default, false, strings.Repeat("41", 255*153+1))
	if n, ok := c.Parts(form(sms.Default, Split8), m); ok {
		t.Errorf("%d parts", n)
	}
	m = message(t, sms.Default, false, strings.Repeat("41", 255*153))
	if n, ok := c.Parts(form(sms.Default, Split8), m); n != 255 || !ok {
		t.Errorf("%d parts, %t", n, ok)
	}
}

// The parts of whatever is split fit beside their headers, and say together what the whole
// has said.
func FuzzSplit(f *testing.F) {
	for a := sms.Default; a <= sms.LastAlphabet; a++ {
		f.Add(byte(a), byte(1), false, []byte(strings.Repeat("Grüße [€] \x1be ğ 中 😀", 12)))
		f.Add(byte(a), byte(3), true, []byte("\x03\x24\x01\x01"+strings.Repeat("AB\x1bg\x00A", 50)))
	}
	f.Fuzz(func(t *testing.T, a, long byte, header bool, octets []byte) {
		m := message(t, sms.Alphabet(a)%(sms.LastAlphabet+1), header, hex.EncodeToString(octets))
		form := form(sms.Default, Split8+Long(long%3))
		var c Converter
		if _, ok := c.Parts(form, m); !ok {
			return
		}
		whole, isText := smstext.Decode(m.Alphabet, header, m.Text())
		parts := split(t, form, m)
		if parts == nil {
			return
		}
		var joined strings.Builder
		for _, p := range parts {
			text := p.Text()
			var head []byte
			if p.Flags&sms.HasHeader != 0 {
				var ok bool
				if head, text, ok = userdata.Cut(text); !ok {
					t.Fatalf("%x has no header", p.Text())
				}
				if h, err := userdata.Parse(head); err != nil || h.Part.Total != p.Parts && form.Long != SplitSAR {
					t.Fatalf("%x: %+v, %v", head, h, err)
				}
			}
			if limit := roomFor(p.Alphabet, len(head)); len(text) > limit {
				t.Fatalf("a part in %d has %d octets beside a header of %d", p.Alphabet, len(text), len(head))
			}
			said, _ := smstext.Decode(p.Alphabet, p.Flags&sms.HasHeader != 0, p.Text())
			joined.WriteString(said)
		}
		// Octets above 0x7F make a part Latin-1 and leave another GSM 7-bit, a half of a
		// character is U+FFFD wherever it stands, and '@' at the end of packed septets is filling.
		strict := m.Alphabet != sms.DefaultPacked && !strings.ContainsRune(whole, 0xFFFD)
		if m.Alphabet == sms.Default {
			strict = !bytes.ContainsFunc(octets, func(r rune) bool { return r > 0x7F }) && !strings.HasSuffix(whole, " ")
		}
		if isText && strict && joined.String() != whole {
			t.Fatalf("%q became %q", whole, joined.String())
		}
	})
}

// roomFor returns how many octets a text in an alphabet may have at most.
func roomFor(a sms.Alphabet, header int) int {
	switch a {
	case sms.Default, sms.ASCII, sms.Latin1, sms.DefaultASCII, sms.DefaultLatin1:
		return charset.Charset{}.Room(header)
	case sms.DefaultUTF8:
		return 3 * charset.Charset{}.Room(header)
	}
	return charset.PartOctets - header
}

// A receipt is not cut, however long it is.
func TestReceiptIsNotSplit(t *testing.T) {
	t.Parallel()
	m := &sms.Message{}
	m.Set(sms.Address{}, sms.Address{}, make([]byte, 1000))
	f := New(sms.Default, 0, Keep)
	f.Long = Split8
	if n, ok := new(Converter).Parts(f, m); n < 2 || !ok {
		t.Errorf("another message has %d parts", n)
	}
	m.Kind = sms.Receipt
	if n, ok := new(Converter).Parts(f, m); n != 1 || !ok {
		t.Errorf("a receipt has %d parts, %t", n, ok)
	}
}
