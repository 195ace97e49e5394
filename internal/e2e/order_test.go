package e2e

import (
	"fmt"
	"testing"
	"time"
)

// One session sends in the order of arrival.
func TestOrder(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 1"})
	s := operator.session()
	c := g.bind("transceiver")
	c.submit(1, 300)
	s.serve(1, 300)
	c.accepted(1, 300)
}

// Waiting messages are sent by priority, and then in the order of arrival.
func TestPriorities(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 100"})
	c := g.bind("transmitter")
	for i, priority := range []int{0, 1, 3, 2, 0, 1, 3, 2, 99} {
		c.submit(i, i, fmt.Sprint("priority_flag=", priority))
		c.accepted(i, i)
	}
	s := operator.session()
	for _, n := range []int{8, 2, 6, 3, 7, 1, 5, 0, 4} {
		s.serve(n, n)
	}
}

// A message with a delivery time waits for it, and does not delay others.
func TestScheduled(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	s := operator.session()
	c := g.bind("transmitter")
	began := time.Now()
	c.submit(1, 1, "schedule_delivery_time=000000000001000R")
	c.submit(2, 3)
	c.accepted(1, 3)
	s.serve(2, 3)
	s.serve(1, 1)
	if after := time.Since(began); after < time.Second {
		t.Errorf("sent after %s", after)
	}
}

// A message whose validity runs out while it waits is dropped and counted.
func TestExpired(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	c := g.bind("transmitter")
	c.submit(1, 1, "validity_period=000000000001000R")
	c.submit(2, 2)
	c.accepted(1, 2)
	time.Sleep(1100 * time.Millisecond)
	operator.session().serve(2, 2)
	if n := g.stats("operator").Expired.Load(); n != 1 {
		t.Errorf("%d expired", n)
	}
}

// Message ids are 16 hex digits and never repeat, not even after a restart.
func TestMessageIDs(t *testing.T) {
	parallel(t)
	last := ""
	for range 3 {
		g := start(t, site{operator: newSMSC(t)})
		c := g.bind("transmitter")
		c.submit(1, 100)
		for range 100 {
			id := field(c.want("submit_sm_resp", "status=0"), "message_id")
			if len(id) != 16 || id <= last {
				t.Fatalf("id %s after %s", id, last)
			}
			last = id
		}
		c.conn.Close()
		g.stop()
	}
}
