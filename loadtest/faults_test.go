package loadtest

import (
	"context"
	"testing"
	"time"
)

// Every submit that the sink accepts is answered after its unbind, and the connection
// ends when the peer answers the unbind.
func TestFaultUnbind(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Faults: Faults{UnbindEvery: 500}})
	r := load(t, s, func(*LoadOptions) {})
	seen := s.Result()
	want(t, "unbinds", seen.Unbinds, 3)
	want(t, "lost", r.ConnectionsLost, 3)
	want(t, "answered", r.Answered, seen.Accepted)
	want(t, "missing", Compare(r, seen).Missing, 0)
}

func TestFaultTwice(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Faults: Faults{TwiceEvery: 100}})
	r := load(t, s, func(*LoadOptions) {})
	want(t, "accepted", r.Accepted, 2000)
	want(t, "answered twice", s.Result().Twice, 20)
	want(t, "unexpected", r.Unexpected, 20)
}

// Late answers come after those of later submits, and none is lost.
func TestFaultLate(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Faults: Faults{LateEvery: 100, Late: 30 * time.Millisecond}})
	r := load(t, s, func(*LoadOptions) {})
	wantClean(t, r.Problems())
	want(t, "late", s.Result().Late, 20)
	if r.Latency.Max < 30_000 {
		t.Errorf("longest latency: got %.0f us, want at least 30000", r.Latency.Max)
	}
}

// A login is accepted, and the connection is closed after the answer.
func TestFaultCloseBind(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Faults: Faults{CloseBindEvery: 3}})
	r := load(t, s, func(*LoadOptions) {})
	seen := s.Result()
	want(t, "binds", seen.Binds, 3)
	want(t, "closed", seen.BindsClosed, 1)
	want(t, "lost", r.ConnectionsLost, 1)
	want(t, "missing", Compare(r, seen).Missing, 0)
}

// Only messages 100 to 109 have the destination of the fault.
func TestFaultDestination(t *testing.T) {
	t.Parallel()
	const to = "4670000010"
	for _, c := range []struct {
		status string
		faults Faults
	}{
		{"ESME_RTHROTTLED", Faults{ThrottleTo: to}},
		{"ESME_RMSGQFUL", Faults{FullTo: to}},
		{"ESME_RINVDSTADR", Faults{RefuseTo: to}},
	} {
		s := startSink(t, SinkOptions{Faults: c.faults})
		r := load(t, s, func(o *LoadOptions) { o.Messages = 200 })
		want(t, c.status, r.Statuses[c.status], 10)
		want(t, "accepted", r.Accepted, 190)
	}
}

// The connection on which a certain message arrives is closed, and the others go on.
func TestFaultClose(t *testing.T) {
	t.Parallel()
	for _, f := range []Faults{{CloseTo: "46700000100"}, {CloseText: "#000000000100"}} {
		s := startSink(t, SinkOptions{Faults: f})
		r := load(t, s, func(*LoadOptions) {})
		seen := s.Result()
		want(t, "dropped", seen.Dropped, 1)
		want(t, "lost", r.ConnectionsLost, 1)
		want(t, "missing", Compare(r, seen).Missing, 0)
		if s.seen.chunk(0)[100/64]&(1<<(100%64)) != 0 {
			t.Error("the message was accepted")
		}
	}
}

// A sink that closes does not wait for answers that are delayed by an hour.
func TestFaultLateEnds(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Faults: Faults{LateEvery: 1, Late: time.Hour}})
	ctx, cancel := context.WithCancel(context.Background())
	o := DefaultLoadOptions()
	o.To, o.Messages, o.Timeout = s.Addr(), 10, time.Minute
	o.Progress = func(c Counts) {
		if c.Sent == 10 {
			cancel()
			go s.Close()
		}
	}
	r, err := Load(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "accepted", r.Accepted, 10)
}
