package userdata

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pmg/sms/charset"
)

// split cuts a text, and checks that Count agrees.
func split(t testing.TB, s *Splitter, text []byte) (parts [][]byte) {
	t.Helper()
	n, err := s.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	if n == 1 {
		return [][]byte{text}
	}
	for part, rest := s.Next(text); part != nil; part, rest = s.Next(rest) {
		parts = append(parts, part)
	}
	if len(parts) != n {
		t.Fatalf("%d parts, but %d were counted", len(parts), n)
	}
	if !bytes.Equal(bytes.Join(parts, nil), text) {
		t.Fatal("the parts are not the text")
	}
	return parts
}

func TestSplit(t *testing.T) {
	f := func(s Splitter, text string, want ...int) {
		t.Helper()
		parts := split(t, &s, []byte(text))
		if len(parts) != len(want) {
			t.Fatalf("%d parts, want %d", len(parts), len(want))
		}
		for i, p := range parts {
			if len(p) != want[i] {
				t.Errorf("part %d has %d octets, want %d", i+1, len(p), want[i])
			}
		}
	}
	r := strings.Repeat
	gsm, ucs2, binary := charset.GSM7, charset.UCS2, charset.Latin1
	f(Splitter{Coding: gsm}, "", 0)
	f(Splitter{Coding: gsm}, r("A", 160), 160)
	f(Splitter{Coding: gsm}, r("A", 161), 153, 8)
	f(Splitter{Coding: gsm, Wide: true}, r("A", 161), 152, 9)
	f(Splitter{Coding: gsm}, r("A", 306), 153, 153)
	f(Splitter{Coding: gsm}, r("A", 307), 153, 153, 1)
	f(Splitter{Coding: ucs2}, r("\x04A", 70), 140)
	f(Splitter{Coding: ucs2}, r("\x04A", 71), 134, 8)
	f(Splitter{Coding: ucs2, Wide: true}, r("\x04A", 71), 132, 10)
	f(Splitter{Coding: binary}, r("A", 140), 140)
	f(Splitter{Coding: binary}, r("A", 141), 134, 7)
	f(Splitter{Coding: binary, Wide: true}, r("A", 141), 133, 8)

	// Escapes, surrogates and characters of UTF-8 stay whole.
	f(Splitter{Coding: gsm}, r("A", 152)+"\x1be"+r("A", 10), 152, 12)
	f(Splitter{Coding: gsm}, r("A", 151)+"\x1be"+r("A", 10), 153, 10)
	f(Splitter{Coding: gsm}, r("\x1be", 100), 152, 48)
	f(Splitter{Coding: gsm}, r("\x1b", 200), 152, 48)
	f(Splitter{Coding: gsm}, "A"+r("\x1b", 200), 153, 48)
	f(Splitter{Coding: ucs2}, r("\x00A", 66)+"\xd8\x3d\xde\x00"+r("\x00A", 10), 132, 24)
	f(Splitter{Coding: ucs2}, r("\x00A", 65)+"\xd8\x3d\xde\x00"+r("\x00A", 10), 134, 20)
	f(Splitter{Coding: ucs2}, r("\x00A", 66)+r("\xd8\x3d", 10), 134, 18) // halves only
	f(Splitter{Coding: ucs2}, r("\x00A", 71)+"\x00", 134, 9)             // an octet too many
	f(Splitter{Coding: charset.UTF8}, r("A", 133)+"\u044f"+r("A", 10), 133, 12)
	f(Splitter{Coding: charset.UTF8}, r("A", 132)+"\U0001F600"+r("A", 10), 132, 14)
	f(Splitter{Coding: charset.UTF8}, r("A", 130)+"\U0001F600"+r("A", 10), 134, 10)
	f(Splitter{Coding: charset.UTF8}, r("\x80", 150), 134, 16)

	// The header that all parts have takes room.
	ports, shift := octets(t, "0605040b8423f0"), octets(t, "03240101")
	f(Splitter{Coding: gsm, Header: ports}, r("A", 152), 152)
	f(Splitter{Coding: gsm, Header: ports}, r("A", 153), 146, 7)
	f(Splitter{Coding: gsm, Header: shift}, r("A", 155), 155)
	f(Splitter{Coding: gsm, Header: shift}, r("A", 156), 149, 7)
	f(Splitter{Coding: gsm, Header: octets(t, "0500032a0201")}, r("A", 161), 153, 8) // its own part takes the place
	f(Splitter{Coding: ucs2, Header: ports}, r("\x00A", 67), 128, 6)
}

func TestSplitRefuses(t *testing.T) {
	f := func(s Splitter, size int) {
		t.Helper()
		if n, err := s.Count(bytes.Repeat([]byte("A"), size)); !errors.Is(err, ErrTooLong) {
			t.Errorf("%d octets: %d, %v", size, n, err)
		}
	}
	f(Splitter{}, 255*153+1)
	f(Splitter{Coding: charset.UCS2}, 255*134+2)
	huge := append([]byte{136, 0x70, 134}, make([]byte, 134)...)
	f(Splitter{Header: huge}, 100)
	f(Splitter{Coding: charset.UCS2, Header: huge}, 100)
	if n, err := new(Splitter).Count(bytes.Repeat([]byte("A"), 255*153)); n != 255 || err != nil {
		t.Errorf("255 parts: %d, %v", n, err)
	}
}

// Whatever is cut, the parts are the text, fit beside their header, and are whole.
func FuzzSplit(f *testing.F) {
	for coding := range byte(6) {
		f.Add(coding, true, []byte{}, []byte(strings.Repeat("A\x1be\xd8\x3d\xde\x00я", 40)))
		f.Add(coding, false, []byte{}, []byte(strings.Repeat("A", 2*134+1))) // half a character of UCS-2 at the end
		f.Add(coding, false, octets(f, "0605040b8423f0"), []byte(strings.Repeat("\x1b", 500)))
	}
	f.Fuzz(func(t *testing.T, coding byte, wide bool, header, text []byte) {
		s := Splitter{Coding: charset.Coding(coding % 6), Wide: wide, Header: header}
		if _, err := Parse(header); err != nil {
			s.Header = nil
		}
		if n, err := s.Count(text); err != nil || n == 1 {
			return
		}
		c := charset.Charset{Coding: s.Coding}
		for i, p := range split(t, &s, text) {
			head, ok := AppendHeader(nil, s.Header, Part{Number: uint8(i + 1), Total: 255, Wide: wide})
			size := len(p)
			if s.Coding == charset.UCS2 {
				size = (size + 1) / 2
			}
			if !ok || size > c.Room(len(head)) {
				t.Fatalf("part %d of %d octets does not fit beside a header of %d", i+1, len(p), len(head))
			}
			if s.Coding == charset.UTF8 && utf8.Valid(text) && !utf8.Valid(p) {
				t.Fatalf("part %d cuts a character: %q", i+1, p)
			}
		}
	})
}

// A text decodes the same in parts as whole.
func FuzzSplitText(f *testing.F) {
	f.Add(strings.Repeat("Grüße € [ok] ", 40))
	f.Add(strings.Repeat("Привет 😀", 40))
	f.Fuzz(func(t *testing.T, text string) {
		c := charset.Best([]byte(text), charset.AllLanguages)
		b, loss := c.Encode(nil, []byte(text), charset.Report)
		s := Splitter{Coding: c.Coding, Header: shifts(c)}
		if _, err := s.Count(b); err != nil || loss.Count > 0 {
			return
		}
		var again []byte
		for _, p := range split(t, &s, b) {
			var ok bool
			if again, ok = c.Decode(again, p); !ok {
				t.Fatalf("%v: %x cannot be read", c, p)
			}
		}
		if string(again) != text {
			t.Fatalf("%q became %q", text, again)
		}
	})
}

func TestAllocations(t *testing.T) {
	text, header := bytes.Repeat([]byte("A\x1be"), 200), octets(t, "0605040b8423f0")
	b := make([]byte, 0, 300)
	if n := testing.AllocsPerRun(10, func() {
		s := Splitter{Header: header}
		n, _ := s.Count(text)
		rest := text
		for i := range n {
			var part []byte
			part, rest = s.Next(rest)
			out, _ := AppendHeader(b, s.Header, Part{Number: uint8(i + 1), Total: uint8(n)})
			out = append(out, part...)
			head, _, _ := Cut(out)
			_, _ = Parse(head)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A text with half a character of UCS-2 at its end is cut like any other.
func TestSplitHalfCharacter(t *testing.T) {
	text := []byte(strings.Repeat("A", 2*134+1))
	s := Splitter{Coding: charset.UCS2}
	if n, err := s.Count(text); n != 3 || err != nil {
		t.Fatalf("%d parts: %v", n, err)
	}
	var sizes []int
	for len(text) > 0 {
		var piece []byte
		piece, text = s.Next(text)
		sizes = append(sizes, len(piece))
	}
	if len(sizes) != 3 || sizes[0] != 134 || sizes[1] != 134 || sizes[2] != 1 {
		t.Errorf("parts of %d octets", sizes)
	}
}
