package e2e

import (
	"fmt"
	"testing"
	"time"

	"pmg/internal/testutil"
)

// A full queue delays answers. When the SMSC is back, sending goes on, and no message is
// lost. There are never more messages than the queue may hold.
func queueFullDelays(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, out: "max_queue: 10, window: 4"})
	var clients []*peer
	for i := range 3 {
		c := g.bind("transmitter")
		c.submit(100*i, 100*i+9)
		if i == 0 {
			c.accepted(0, 9) // before other clients take the room
		}
		clients = append(clients, c)
	}
	operatorQueue := g.Gateway.Table.Connector("operator")
	testutil.Eventually(t, "the queue is full", func() bool { return operatorQueue.Queued() == 10 })
	for _, c := range clients {
		c.fence() // a session whose submits wait for room is alive, and has no answer to them
	}
	s := operator.session()
	got := map[string]bool{}
	for range 30 {
		if n := operatorQueue.Queued(); n > 10 {
			t.Fatalf("%d messages in a queue of 10", n)
		}
		line := s.want("submit_sm")
		got[field(line, "short_message")] = true
		s.answer(0, field(line, "seq"))
	}
	if len(got) != 30 {
		t.Errorf("%d messages arrived", len(got))
	}
	clients[1].accepted(100, 109)
	clients[2].accepted(200, 209)
}

// A submit that waits too long for room is refused. A client that disconnects while its
// submits wait leaves nothing behind.
func queueWait(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, out: "max_queue: 2, queue_wait: 3s"})
	c := g.bind("transmitter")
	c.submit(1, 4)
	c.accepted(1, 2)
	gone := g.bind("transmitter")
	gone.submit(10, 12)
	gone.fence()
	gone.conn.Close()
	for _, seq := range []string{"seq=3", "seq=4"} {
		c.want("submit_sm_resp", seq, "status=0x14(ESME_RMSGQFUL)")
	}
	s := operator.session()
	s.serve(1, 2)
	c.submit(5, 5)
	c.accepted(5, 5)
	s.serve(5, 5)
	s.fence()
}

// With queue_full: refuse a full queue refuses immediately.
func queueFullRefuses(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, out: "max_queue: 10, queue_full: refuse"})
	c := g.bind("transmitter")
	c.submit(1, 15)
	c.accepted(1, 10)
	for n := 11; n <= 15; n++ {
		c.want("submit_sm_resp", fmt.Sprint("seq=", n), "status=0x14(ESME_RMSGQFUL)")
	}
	if n := g.stats("clients").Refused.Load(); n != 5 {
		t.Errorf("%d refused", n)
	}
	s := operator.session()
	s.serve(1, 10)
	testutil.Eventually(t, "there is room", func() bool { return g.Pending() == 0 })
	c.submit(16, 16)
	c.accepted(16, 16)
	s.serve(16, 16)
}

// Rates are kept: the account's by delayed answers, the connector's by waiting messages.
func rates(t *testing.T, a architecture) {
	const rate, many = 40, 42 // the burst, a twentieth of a second's worth, is two
	for _, c := range []struct{ name, account, out string }{
		{"account", fmt.Sprint("rate: ", rate), ""},
		{"connector", "", fmt.Sprint("rate: ", rate)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			operator := newSMSC(t)
			g := startOn(
				t, a,
				site{operator: operator, out: c.out, accounts: "{system_id: slow, password: s3cret, " + c.account + "}"},
			)
			s := operator.session()
			p := g.dial("clients")
			p.bind("transmitter", "slow", "s3cret")
			g.online("operator", 1)
			began := time.Now()
			p.submit(1, many)
			if c.out != "" {
				s.serve(1, many)
			}
			p.accepted(1, many)
			if after := time.Since(began); after < time.Second-50*time.Millisecond {
				t.Errorf("%d messages in %s", many, after)
			}
		})
	}
}

// A logout does not overtake delayed answers, because a client without answers would send
// its messages again.
func unbindBehindLateAnswers(t *testing.T, a architecture) {
	operator := newSMSC(t)
	g := startOn(t, a, site{operator: operator, accounts: "{system_id: slow, password: s3cret, rate: 1}"})
	s := operator.session()
	p := g.dial("clients")
	p.bind("transmitter", "slow", "s3cret")
	g.online("operator", 1)
	p.submit(1, 4)
	s.serve(1, 4)
	p.send("unbind seq=9")
	p.accepted(1, 4)
	p.want("unbind_resp", "seq=9")
	p.wantEOF()
}
