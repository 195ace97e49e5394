package loadtest

import (
	"testing"
	"time"

	"pmg/protocols"
)

// Every message of the sink arrives once, on whichever session.
func TestMO(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 20_000} {
		s := startSink(t, SinkOptions{MO: MOOptions{Count: 1000, Rate: rate}})
		r := load(t, s, func(o *LoadOptions) { o.Messages, o.MO = 0, 1000 })
		wantClean(t, r.Problems())
		<-s.Done()
		seen := s.Result()
		wantClean(t, seen.Problems())
		want(t, "messages", r.MO, 1000)
		want(t, "submits", seen.Submits, 0)
		want(t, "answered", seen.MOAnswered, 1000)
	}
}

// Messages of the sink go beside a load and its receipts, and only to receivers.
func TestMOUnderLoad(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Receipts: true, Messages: 2000, MO: MOOptions{Count: 500}})
	r := load(t, s, func(o *LoadOptions) { o.Receipts, o.MO, o.Separate = true, 500, true })
	wantClean(t, r.Problems())
	<-s.Done()
	wantClean(t, s.Result().Problems())
	want(t, "messages", r.MO, 500)
	want(t, "receipts", r.Receipts, 2000)
}

// A message that reaches an account that it is not for is found.
func TestMOOfAnotherAccount(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{MO: MOOptions{Count: 100, To: []string{"1001", "1002"}}})
	r := load(t, s, func(o *LoadOptions) {
		o.Messages, o.MO, o.Connections, o.Timeout = 0, 100, 2, 3*time.Second
		o.Accounts, o.MOTo = []Account{{"a", "x"}, {"b", "y"}}, []string{"1001", "1002"}
	})
	want(t, "all", r.MO+r.MOMisrouted, 100)
	want(t, "missing", r.MOMissing, r.MOMisrouted)
	if r.MOMisrouted == 0 {
		t.Error("none of the messages reached the wrong account, though the sink knows no accounts")
	}
}

// What a session has not answered when it ends is sent again on the next one.
func TestMOIsSentAgain(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Window: 5, MO: MOOptions{Count: 20}})
	silent := dial(t, s, protocols.Receiver)
	for range 5 {
		silent.read(deliverKind)
	}
	silent.conn.Close()
	r := load(t, s, func(o *LoadOptions) { o.Messages, o.MO = 0, 20 })
	wantClean(t, r.Problems())
	<-s.Done()
	want(t, "sent again", s.Result().Redelivered, 5)
}

// A message of a test is sent until it is accepted, on whichever session, and its sender hears of it then.
func TestSend(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Receipts: true})
	sent := make(chan error, 1)
	go func() { sent <- s.Send(t.Context(), "46701740605", "12345", "STOP") }()
	silent := dial(t, s, protocols.Receiver)
	silent.read(deliverKind)
	silent.conn.Close()
	select {
	case err := <-sent:
		t.Fatalf("accepted without an answer: %v", err)
	default:
	}
	second := dial(t, s, protocols.Receiver)
	pdu := second.read(deliverKind)
	d, err := second.wire.delivery(pdu)
	if err != nil || string(d.text) != "STOP" || string(d.to) != "12345" {
		t.Errorf("%q to %q, %v", d.text, d.to, err)
	}
	second.write(second.wire.appendDeliverAnswer(nil, second.wire.header(pdu), pdu))
	if err := <-sent; err != nil {
		t.Error(err)
	}
	want(t, "sent again", s.Result().Redelivered, 1)
	want(t, "answered", s.Result().MOAnswered, 1)
}
