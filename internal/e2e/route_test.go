package e2e

import (
	"fmt"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// row returns the configuration of another out connector.
func row(name string, s *smsc, more string) string {
	return fmt.Sprintf(
		"{name: %s, direction: out, address: %q, system_id: pmg, reconnect_delay: 20ms, %s}\n", name, s.addr(), more,
	)
}

// The first route that matches decides the target of a message. Without one the message is
// refused.
func TestRoutes(t *testing.T) {
	parallel(t)
	one, two, three := newSMSC(t), newSMSC(t), newSMSC(t)
	g := start(t, site{
		accounts: "{system_id: other, password: s3cret}",
		more:     row("one", one, "") + row("two", two, "") + row("three", three, ""),
		routes: `{to: one, account: other}
				{to: two, destination: "467", source: "+99"}
				{to: three, destination: "+4670"}`,
	})
	first, second, third := one.session(), two.session(), three.session()
	acme, other := g.bind("transmitter"), g.dial("clients")
	other.bind("transmitter", "other", "s3cret")
	for i, c := range []struct {
		from         *peer
		source, dest string
		to           *peer
	}{
		{other, "1", "1", first},
		{other, "99", "467", first},
		{acme, "99", "46712", second},
		{acme, "+991", "+467", second},
		{acme, "9", "46702", third},
		{acme, "99", "46702", second},
		{acme, "1", "+46702", third},
		{acme, "1", "46712", nil},
		{acme, "99", "4", nil},
	} {
		c.from.send(
			fmt.Sprintf("submit_sm seq=%d source_addr=%s destination_addr=%s short_message=\"%d\"", i, c.source, c.dest, i),
		)
		if c.to == nil {
			c.from.want("submit_sm_resp", fmt.Sprint("seq=", i), "status=0xb(ESME_RINVDSTADR)")
			continue
		}
		c.from.accepted(i, i)
		c.to.serve(i, i)
	}
	equal(t, "not routed", g.Intake.Unrouted(), 2)
}

// When a connector is down the next target of its route takes over, until it is up again.
func TestFailover(t *testing.T) {
	parallel(t)
	one, two := newSMSC(t), newSMSC(t)
	g := start(t, site{more: row("one", one, "") + row("two", two, ""), routes: "{to: [one, two]}"})
	first, second := one.session(), two.session()
	c := g.bind("transmitter")
	for n := 0; n < 6; n += 2 {
		g.online("one", 1)
		c.put(n, n)
		first.serve(n, n)
		first.conn.Close()
		g.online("one", 0)
		c.put(n+1, n+1)
		second.serve(n+1, n+1)
		first = one.session()
	}
}

const (
	moLine      = `deliver_sm seq=7 source_addr=46700000001 destination_addr=1234 short_message="hello"`
	receiptLine = `deliver_sm seq=8 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:1" receipted_message_id=1`
)

// A message from an SMSC goes to a client that can receive, and waits until there is one.
func TestDeliver(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, routes: "{from: operator, to: clients}\n{to: operator}"})
	s := operator.session()
	g.bind("transmitter")
	s.send(moLine, strings.NewReplacer("seq=7", "seq=8", "hello", "bye").Replace(moLine))
	s.want("deliver_sm_resp", "seq=7", "status=0", `message_id=""`)
	s.want("deliver_sm_resp", "seq=8", "status=0", `message_id=""`)
	c := g.bind("receiver")
	for range 2 { // lost with the first session, so they are sent again
		c.want("deliver_sm", `short_message="hello"`)
		c.want("deliver_sm", `short_message="bye"`, "destination_addr=1234")
		c.conn.Close()
		g.online("clients", 0)
		c = g.bind("transceiver")
	}
	for range 2 {
		c.send("deliver_sm_resp seq=" + field(c.want("deliver_sm"), "seq") + " status=0")
	}
	testutil.Eventually(t, "both are delivered", func() bool { return g.stats("clients").Sent.Load() == 2 && g.Pending() == 0 })
}

// Without a route a receipt is accepted, and a mobile-originated message is refused.
func TestDeliverNowhere(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	start(t, site{operator: operator})
	s := operator.session()
	s.send(moLine, receiptLine)
	s.want("deliver_sm_resp", "seq=7", "status=0x66(ESME_RX_R_APPN)")
	s.want("deliver_sm_resp", "seq=8", "status=0")
}
