package loadtest

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/protocols"
)

// TestMain fails when a test leaves goroutines behind.
func TestMain(m *testing.M) { testutil.NoLeaks(m) }

func startSink(t *testing.T, o SinkOptions) *Sink {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	s, err := StartSink(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// load runs a load of 3 connections against s and returns its result.
func load(t *testing.T, s *Sink, change func(*LoadOptions)) *LoadResult {
	t.Helper()
	o := DefaultLoadOptions()
	o.To, o.Connections, o.Window, o.Messages = s.Addr(), 3, 7, 2000
	o.Timeout = 30 * time.Second
	change(&o)
	r, err := Load(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantClean(t *testing.T, p []string) {
	t.Helper()
	if p != nil {
		t.Errorf("problems: %s", strings.Join(p, ", "))
	}
}

func want(t *testing.T, what string, got, want int64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %d, want %d", what, got, want)
	}
}

func TestLoadAndSinkAgree(t *testing.T) {
	t.Parallel()
	for _, bind := range []protocols.BindType{protocols.Transmitter, protocols.Transceiver} {
		s := startSink(t, SinkOptions{Messages: 2000, SystemID: "load", Password: "secret"})
		r := load(t, s, func(o *LoadOptions) { o.Bind = bind })
		wantClean(t, r.Problems())
		<-s.Done()
		seen := s.Result()
		wantClean(t, seen.Problems())
		want(t, "accepted", r.Accepted, 2000)
		want(t, "sent", r.Sent, 2000)
		want(t, "binds", seen.Binds, 3)
		if got, want := Compare(r, seen), (Comparison{Sent: 2000, Answered: 2000, Delivered: 2000}); got != want {
			t.Errorf("comparison: got %+v, want %+v", got, want)
		}
		if l := r.Latency; l.P50 <= 0 || l.P50 > l.P90 || l.P90 > l.P99 || l.P99 > l.P999 || l.P999 > l.Max {
			t.Errorf("latency is not a distribution: %+v", l)
		}
	}
}

func TestThrottledIsCountedApart(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Faults: Faults{ThrottleEvery: 10}})
	r := load(t, s, func(*LoadOptions) {})
	wantClean(t, r.Problems())
	want(t, "throttled", r.Throttled, 200)
	want(t, "by status", r.Statuses["ESME_RTHROTTLED"], 200)
	want(t, "accepted", r.Accepted, 1800)
	want(t, "throttled by sink", s.Result().Throttled, 200)
}

func TestThrottledIsSentAgain(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 5000} {
		s := startSink(t, SinkOptions{Faults: Faults{ThrottleEvery: 10}, Messages: 2000})
		r := load(t, s, func(o *LoadOptions) { o.Retry, o.Rate = time.Millisecond, rate })
		wantClean(t, r.Problems())
		<-s.Done()
		wantClean(t, s.Result().Problems())
		want(t, "accepted", r.Accepted, 2000)
		want(t, "resent", r.Resent, r.Throttled)
		want(t, "sent", r.Sent, 2000+r.Resent)
	}
}

func TestRefusedIsAProblem(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Faults: Faults{RefuseEvery: 100}})
	r := load(t, s, func(*LoadOptions) {})
	want(t, "refused", r.Refused, 20)
	want(t, "by status", r.Statuses["ESME_RSUBMITFAIL"], 20)
	if got := r.Problems(); !reflect.DeepEqual(got, []string{"20 refused"}) {
		t.Errorf("problems: %q", got)
	}
}

// Every answer that the sink sent before it dropped a connection arrives.
func TestDroppedConnectionsAreCounted(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{0, time.Millisecond} {
		s := startSink(t, SinkOptions{Faults: Faults{DropEvery: 300}, Delay: delay})
		r := load(t, s, func(*LoadOptions) {})
		seen := s.Result()
		want(t, "lost", r.ConnectionsLost, 3)
		want(t, "dropped", seen.Dropped, 3)
		want(t, "answered", r.Answered, seen.Accepted)
		want(t, "unanswered", r.Unanswered, r.Sent-seen.Accepted)
		c := Compare(r, seen)
		want(t, "missing", c.Missing, 0)
		if r.Unanswered < 3 || r.Unanswered > 21 {
			t.Errorf("unanswered: got %d, want 3 to 21", r.Unanswered)
		}
	}
}

func TestMuteSinkIsGivenUp(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Faults: Faults{Mute: true}})
	r := load(t, s, func(o *LoadOptions) { o.Timeout = 3 * time.Second })
	if !r.GaveUp {
		t.Error("did not give up")
	}
	want(t, "sent", r.Sent, 21)
	want(t, "unanswered", r.Unanswered, 21)
	want(t, "lost", r.ConnectionsLost, 0)
}

func TestRateIsKept(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{})
	r := load(t, s, func(o *LoadOptions) { o.Rate, o.Messages = 2000, 300 })
	wantClean(t, r.Problems())
	want(t, "accepted", r.Accepted, 300)
	if r.Seconds < 299./2000 { // the machine may delay messages, but none may be early
		t.Errorf("seconds: got %f, want at least 299/2000", r.Seconds)
	}
}

func TestDurationEndsTheSending(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{})
	r := load(t, s, func(o *LoadOptions) { o.Rate, o.Duration, o.Messages = 2000, 50*time.Millisecond, 0 })
	wantClean(t, r.Problems())
	want(t, "delivered", Compare(r, s.Result()).Delivered, r.Sent)
}

// The latency of an open loop is measured from the planned time, so that it includes the
// time that messages wait in a backlog.
func TestRateShowsTheBacklog(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Delay: 20 * time.Millisecond})
	r := load(t, s, func(o *LoadOptions) { o.Rate, o.Connections, o.Window, o.Messages = 1000, 1, 1, 20 })
	wantClean(t, r.Problems())
	if r.Latency.Max < 300_000 { // the last is planned after 20 ms and sent after 19 answers of 20 ms
		t.Errorf("longest latency: got %.0f us, want 380000", r.Latency.Max)
	}
}

func TestEndOfContextEndsTheSending(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Delay: time.Millisecond})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r := make(chan *LoadResult)
	go func() {
		o := DefaultLoadOptions()
		o.To, o.Duration = s.Addr(), time.Hour
		o.Progress = func(c Counts) {
			if c.Answered > 50 {
				stop()
			}
		}
		result, err := Load(ctx, o)
		if err != nil {
			t.Error(err)
		}
		r <- result
	}()
	result := <-r
	wantClean(t, result.Problems())
	want(t, "delivered", Compare(result, s.Result()).Delivered, result.Sent)
}

// A sink that closes unbinds, so that everything it accepted was answered.
func TestSinkThatClosesUnderLoad(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{})
	r := load(t, s, func(o *LoadOptions) {
		o.Messages, o.Duration = 0, time.Hour
		o.Progress = func(c Counts) {
			if c.Answered > 1000 {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	want(t, "answered", r.Answered, s.Result().Accepted)
	want(t, "lost", r.ConnectionsLost, 3)
	want(t, "missing", Compare(r, s.Result()).Missing, 0)
}

func TestLoadThatCannotBegin(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{SystemID: "somebody else"})
	o := DefaultLoadOptions()
	o.To, o.Messages, o.Connections = s.Addr(), 1, 5
	_, err := Load(context.Background(), o)
	if err == nil || !strings.Contains(err.Error(), "ESME_RBINDFAIL") {
		t.Errorf("wrong system_id: got %v", err)
	}
	for _, change := range []func(*LoadOptions){
		func(o *LoadOptions) { o.Messages = 0 },
		func(o *LoadOptions) { o.Size = 10 },
		func(o *LoadOptions) { o.Window = 0 },
		func(o *LoadOptions) { o.Receipts, o.Bind = true, protocols.Transmitter },
		func(o *LoadOptions) { o.Destination = strings.Repeat("4", 14) },
	} {
		wrong := o
		change(&wrong)
		if _, err := Load(context.Background(), wrong); err == nil || !strings.HasPrefix(err.Error(), "cannot start load: ") {
			t.Errorf("%+v: got %v", wrong, err)
		}
	}
}

func TestEcho(t *testing.T) {
	t.Parallel()
	e, err := StartEcho("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	l, err := Echo(context.Background(), e.Addr(), 100)
	if err != nil {
		t.Fatal(err)
	}
	if l.P50 <= 0 || l.P50 > l.Max {
		t.Errorf("latency: %+v", l)
	}
}

// Scripts rely on the names in the JSON.
func TestJSONNames(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(struct {
		*LoadResult
		Sink *SinkResult
	}{&LoadResult{}, &SinkResult{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sent", "answered", "unanswered", "p99_us", "messages_per_second", "unique", "doubled", "missing"} {
		if !strings.Contains(string(b), `"`+name+`":`) {
			t.Errorf("%s is missing", name)
		}
	}
}
