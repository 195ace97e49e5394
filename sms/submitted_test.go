package sms

import (
	"bytes"
	"slices"
	"testing"
)

// A message keeps what its client has submitted, whatever else of it changes, and the rest of
// it stays as it was.
func TestSubmitted(t *testing.T) {
	t.Parallel()
	var p Pool
	for _, size := range []int{0, 40, 60, 70, 90, 110, 130, 300} {
		m := p.Get()
		text, native := bytes.Repeat([]byte("t"), size), []byte("native")
		source, dest := Address{TON: 5, Addr: []byte("Me")}, Address{NPI: 1, Addr: []byte("+46700000001")}
		check := func(what string, want bool) {
			t.Helper()
			s, ok := m.Submitted()
			if ok != want || ok && (!s.Source.equal(source) || !s.Dest.equal(dest)) {
				t.Errorf("%d, %s: submitted %v %v", size, what, s, ok)
			}
			if !bytes.Equal(m.Text(), text) || !bytes.Equal(m.Native(1), native) || m.Native(2) != nil || m.Protocol() != 1 {
				t.Errorf("%d, %s: text %q, native part %q of %d", size, what, m.Text(), m.Native(1), m.Protocol())
			}
		}
		m.Set(source, dest, text)
		m.SetNative(1, native)
		m.KeepAddresses(source, dest)
		check("not changed", false)
		to := Address{TON: 1, Addr: []byte("46700000001")}
		m.KeepAddresses(Address{}, to)
		m.SetAddresses(Address{}, to)
		check("addresses", true)
		for _, text = range [][]byte{text, []byte("short"), bytes.Repeat([]byte("l"), size+50), text} {
			m.SetText(text)
			check("text", true)
		}
		for _, native = range [][]byte{[]byte("longer native"), {}, []byte("n")} {
			m.SetNative(1, native)
			check("native part", true)
		}
		c := p.Copy(m)
		m, c = c, m
		c.SetText([]byte("other"))
		check("copy", true)
		m.Set(Address{}, to, text)
		m.SetNative(1, native)
		check("set", true)
		m.SetSubmittedOctets(nil)
		check("removed", false)
		if from := m.Dest(); !from.equal(to) {
			t.Errorf("%d: destination %v", size, from)
		}
		m.Release()
		c.Release()
	}
}

// What is damaged is no Submitted.
func TestSubmittedDamaged(t *testing.T) {
	t.Parallel()
	s := Submitted{Source: Address{Addr: []byte("1234")}, Dest: Address{Addr: []byte("5")}}
	b := s.Append(nil)
	s.Joined = []Joined{{1 << 40, NotifySuccess}, {7, NotifyFailure | NotifyProgress}}
	whole := s.Append(nil)
	if got, ok := ReadSubmitted(whole); !ok || !slices.Equal(got.Joined, s.Joined) {
		t.Errorf("read %+v %v", got, ok)
	}
	if _, ok := ReadSubmitted(whole[:len(whole)-1]); ok {
		t.Error("half a joined message is read")
	}
	for n := range b {
		if _, ok := ReadSubmitted(b[:n]); ok {
			t.Errorf("%x is read", b[:n])
		}
	}
	if _, ok := ReadSubmitted(append(b, 0)); ok {
		t.Error("an octet too many is read")
	}
}
