package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

// O17: nothing is sent to an SMSC that an operator holds: new messages go to the next target of
// their route, those that wait follow after failover_after or wait, and what the SMSC itself sends
// still comes. When it is released, what waits leaves.
func TestHold(t *testing.T) {
	parallel(t)
	operator, second := newSMSC(t), newSMSC(t)
	g := start(t, site{operator: operator, memory: true, out: "failover_after: 0s", more: row("second", second, ""),
		routes: "{destination: \"4670\", to: [operator, second]}\n{from: operator, to: clients}\n{to: operator}"})
	smsc, other, c := operator.session(), second.session(), g.bind("transceiver")
	g.online("operator", 1)
	g.online("second", 1)
	if _, err := g.Gateway.Hold(g.engine, "operator", 0, "127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	c.submitOne(1)
	other.serve(1, 1)
	c.send(`submit_sm seq=2 source_addr=1234 destination_addr=4900000001 short_message="2"`)
	c.accepted(2, 2)
	smsc.send("deliver_sm seq=100 source_addr=4900000001 destination_addr=1234 short_message=\"mo\"")
	smsc.want("deliver_sm_resp", "seq=100", "status=0")
	c.send("deliver_sm_resp seq=" + field(c.want("deliver_sm", `short_message="mo"`), "seq") + " status=0")
	smsc.fence()
	if !smsc.silent("submit_sm") {
		t.Error("a message was sent to an SMSC that is held")
	}
	if why := g.NotReady(g.engine); why != nil {
		t.Errorf("not ready: %q", why)
	}
	if p := g.Problems(); len(p) != 1 || !strings.HasSuffix(p[0], " has no target that works: connector operator: an operator holds it") {
		t.Errorf("problems: %q", p)
	}
	if was, err := g.Gateway.Release(g.engine, "operator", "127.0.0.1:1"); !was || err != nil {
		t.Fatalf("%t, %v", was, err)
	}
	line := smsc.want("submit_sm", `short_message="2"`)
	smsc.answer(0, field(line, "seq"))
	testutil.Eventually(t, "everything is sent", func() bool { return g.Pending() == 0 })
	if g.log.count("an operator holds the connector", `"operator":"127.0.0.1:1"`) != 1 || g.log.count("an operator releases the connector") != 1 {
		t.Error("the log does not say who did it")
	}
	if p := g.Problems(); p != nil {
		t.Errorf("problems: %q", p)
	}
}

// A hold ends by its time, and messages leave without anything else that happens.
func TestHoldEnds(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, memory: true})
	smsc, c := operator.session(), g.bind("transceiver")
	g.online("operator", 1)
	if _, err := g.Gateway.Hold(g.engine, "operator", 300*time.Millisecond, "test"); err != nil {
		t.Fatal(err)
	}
	c.submitOne(1)
	smsc.serve(1, 1)
	testutil.Eventually(t, "the end is logged", func() bool { return g.log.count("the hold of the connector is over") == 1 })
}

// O17: an SMSC that is back is connected immediately when an operator says so.
func TestConnectNow(t *testing.T) {
	parallel(t)
	slow := newSMSC(t)
	slow.down()
	g := start(t, site{memory: true, more: fmt.Sprintf("{name: slow, direction: out, address: %q, system_id: pmg, password: secret, reconnect_delay: 1h}", slow.addr())})
	testutil.Eventually(t, "a connection failed", func() bool { return g.stats("slow").Failing.Load() == 1 })
	slow.up()
	if _, err := g.Gateway.Connect(g.engine, "slow", "test"); err != nil {
		t.Fatal(err)
	}
	slow.session()
	g.online("slow", 1)
}

// Orders about connectors that there are not, or that are for clients, are refused with a hint.
func TestHoldRefused(t *testing.T) {
	operator := newSMSC(t)
	g := start(t, site{operator: operator, memory: true, more: `{name: smsc, direction: out, listen: "127.0.0.1:0", system_id: pmg, password: secret}`})
	if _, err := g.Gateway.Connect(g.engine, "smsc", "test"); err == nil || err.Error() != "connector smsc waits for the SMSC to connect" {
		t.Errorf("smsc: %v", err)
	}
	for name, want := range map[string]string{"operater": "did you mean operator?", "zzz": "no such connector: zzz", "clients": "is for clients"} {
		if _, err := g.Gateway.Hold(g.engine, name, 0, "test"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := g.Gateway.Release(g.engine, name, "test"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := g.Gateway.Connect(g.engine, name, "test"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if was, err := g.Gateway.Release(g.engine, "operator", "test"); was || err != nil {
		t.Errorf("released what is not held: %t, %v", was, err)
	}
}
