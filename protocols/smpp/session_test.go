package smpp

import (
	"testing"

	"pmg/protocols"
)

// S9: sequence numbers run from 1 to 0x7FFFFFFF and again (§5.1.4), without those
// that are taken. The session's own requests have theirs from the same place.
func TestNextSequence(t *testing.T) {
	var s session
	f := func(want uint32) {
		t.Helper()
		if got := s.NextSequence(); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	f(1)
	f(2)
	s.sequence.Store(0x7FFFFFFE)
	f(0x7FFFFFFF)
	f(1)
	s.sequence.Store(2*0x7FFFFFFF - 1)
	f(0x7FFFFFFF)
	f(1)
	f(2)
	s.o.Taken = func(n uint32) bool { return n == 3 || n == 4 || n == 6 }
	f(5)
	f(7)
	var p PDU
	s.state, s.o.EnquireInterval = trx, 1
	s.o.Taken = func(n uint32) bool { return n < 20 }
	if a := s.Tick(10, &p, true); a.Kind != protocols.Send || p.ID != EnquireLink || p.SequenceNumber != 20 {
		t.Errorf("got %s and %s, want an enquire_link with the first number that is free", a.Kind, p.AppendLog(nil, true))
	}
}
