package e2e

import (
	"pmg/internal/testutil"
	"strings"
	"testing"
)

// P6: an SMSC that has lost our login says so to every message. The session ends, and the messages
// go on in the next one, in their order.
func TestP6SessionIsRefused(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 3"})
	s, c := operator.session(), g.bind("transmitter")
	g.online("operator", 1)
	c.submit(1, 10)
	c.accepted(1, 10)
	under := s.take(1, 3)
	s.answer(0x04, under[0])
	s.answer(0, under[1]) // an answer that was on its way
	s.answer(0x05, under[2])
	s.wantEOF()
	s = operator.session()
	s.serve(1, 1)
	s.serve(3, 10)
	testutil.Eventually(t, "all have ended", func() bool { return g.Pending() == 0 })
	if n := g.stats("operator").Failed.Load(); n != 0 {
		t.Errorf("%d messages are given up", n)
	}
	if g.log.count("session lost", "status 0x4 (ESME_RINVBNDSTS)") != 1 {
		t.Error("the log does not say why the session has ended")
	}
}

// P6: one message that is answered so again and again is sent alone, and is given up at last. The
// others are delivered.
func TestP6MessageEndsSessions(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 3, retry: {lost: [1ms]}"})
	c := g.bind("transmitter")
	c.submit(1, 5)
	c.accepted(1, 5)
	go func() {
		for {
			conn, err := operator.l.Accept()
			if err != nil {
				return // the SMSC is down
			}
			s := newPeer(t, conn)
			for line, err := s.next(); err == nil; line, err = s.next() {
				command, _, _ := strings.Cut(line, " ")
				answer := command + "_resp seq=" + field(line, "seq") + " status=0"
				if field(line, "short_message") == `"1"` {
					answer = command + "_resp seq=" + field(line, "seq") + " status=4"
				}
				_, _ = conn.Write(wire(t, answer))
			}
		}
	}()
	testutil.Eventually(t, "all have ended", func() bool { return g.Pending() == 0 })
	if n := g.stats("operator").Failed.Load(); n != 1 {
		t.Errorf("%d messages are given up", n)
	}
}
