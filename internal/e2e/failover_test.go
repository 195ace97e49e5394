package e2e

import (
	"fmt"
	"pmg/internal/testkit/testutil"
	"testing"
)

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

// Scheduled messages for a connector that a reload removes are routed again, or are given
// up with an entry in the log.
func TestReloadScheduled(t *testing.T) {
	parallel(t)
	for _, to := range []string{"operator", ""} {
		operator, second := newSMSC(t), newSMSC(t)
		before := site{operator: operator, more: row("second", second, ""), routes: "{to: second, destination: '467'}\n{to: operator, destination: '1'}"}
		g := start(t, before)
		s, s2 := operator.session(), second.session()
		g.online("operator", 1)
		g.online("second", 1)
		c := g.bind("transmitter")
		c.submit(1, 3, "schedule_delivery_time=000000010000000R")
		ids := c.ids(1, 3)
		after := before
		after.more = ""
		after.routes = "{to: operator, destination: '1'}"
		if to != "" {
			after.routes = "{to: operator}"
		}
		testutil.Eventually(t, "they are queued", func() bool { return g.stats("second").Queued.Load() == 3 })
		if err := g.reload(after); err != nil {
			t.Fatal(err)
		}
		s2.send("unbind_resp seq=" + field(s2.want("unbind"), "seq") + " status=0")
		s2.wantEOF()
		if to != "" {
			for n := 1; n <= 3; n++ {
				c.ask(fmt.Sprintf("replace_sm seq=9 message_id=%s source_addr=1234 schedule_delivery_time=000000000000000R short_message=\"%d\"", ids[n], n), "status=0")
				s.serve(n, n)
			}
		} else {
			testutil.Eventually(t, "they are given up", func() bool {
				return g.log.count("message given up", `"reason":"bad_destination"`) == 3
			})
		}
		testutil.Eventually(t, "nothing is left", func() bool { return g.Pending() == 0 && g.Gateway.Node.Memory.Used() == 0 })
		c.conn.Close()
	}
}
