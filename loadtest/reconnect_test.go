package loadtest

import (
	"net"
	"testing"
	"time"

	"pmg/protocols"
)

// Connections that are lost are opened again: every message is accepted, and has a receipt,
// which may come twice if its answer was lost.
func TestReconnect(t *testing.T) {
	t.Parallel()
	for _, o := range []SinkOptions{
		{Faults: Faults{DropEvery: 300}},
		{Faults: Faults{UnbindEvery: 300}},
		{Faults: Faults{CloseBindEvery: 3}},
	} {
		o.Receipts = true
		s := startSink(t, o)
		r := load(t, s, func(o *LoadOptions) { o.Receipts, o.Reconnect = true, time.Millisecond })
		wantClean(t, r.Problems())
		want(t, "accepted", r.Accepted, 2000)
		want(t, "receipts", r.Receipts, 2000)
		want(t, "missing", Compare(r, s.Result()).Missing, 0)
		want(t, "sent", r.Sent, 2000+r.SentAgain)
		if o.CloseBindEvery > 0 { // the others may be done before that one is opened again
			if s.Result().BindsClosed == 0 {
				t.Error("no connection was closed")
			}
		} else if r.Reconnects == 0 {
			t.Error("no connection was opened again")
		}
	}
}

// A load whose gateway has gone for good ends.
func TestReconnectEnds(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{})
	r := load(t, s, func(o *LoadOptions) {
		o.Messages, o.Duration, o.Reconnect, o.Timeout = 0, time.Hour, time.Millisecond, 3*time.Second
		o.Progress = func(c Counts) {
			if c.Answered > 1000 {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	if !r.GaveUp {
		t.Error("did not give up")
	}
	want(t, "answered", r.Answered, s.Result().Accepted)
}

// A receiving connection that the peer ends is lost if something is missing in the end, and not
// if another connection has only not read it yet.
func TestEndedBeforeOthersHaveRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		arrives, receives bool
		lost              int64
	}{{true, true, 0}, {false, true, 1}, {false, false, 0}} {
		ours, peer := net.Pipe()
		peer.Close()
		o := DefaultLoadOptions()
		o.Receipts = true
		r := newRun(o)
		r.supply.stop()
		bind := protocols.Transmitter
		if c.receives {
			bind = protocols.Receiver
		}
		one := newClient(r, ours, 0, bind)
		r.clients = append(r.clients, one)
		r.accepted.Mark([]int64{0}) // its receipt is to come
		one.serve()
		if c.arrives {
			r.receipts.Mark([]int64{0})
		}
		want(t, "lost", r.result().ConnectionsLost, c.lost)
	}
}
