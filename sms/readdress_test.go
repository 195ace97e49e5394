package sms

import (
	"bytes"
	"testing"
)

// New addresses leave the text and the native part as they were, whichever storage they are
// in before and afterwards.
func TestSetAddresses(t *testing.T) {
	const smpp = 1
	for _, size := range []int{0, 5, 60, 90, 200, 3000} {
		for _, native := range []int{0, 4, 60, 3000} {
			for _, length := range []int{0, 1, 11, 20, 64, 255, 300} {
				var m Message
				text, own := bytes.Repeat([]byte("t"), size), bytes.Repeat([]byte("n"), native)
				m.Set(Address{1, 1, []byte("46700000001")}, Address{1, 1, []byte("46700000002")}, text)
				m.SetNative(smpp, own)
				source := Address{5, 2, bytes.Repeat([]byte("s"), length)}
				dest := Address{6, 3, bytes.Repeat([]byte("d"), 12)}
				m.SetAddresses(source, dest)
				if got := m.Source(); got.TON != 5 || got.NPI != 2 || !bytes.Equal(got.Addr, source.Addr[:min(length, maxAddress)]) {
					t.Errorf("%d, %d, %d: source %v", size, native, length, got)
				}
				if got := m.Dest(); got.TON != 6 || got.NPI != 3 || !bytes.Equal(got.Addr, dest.Addr) {
					t.Errorf("%d, %d, %d: dest %v", size, native, length, got)
				}
				if !bytes.Equal(m.Text(), text) || !bytes.Equal(m.Native(smpp), own) {
					t.Errorf("%d, %d, %d: text %q, native %q", size, native, length, m.Text(), m.Native(smpp))
				}
			}
		}
	}
}

// A copy has octets of its own, and is released on its own.
func TestCopy(t *testing.T) {
	var p Pool
	for _, size := range []int{3, 1000, 3} {
		m := p.Get()
		m.ID, m.Attempts = 7, 2
		text := bytes.Repeat([]byte("t"), size)
		m.Set(Address{1, 1, []byte("1")}, Address{1, 1, []byte("2")}, text)
		m.SetNative(1, []byte("own"))
		c := p.Copy(m)
		c.SetAddresses(Address{5, 0, []byte("other")}, Address{1, 1, []byte("a long destination")})
		if string(m.Source().Addr) != "1" || string(m.Dest().Addr) != "2" || m.SourceTON != 1 {
			t.Errorf("%d: the message has changed", size)
		}
		if c.ID != 7 || c.Attempts != 2 || string(c.Source().Addr) != "other" || !bytes.Equal(c.Text(), text) || string(c.Native(1)) != "own" {
			t.Errorf("%d: the copy is %+v", size, c)
		}
		c.Release()
		if !bytes.Equal(m.Text(), text) {
			t.Errorf("%d: the message was released with its copy", size)
		}
		m.Release()
	}
}
