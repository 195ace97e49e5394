package loadtest

import (
	"context"
	"testing"
)

func TestFlood(t *testing.T) {
	t.Parallel()
	const enough = 1000
	s, err := StartSink(SinkOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithCancel(context.Background())
	o := DefaultLoadOptions()
	o.To, o.First = s.Addr(), 500
	written := make(chan int64)
	go func() { written <- Flood(ctx, o) }()
	if err := s.Await(ctx, enough); err != nil {
		t.Fatal(err)
	}
	stop()
	if n := <-written; n < enough {
		t.Errorf("%d submits written, %d arrived", n, enough)
	}
	if r := s.Result(); r.Binds != 1 || r.Doubled != 0 || r.Malformed != 0 || r.Unnumbered != 0 {
		t.Errorf("sink: %+v", r)
	}
}

// Load calls Bound before the first message, and Answered after the last answer and
// before the first unbind.
func TestLoadHooks(t *testing.T) {
	t.Parallel()
	const messages = 100
	s, err := StartSink(SinkOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	o := DefaultLoadOptions()
	o.To, o.Connections, o.Messages = s.Addr(), 3, messages
	calls := 0
	o.Bound = func() {
		calls++
		if r := s.Result(); r.Binds != 3 || r.Submits != 0 {
			t.Errorf("when bound: %+v", r)
		}
	}
	o.Answered = func() {
		calls++
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := s.counts.accepted.Load(); n != messages || len(s.sessions) != 3 {
			t.Errorf("when answered: %d messages, %d sessions", n, len(s.sessions))
		}
	}
	if _, err := Load(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
}
