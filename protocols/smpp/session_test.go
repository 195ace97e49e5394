package smpp

import "testing"

// Sequence numbers run from 1 to 0x7FFFFFFF and again (§5.1.4).
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
}
