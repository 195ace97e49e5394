package sms

import (
	"bytes"
	"testing"
	"unsafe"
)

// A message from the pool is empty, has no large storage, and has one owner, even if it was
// released twice.
func TestPool(t *testing.T) {
	var p Pool
	for _, size := range []int{10, 1000, 2 * keepSpill} {
		m := p.Get()
		m.Set(Address{}, Address{}, make([]byte, size))
		m.Origin, m.Attempts = &Origin{Account: "acme"}, 3
		m.Release()
		m.Release()
		a, b := p.Get(), p.Get()
		if a == b {
			t.Error("a message released twice has two owners")
		}
		for _, m := range []*Message{a, b} {
			if m.Text() != nil || m.Account() != "" || m.Attempts != 0 || m.spill != nil && cap(*m.spill) > keepSpill {
				t.Errorf("after a text of %d octets: %+v", size, m)
			}
		}
	}
}

// The parts of a message are returned as they were set, whichever storage they are in and
// whatever the message held before.
func TestParts(t *testing.T) {
	const smpp, ucp = 1, 2
	var m Message
	for _, size := range []int{0, 5, 90, 97, 98, 200, 70_000, 3} {
		for _, native := range []int{-1, 0, 4, 60, 3000} {
			source := Address{TON: 5, NPI: 1, Addr: []byte("46700000001")}
			dest := Address{TON: 1, NPI: 2, Addr: []byte("46700000002")}
			text, own := bytes.Repeat([]byte("t"), size), bytes.Repeat([]byte("n"), max(native, 0))
			m.Set(source, dest, text)
			if native >= 0 {
				m.SetNative(smpp, own)
			}
			if got := m.Source(); got.TON != 5 || got.NPI != 1 || !bytes.Equal(got.Addr, source.Addr) {
				t.Errorf("%d, %d: source %v", size, native, got)
			}
			if got := m.Dest(); got.TON != 1 || got.NPI != 2 || !bytes.Equal(got.Addr, dest.Addr) {
				t.Errorf("%d, %d: dest %v", size, native, got)
			}
			if !bytes.Equal(m.Text(), text) || !bytes.Equal(m.Native(smpp), own) || m.Native(ucp) != nil {
				t.Errorf("%d, %d: text %d octets, native %d", size, native, len(m.Text()), len(m.Native(smpp)))
			}
			p, part := m.NativePart()
			if want := protocolOf(native, smpp); p != want || !bytes.Equal(part, own) {
				t.Errorf("%d, %d: native part %d octets of protocol %d, not %d", size, native, len(part), p, want)
			}
		}
	}
}

// protocolOf is the protocol of a message that was given native octets, or none.
func protocolOf(native int, p Protocol) Protocol {
	if native < 0 {
		return 0
	}
	return p
}

// A usual message fills one of the allocator's sizes.
func TestSize(t *testing.T) {
	if size := unsafe.Sizeof(Message{}); size != 224 {
		t.Errorf("a message takes %d octets", size)
	}
}
