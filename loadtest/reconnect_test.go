package loadtest

import (
	"testing"
	"time"
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
		if r.Reconnects == 0 {
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
