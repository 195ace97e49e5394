package userdata

import (
	"slices"
	"strings"
	"testing"

	"pmg/sms/charset"
)

// A long text is the same again after it was cut, sent in any order and joined, and so is
// the header that it had.
func TestLongMessage(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("GSM 7-bit with € and [brackets]. ", 14),
		strings.Repeat("Юникод ", 30),
		strings.Repeat("😀 emoji", 30),
		strings.Repeat("Bu kısa bir mesaj değil. ", 20),
	} {
		for _, wide := range []bool{false, true} {
			c := charset.Best([]byte(text), charset.AllLanguages)
			octets, loss := c.Encode(nil, []byte(text), charset.Report)
			s := Splitter{Coding: c.Coding, Header: shifts(c), Wide: wide}
			n, err := s.Count(octets)
			if loss.Count > 0 || err != nil || n < 3 {
				t.Fatalf("%q: %+v, %d parts, %v", text, loss, n, err)
			}
			var sent [][]byte
			for i := range n {
				head, _ := AppendHeader(nil, s.Header, Part{300, uint8(i + 1), uint8(n), wide})
				var part []byte
				part, octets = s.Next(octets)
				sent = append(sent, append(head, part...))
			}
			slices.Reverse(sent)
			got, header := receive(t, sent, c.Coding)
			if got != text || string(header) != string(s.Header) {
				t.Errorf("%q became %q with header %x", text, got, header)
			}
		}
	}
}

// receive joins parts and returns their text and the header of the whole.
func receive(t *testing.T, sent [][]byte, coding charset.Coding) (text string, header []byte) {
	t.Helper()
	j := NewJoiner[[]byte](limits)
	for i, userData := range sent {
		head, part, ok := Cut(userData)
		h, err := Parse(head)
		if !ok || err != nil {
			t.Fatalf("%x: %v", userData, err)
		}
		o, values := j.Add(0, source("a"), h.Part, part, userData, len(userData))
		if last := i == len(sent)-1; last != (o == Complete) {
			t.Fatalf("part %d of %d: %d", i+1, len(sent), o)
		} else if !last {
			continue
		}
		var octets []byte
		for _, v := range values {
			_, part, _ := Cut(v)
			octets = append(octets, part...)
		}
		header, _ = AppendHeader(nil, head, Part{})
		b, _ := h.Charset(charset.Charset{Coding: coding}).Decode(nil, octets)
		text = string(b)
	}
	return text, header
}
