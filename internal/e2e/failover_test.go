package e2e

import "testing"

// A gateway that stops does not wait for failover_after: messages for an SMSC that is down
// are sent to another.
func TestDrainFailover(t *testing.T) {
	parallel(t)
	one, two := newSMSC(t), newSMSC(t)
	one.down()
	g := start(t, site{
		more:   row("one", one, "failover_after: 1h") + row("two", two, "failover_after: 1h"),
		routes: "{to: [one, two]}",
	})
	two.down()
	c := g.bind("transmitter")
	c.submit(1, 10)
	c.accepted(1, 10)
	two.up()
	s := two.session()
	g.online("two", 1)
	done := make(chan struct{})
	go func() { defer close(done); s.serve(1, 10) }()
	g.drain()
	<-done
	if n := g.Pending(); n != 0 {
		t.Errorf("%d messages are given up", n)
	}
}
