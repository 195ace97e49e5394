package fit

import (
	"bytes"
	"strings"
	"testing"

	"pmg/sms"
	"pmg/sms/userdata"
)

// What was split is joined again, in every alphabet, with the headers that it had.
func TestJoin(t *testing.T) {
	t.Parallel()
	c := &Converter{}
	for _, header := range [][]byte{nil, {4, 4, 2, 7, 8}} {
		for _, a := range []sms.Alphabet{sms.Default, sms.DefaultPacked, sms.UCS2, sms.Binary, sms.Latin1, sms.DefaultUTF8} {
			var m sms.Message
			m.Alphabet = a
			text := append(bytes.Clone(header), strings.Repeat("text of many parts. ", 40)...)
			m.Set(sms.Address{}, sms.Address{}, text)
			if header != nil {
				m.Flags |= sms.HasHeader
			}
			f := New(sms.Default, 0, Keep)
			f.Long = Split8
			n, ok := c.Parts(f, &m)
			if !ok || n < 3 {
				t.Fatalf("%v: %d parts", a, n)
			}
			var pool sms.Pool
			parts := make([]*sms.Message, n)
			for i := range parts {
				parts[i] = pool.Copy(&m)
			}
			c.Split(f, &m, 7, parts)
			for i, part := range parts {
				if p, _, ok := PartOf(part); !ok || p != (userdata.Part{Reference: 7, Number: uint8(i + 1), Total: uint8(n)}) {
					t.Errorf("%v: %+v, %v", a, p, ok)
				}
			}
			whole := parts[1] // it may be any of them
			if !c.Join(parts, whole) || whole.Flags != m.Flags {
				t.Fatalf("%v: not joined", a)
			}
			if !bytes.Equal(whole.Text(), text) {
				t.Errorf("%v: %q, want %q", a, whole.Text(), text)
			}
			if _, _, ok := PartOf(whole); ok {
				t.Errorf("%v: the whole is a part", a)
			}
		}
	}
}

// Parts that differ in more than their texts are not joined.
func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	part := func(header ...byte) *sms.Message {
		m := &sms.Message{Flags: sms.HasHeader}
		m.Set(sms.Address{}, sms.Address{}, append(header, "text"...))
		return m
	}
	first := []byte{5, 0, 3, 1, 2, 1}
	for name, m := range map[string]*sms.Message{
		"ports": part(9, 0, 3, 1, 2, 2, 4, 2, 7, 8),
		"alphabet": func() *sms.Message {
			m := part(5, 0, 3, 1, 2, 2)
			m.Alphabet = sms.UCS2
			return m
		}(),
		"class": func() *sms.Message {
			m := part(5, 0, 3, 1, 2, 2)
			m.Class = sms.Class0
			return m
		}(),
		"protocol identifier": func() *sms.Message {
			m := part(5, 0, 3, 1, 2, 2)
			m.PID = 0x41
			return m
		}(),
		"cut header": part(90, 0, 3),
	} {
		whole := part(first...)
		before := bytes.Clone(whole.Text())
		if (&Converter{}).Join([]*sms.Message{whole, m}, whole) || !bytes.Equal(whole.Text(), before) {
			t.Errorf("%s: joined to %q", name, whole.Text())
		}
	}
}

// Parts that make more than a protocol carries are not joined, because the rest would be cut off.
func TestJoinTooLong(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]bool{maxOctets / 2: true, maxOctets/2 + 1: false} {
		parts := make([]*sms.Message, 2)
		for i := range parts {
			parts[i] = &sms.Message{Flags: sms.HasHeader}
			parts[i].Set(sms.Address{}, sms.Address{}, append([]byte{5, 0, 3, 1, 2, byte(i + 1)}, strings.Repeat("x", size)...))
		}
		before := bytes.Clone(parts[0].Text())
		if ok := (&Converter{}).Join(parts, parts[0]); ok != want || !ok && !bytes.Equal(parts[0].Text(), before) {
			t.Errorf("2 parts of %d octets: joined %t to %d octets", size, ok, len(parts[0].Text()))
		}
	}
}
