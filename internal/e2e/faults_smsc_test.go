package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

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
