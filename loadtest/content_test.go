package loadtest

import (
	"bytes"
	"fmt"
	"testing"
	"unicode/utf16"
)

// A sink receives every text as the load has sent it, in either protocol.
func TestContent(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"smpp", "ucp"} {
		for name := range Codings() {
			for _, parts := range []int{0, 3} {
				c := Content{Size: 100, Coding: Coding(name), Parts: parts}
				t.Run(fmt.Sprint(protocol, " ", Codings()[name], " ", parts), func(t *testing.T) {
					t.Parallel()
					s := startSink(t, SinkOptions{Protocol: protocol, Messages: 1000, Content: &c})
					r := load(t, s, func(o *LoadOptions) { o.Protocol, o.Content, o.Messages, o.First = protocol, c, 1000, 4242 })
					wantClean(t, r.Problems())
					<-s.Done()
					wantClean(t, s.Result().Problems())
				})
			}
		}
	}
}

// Texts that have changed are found.
func TestContentChanged(t *testing.T) {
	t.Parallel()
	expected := Content{Size: 100, Coding: UCS2Coding, Parts: 3}
	for name, c := range map[string]Content{
		"size":   {Size: 98, Coding: UCS2Coding, Parts: 3},
		"coding": {Size: 100, Coding: GSMCoding, Parts: 3},
		"parts":  {Size: 100, Coding: UCS2Coding, Parts: 4},
		"header": {Size: 100, Coding: UCS2Coding},
	} {
		s := startSink(t, SinkOptions{Content: &expected})
		r := load(t, s, func(o *LoadOptions) { o.Content, o.Messages = c, 10 })
		wantClean(t, r.Problems())
		want(t, name, s.Result().Changed, 10)
	}
}

func TestContentOctets(t *testing.T) {
	t.Parallel()
	for size := 28; size <= 254; size += 2 {
		for _, coding := range []Coding{PlainCoding, GSMCoding, UCS2Coding, BinaryCoding} {
			c := Content{Size: size, Coding: coding}
			b := c.octets()
			if len(b) != size || c.check() != nil {
				t.Errorf("%+v: %d octets, %v", c, len(b), c.check())
			}
			if n, ok := ParseNumber(textOf(nil, b, coding.wire())); n != 0 || !ok {
				t.Errorf("%+v: no number in %q", c, b)
			}
			if coding != UCS2Coding {
				continue
			}
			var units []uint16
			for i := 0; i < len(b); i += 2 {
				units = append(units, uint16(b[i])<<8|uint16(b[i+1]))
			}
			if bytes.ContainsRune([]byte(string(utf16.Decode(units))), '\uFFFD') {
				t.Errorf("%+v: half a character in %x", c, b)
			}
		}
	}
	for _, wrong := range []Content{
		{Size: 13}, {Size: 255}, {Size: 26, Coding: UCS2Coding}, {Size: 29, Coding: UCS2Coding}, {Size: 249, Parts: 2},
		{Size: 60, Parts: 256}, {Size: 60, Coding: GSMCoding, Text: "text"}, {Size: 20, Text: "0123456"},
	} {
		if wrong.check() == nil {
			t.Errorf("%+v: no error", wrong)
		}
	}
}
