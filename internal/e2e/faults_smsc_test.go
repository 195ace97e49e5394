package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/internal/testutil"
	"pmg/loadtest"
)

// sendAll sends messages by 4 clients, waits until the sink has received every message that
// the gateway accepted, and returns the comparison.
func sendAll(t *testing.T, g *gw, sink *loadtest.Sink, messages int64) loadtest.Comparison {
	t.Helper()
	_, compared := run(t, g, sink, func(o *loadtest.LoadOptions) { o.Connections, o.Messages = 4, messages })
	testutil.Eventually(t, "nothing is pending", func() bool { return g.Pending() == 0 })
	return compared
}

// F9, F12, H10: an SMSC that unbinds in the middle of a window answers accepted messages
// after the unbind. None of those is sent again. Messages that were not written yet are not
// lost, although on_unknown: fail forbids to send an unanswered message again.
func TestF9UnbindMidWindow(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		name  string
		delay time.Duration
		out   string
	}{
		{"resend", 0, ""},
		{"fail", 0, "on_unknown: fail"},
		{"answers after a while", 5 * time.Millisecond, "on_unknown: fail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sink := startSink(t, loadtest.SinkOptions{Delay: c.delay, Faults: loadtest.Faults{UnbindEvery: 100}})
			g := start(t, site{more: sinkRow("operator", sink, "instances: 2, "+c.out), routes: "{to: operator}"})
			compared := sendAll(t, g, sink, 1000)
			seen := sink.Result()
			if p := compared.Problems(); p != nil {
				t.Errorf("%v after %d unbinds", p, seen.Unbinds)
			}
			if n := g.stats("operator").Failed.Load(); n != 0 {
				t.Errorf("%d messages were given up after %d unbinds", n, seen.Unbinds)
			}
			if seen.Unbinds < 5 {
				t.Errorf("%d unbinds", seen.Unbinds)
			}
		})
	}
}

// F9: the same, message by message: the answers follow the unbind in the same segment.
func TestF9AnswersBehindUnbind(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 10"})
	s, c := operator.session(), g.bind("transmitter")
	c.submit(1, 15)
	c.accepted(1, 15)
	lines := []string{"unbind seq=77"}
	for _, seq := range s.take(1, 10) {
		lines = append(lines, fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=1", seq))
	}
	s.send(lines...)
	s.want("unbind_resp", "seq=77", "status=0")
	s.wantEOF()
	s = operator.session()
	s.serve(11, 15)
	s.fence()
	testutil.Eventually(t, "everything is sent", func() bool { return g.stats("operator").Sent.Load() == 15 })
}

// F12: after an unbind of the peer no message is assigned to its session. Messages that a
// client submits meanwhile are sent in the next session.
func TestF12NothingBehindUnbind(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 10, on_unknown: fail"})
	c := g.bind("transmitter")
	for round := range 10 {
		s := operator.session()
		g.online("operator", 1)
		first := 10 * round
		s.send("unbind seq=77")
		c.submit(first, first+9)
		c.accepted(first, first+9)
		last := first - 1 // the last message that was sent before the gateway had read the unbind
		s.until(func(line string) bool {
			if field(line, "short_message") == "" {
				return true
			}
			last++
			s.answer(0, field(line, "seq"))
			return false
		})
		s.wantEOF()
		s = operator.session()
		if last < first+9 {
			s.serve(last+1, first+9)
		}
		s.conn.Close()
	}
	stats := g.stats("operator")
	if sent, failed := stats.Sent.Load(), stats.Failed.Load(); sent+failed != 100 && g.Pending() == 0 || failed != 0 {
		t.Errorf("%d sent, %d given up", sent, failed)
	}
}

// F13, H7: after an SMSC has closed right after a login, the gateway waits for
// reconnect_delay, and the connector is shown as failing.
func TestF13ClosesAfterBind(t *testing.T) {
	parallel(t)
	sink := startSink(t, loadtest.SinkOptions{Faults: loadtest.Faults{CloseBindEvery: 1}})
	g := start(t, site{
		more:   fmt.Sprintf("{name: operator, direction: out, address: %q, instances: 2, system_id: pmg, password: secret, reconnect_delay: 10s}\n", sink.Addr()),
		routes: "{to: operator}",
	})
	began := time.Now()
	c := g.bind("transmitter")
	c.submit(1, 20) // so that there is always something to send
	c.accepted(1, 20)
	testutil.Eventually(t, "the SMSC has closed a connection", func() bool { return sink.Result().BindsClosed >= 2 })
	for range 500 {
		c.exchange()
	}
	most := 6 + 2*int(time.Since(began)/(10*time.Second)) // a slow machine takes longer than one delay
	if n := int(sink.Result().Binds); n > most {
		t.Errorf("%d logins, more than %d", n, most)
	}
	if n := g.log.count("operator", "session lost"); n > most || n == 0 {
		t.Errorf("%d lines of lost sessions", n)
	}
	if g.stats("operator").Failing.Load() == 0 {
		t.Error("the connector is not shown as failing")
	}
}

// F13: when the SMSC behaves again, the messages go out.
func TestF13Recovers(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: again})
	c := g.bind("transmitter")
	c.submit(1, 20)
	c.accepted(1, 20)
	for range 4 {
		operator.session().conn.Close()
	}
	s := operator.session()
	got := map[string]bool{}
	s.until(func(line string) bool { // messages sent again may come after others
		got[field(line, "short_message")] = true
		s.answer(0, field(line, "seq"))
		return len(got) == 20
	})
	testutil.Eventually(t, "everything is sent", func() bool { return g.stats("operator").Sent.Load() == 20 })
	testutil.Eventually(t, "nothing fails", func() bool { return g.stats("operator").Failing.Load() == 0 })
}

// H8: an SMSC that closes at a certain message gets it only a few times. Other messages in
// the same window are not given up: each of them arrives.
func TestH8ClosesAtAMessage(t *testing.T) {
	parallel(t)
	sink := startSink(t, loadtest.SinkOptions{Faults: loadtest.Faults{CloseText: "#000000000100"}})
	g := start(t, site{more: sinkRow("operator", sink, "retry: [10ms, 20ms, 40ms]"), routes: "{to: operator}"})
	o := loadtest.DefaultLoadOptions()
	o.To, o.SystemID, o.Password, o.Timeout, o.Messages = g.addr("clients"), "acme", "s3cret", testutil.Patience, 300
	load, err := loadtest.Load(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testutil.Patience)
	defer cancel()
	if err := sink.Await(ctx, load.Accepted-1); err != nil {
		t.Error(err)
	}
	testutil.Eventually(t, "nothing is pending", func() bool { return g.Pending() == 0 })
	seen := sink.Result()
	if seen.Unique != load.Accepted-1 {
		t.Errorf("%d of %d other messages came", seen.Unique, load.Accepted-1)
	}
	// Two sessions end before the message is sent alone. From then on each end of a
	// session counts as an attempt.
	if seen.Dropped > 2+4 {
		t.Errorf("the message was sent %d times, 6 are allowed", seen.Dropped)
	}
	if n := g.stats("operator").Failed.Load(); n != 1 {
		t.Errorf("%d messages were given up", n)
	}
}

// F18, H9: an SMSC that answers after the response timeout gets each message once or twice;
// the late answer counts.
func TestF18LateAnswers(t *testing.T) {
	parallel(t)
	const messages = 20
	sink := startSink(t, loadtest.SinkOptions{Delay: 700 * time.Millisecond})
	g := start(t, site{
		more:   sinkRow("operator", sink, "response_timeout: 200ms, enquire_interval: 0s, retry: {lost: [5s, repeat]}"),
		routes: "{to: operator}",
	})
	c := g.bind("transmitter")
	c.submit(1, messages)
	c.accepted(1, messages)
	testutil.Eventually(t, "everything is sent", func() bool { return g.stats("operator").Sent.Load() == messages })
	testutil.Eventually(t, "nothing is pending", func() bool { return g.Pending() == 0 })
	if n := sink.Result().Submits; n > 2*messages {
		t.Errorf("%d submits of %d messages", n, messages)
	}
}

// F18: an SMSC that has lost a whole window of answers and answers keep-alives is sent
// messages again after a while: its session does not stall forever.
func TestF18WindowOfAnswersLost(t *testing.T) {
	parallel(t)
	for _, window := range []int{1, 3} {
		t.Run(fmt.Sprint("window=", window), func(t *testing.T) {
			t.Parallel()
			operator := newSMSC(t)
			g := start(t, site{operator: operator, out: fmt.Sprintf("window: %d, response_timeout: 5s, enquire_interval: 1s, %s", window, again)})
			s, c := operator.session(), g.bind("transmitter")
			c.submit(1, 6)
			c.accepted(1, 6)
			submits, answered := 0, map[string]bool{}
			obey := func(line string) {
				switch command, _, _ := strings.Cut(line, " "); command {
				case "enquire_link":
					s.send("enquire_link_resp seq=" + field(line, "seq") + " status=0")
				case "submit_sm":
					if submits++; submits > window {
						s.answer(0, field(line, "seq"))
						answered[field(line, "short_message")] = true
					}
				}
			}
			for end := time.Now().Add(testutil.Patience); len(answered) < 6; {
				line, err := s.next()
				if err != nil || time.Now().After(end) {
					t.Fatalf("%d of 6 messages came: %v", len(answered), err)
				}
				obey(line)
			}
			testutil.Eventually(t, "everything is sent", func() bool { return g.stats("operator").Sent.Load() == 6 })
		})
	}
}

// H14, F24: messages for clients that are not connected do not keep the gateway from reading
// the SMSC's answers.
func TestH14NobodyReceives(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, clients: "max_queue: 10", out: "response_timeout: 15s, enquire_interval: 0s",
		routes: "{from: operator, to: {account: acme}}\n{to: operator}",
	})
	s, c := operator.session(), g.bind("transmitter")
	g.online("operator", 1)
	const many = 100
	for n := range many {
		s.send(fmt.Sprintf("deliver_sm seq=%d source_addr=46700000001 destination_addr=1234 short_message=\"%d\"", n+1, n))
	}
	c.submit(1, 50)
	c.accepted(1, 50)
	for submits := 0; submits < 50; {
		s.until(func(line string) bool {
			if field(line, "destination_addr") == "" {
				return false
			}
			s.answer(0, field(line, "seq"))
			return true
		})
		submits++
	}
	testutil.Eventually(t, "the answers are counted", func() bool { return g.stats("operator").Sent.Load() == 50 })
	if n := g.stats("operator").Retried.Load(); n != 0 {
		t.Errorf("%d messages were sent again", n)
	}
}
