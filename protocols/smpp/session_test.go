package smpp

import (
	"testing"
	"time"

	"pmg/protocols"
)

// S9: sequence numbers run from 1 to 0x7FFFFFFF and then begin again (§5.1.4), without those
// that are taken. The session's own requests use the same numbers.
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

// H5: a peer may send an enquire_link a hundred times in a burst, and ten times per second
// without end. Beyond that its session ends. Messages do not count.
func TestEnquireRate(t *testing.T) {
	s := server(t, 0x34)
	now := int64(time.Hour)
	ask := func(id CommandID) protocols.Action {
		p := &PDU{ID: id, SequenceNumber: 7}
		return s.Receive(now, p)
	}
	for n := range 1000 {
		if a := ask(EnquireLink); a.Kind != protocols.Send {
			t.Fatalf("number %d of ten a second: %+v", n, a)
		}
		now += int64(100 * time.Millisecond)
	}
	for n := range 100 {
		if a := ask(EnquireLink); a.Kind != protocols.Send {
			t.Fatalf("number %d together: %+v", n, a)
		}
		if a := ask(SubmitSM); a.Kind != protocols.Message {
			t.Fatalf("a message: %+v", a)
		}
		if a := ask(EnquireLinkResp); a.Kind != protocols.None {
			t.Fatalf("an answer: %+v", a)
		}
	}
	const want = "too many PDUs without a message: over 10 a second"
	if a := ask(EnquireLink); a.Kind != protocols.Close || a.Reason != want {
		t.Errorf("got %+v, want %s", a, want)
	}
}

// P8: what a client asks about its messages does not count, because the account's rate does, but
// for what the gateway is not asked.
func TestOperationRate(t *testing.T) {
	s := server(t, 0x34)
	for n := range 1000 {
		for _, id := range []CommandID{QuerySM, CancelSM, ReplaceSM} {
			if a := s.Receive(2, decoded(t, id)); a.Kind != protocols.Operate {
				t.Fatalf("number %d: %s: got %+v", n, id, a)
			}
		}
	}
	for n := range 101 { // a transmitter's client does not have it in this version
		a := s.Receive(2, &PDU{ID: QueryBroadcastSM})
		if want := protocols.Send; n < 100 && a.Kind != want || n == 100 && a.Kind != protocols.Close {
			t.Fatalf("number %d: got %+v", n, a)
		}
	}
}

// decoded returns a request without values.
func decoded(t *testing.T, id CommandID) *PDU {
	t.Helper()
	p := &PDU{}
	if err := p.ParseLog([]byte(id.String() + " seq=1")); err != nil {
		t.Fatal(err)
	}
	return p
}

// Unknown commands count as well.
func TestUnknownRate(t *testing.T) {
	s := server(t, 0x34)
	for n := range 101 {
		a := s.Receive(2, &PDU{ID: 0x110})
		if want := protocols.Send; n < 100 && a.Kind != want || n == 100 && a.Kind != protocols.Close {
			t.Fatalf("number %d: got %+v", n, a)
		}
	}
}
