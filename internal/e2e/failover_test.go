package e2e

import (
	"fmt"
	"testing"

	"pmg/internal/testutil"
)

// U3: two SMSCs are down, with messages queued for both. When one comes back, it is sent
// all of them, each once, and those of one SMSC in order.
func TestQueuedFailover(t *testing.T) {
	const many = 5000
	parallel(t)
	for _, policy := range []string{"failover", "weighted"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			one, two := newSMSC(t), newSMSC(t)
			one.down()
			two.down()
			const options = "window: 100, failover_after: 300ms"
			g := start(t, site{
				more:   row("one", one, options) + row("two", two, options),
				routes: fmt.Sprintf("{to: [one, two], policy: %s}", policy),
			})
			c := g.bind("transmitter")
			for n := 1; n < many; n += 500 {
				c.submit(n, n+499)
				c.accepted(n, n+499)
			}
			if n := g.Gateway.Table.Connector("one").Queued(); n != many && policy == "failover" || n+g.Gateway.Table.Connector("two").Queued() != many {
				t.Fatalf("%d messages are queued for one", n)
			}
			two.up()
			s := two.session()
			seen, last := map[string]bool{}, 0
			for range many {
				line := s.want("submit_sm")
				text := field(line, "short_message")
				if seen[text] {
					t.Fatalf("message %s is sent twice", text)
				}
				seen[text] = true
				var n int
				if _, err := fmt.Sscanf(text, "%q", &text); err != nil {
					t.Fatal(err)
				}
				if _, err := fmt.Sscan(text, &n); err != nil {
					t.Fatal(err)
				}
				if n < last && policy == "failover" {
					t.Fatalf("message %d is sent after %d", n, last)
				}
				last = n
				s.answer(0, field(line, "seq"))
			}
			testutil.Eventually(t, "everything is counted", func() bool {
				return g.Pending() == 0 && g.stats("two").Sent.Load() == many && g.Gateway.Node.Memory.Used() == 0
			})
			if n := g.stats("one").Moved.Load(); n == 0 || g.log.count("messages that waited go to other targets") != 1 {
				t.Errorf("%d messages have moved, %d lines say so", n, g.log.count("messages that waited go to other targets"))
			}
		})
	}
}

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

// A connector on demand whose SMSC has failed is connected again without a message, so that
// routes choose it again.
func TestFailoverOnDemand(t *testing.T) {
	parallel(t)
	one, two := newSMSC(t), newSMSC(t)
	one.down()
	g := start(t, site{
		more:   row("one", one, "static: false, failover_after: 100ms") + row("two", two, ""),
		routes: "{to: [one, two]}",
	})
	second := two.session()
	g.online("two", 1)
	c := g.bind("transmitter")
	c.submit(1, 1)
	c.accepted(1, 1)
	second.serve(1, 1)
	one.up()
	first := one.session()
	g.online("one", 1)
	c.submit(2, 2)
	c.accepted(2, 2)
	first.serve(2, 2)
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
