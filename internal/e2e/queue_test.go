package e2e

import (
	"testing"

	"pmg/internal/testkit/testutil"
)

// A full queue delays answers. When the SMSC is back, sending goes on, and no message is
// lost. There are never more messages than the queue may hold.
func TestQueueFullDelays(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "max_queue: 10, window: 4"})
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
func TestQueueWait(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "max_queue: 2, queue_wait: 3s"})
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
	c.put(5, 5)
	s.serve(5, 5)
	s.fence()
}
