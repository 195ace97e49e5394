package e2e

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"pmg/config"
	"pmg/internal/testkit/testutil"
)

// A reload changes accounts, routes and rates, and adds and removes connectors. Existing
// sessions go on, except those of removed accounts.
func TestReload(t *testing.T) {
	parallel(t)
	operator, second := newSMSC(t), newSMSC(t)
	before := site{operator: operator, out: "window: 1", accounts: "{system_id: old, password: s3cret}"}
	g := start(t, before)
	s, c := operator.session(), g.bind("transmitter")
	old := g.dial("clients")
	old.bind("transmitter", "old", "s3cret")
	g.online("operator", 1)

	after := before
	after.accounts = "{system_id: new, password: s3cret}"
	after.more = row("second", second, "") + "{name: more, direction: in, address: \"127.0.0.1:0\"}"
	after.routes = "{to: second, account: new}\n{to: operator}"
	g.mustReload(after)
	s2 := second.session()
	refused := g.dial("clients")
	refused.send(bindLine("transmitter", "old", "s3cret"))
	added := g.dial("more")
	added.bind("transmitter", "new", "s3cret")
	added.put(1, 1)
	s2.serve(1, 1)
	old.send("unbind_resp seq=" + field(old.want("unbind"), "seq") + " status=0") // its account was removed (U8)
	old.wantEOF()
	for n := range 2 { // the others stay
		c.put(n, n)
		s.serve(n, n)
	}

	// Messages that wait for a removed connector are still sent.
	added.put(2, 4)
	under := s2.take(2, 4)
	added.put(5, 20)
	g.mustReload(before)
	s2.answer(0, under...)
	s2.serve(5, 20)
	s2.loggedOut()
	added.loggedOut()
	refused.want("bind_transmitter_resp", "status=0xd(ESME_RBINDFAIL)")
	c.put(3, 3)
	s.serve(3, 3)
	equal(t, "sessions with the operator", g.stats("operator").Opened.Load(), 1)

	// A removed connector may be added again.
	g.mustReload(after)
	s2 = second.session()
	added = g.dial("more")
	added.bind("transmitter", "new", "s3cret")
	added.put(1, 1)
	s2.serve(1, 1)
}

// A configuration that cannot be used changes nothing.
func TestReloadBad(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	good := site{operator: operator}
	g := start(t, good)
	s, c := operator.session(), g.bind("transmitter")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()

	bad := good
	bad.accounts = "{system_id: new, password: s3cret}"
	free := testutil.FreeAddress(t)
	bad.more = row("second", operator, "") + fmt.Sprintf("{name: more, direction: in, address: %q}\n{name: taken, direction: in, address: %q}", free, taken.Addr())
	bad.routes = "{to: second}"
	for range 2 {
		if err := g.reload(bad); err == nil || !strings.Contains(err.Error(), "address already in use") {
			t.Errorf("got %v", err)
		}
	}
	if g.Gateway.Table.Connector("second") != nil || g.Gateway.Table.Connector("more") != nil {
		t.Error("a connector was added")
	}
	if conn, err := net.Dial("tcp", free); err == nil {
		conn.Close()
		t.Error("a connector listens that was not added")
	}
	if _, _, err := config.Parse([]byte("routes: [{to: nowhere}]"), config.Options{}); err == nil {
		t.Error("a route that leads nowhere is accepted")
	}
	c.put(1, 1)
	s.serve(1, 1)
	refused := g.dial("clients")
	refused.send(bindLine("transmitter", "new", "s3cret"))
	refused.want("bind_transmitter_resp", "status=0xd(ESME_RBINDFAIL)")

	good.more = row("second", operator, "")
	g.mustReload(good)
	operator.session()
	g.online("second", 1)
}

// A stopping gateway accepts no more messages, sends those that it has accepted, and logs
// out.
func TestDrain(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 2"})
	s, c := operator.session(), g.bind("transceiver")
	c.put(1, 10)
	under := s.take(1, 2)
	addr := g.addr("clients")
	drained := make(chan struct{})
	go func() {
		g.engine.Drain(context.Background())
		close(drained)
	}()
	testutil.Eventually(t, "the gateway is draining", g.Gateway.Node.Draining)
	c.submit(11, 11)
	c.want("submit_sm_resp", "seq=11", "status=0x14(ESME_RMSGQFUL)")
	testutil.Eventually(t, "no client is accepted", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	s.answer(0, under...)
	s.serve(3, 10)
	for _, p := range []*peer{s, c} {
		p.loggedOut()
	}
	<-drained
}

// A drain ends in time even if peers do not answer and messages cannot be sent.
func TestDrainInVain(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	s, c := operator.session(), g.bind("transceiver")
	c.submit(1, 1)
	c.accepted(1, 1)
	s.take(1, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	g.engine.Drain(ctx)
	for _, p := range []*peer{s, c} {
		p.want("unbind")
	}
}

// An account's lane belongs to the first connector that the account may use. When that
// connector is removed, the lane stays for the clients that are bound on others.
func TestReloadRemovesHome(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	listener := func(name string) string {
		return fmt.Sprintf("{name: %s, direction: in, address: \"127.0.0.1:0\"}\n", name)
	}
	before := site{
		operator: operator,
		accounts: "{system_id: rx, password: s3cret, connectors: [more, third]}",
		more:     listener("more") + listener("third"),
		routes:   "{to: {account: rx}, from: operator}\n{to: operator}",
	}
	g := start(t, before)
	s, gone, c := operator.session(), g.dial("more"), g.dial("third")
	gone.bind("receiver", "rx", "s3cret")
	c.bind("receiver", "rx", "s3cret")
	g.online("more", 1)
	g.online("third", 1)
	after := before
	after.accounts = "{system_id: rx, password: s3cret, connectors: [third]}"
	after.more = listener("third")
	if err := g.reload(after); err != nil {
		t.Fatal(err)
	}
	gone.send("unbind_resp seq=" + field(gone.want("unbind"), "seq") + " status=0")
	gone.wantEOF()
	for range 3 {
		s.send(moLine)
		s.want("deliver_sm_resp", "seq=7", "status=0")
		c.send("deliver_sm_resp seq=" + field(c.want("deliver_sm"), "seq") + " status=0")
	}
	testutil.Eventually(t, "all are delivered", func() bool { return g.stats("third").Sent.Load() == 3 && g.Pending() == 0 })
	testutil.Eventually(t, "nothing is shown to wait", func() bool {
		return g.stats("third").InFlight.Load() == 0 && g.stats("third").Queued.Load() == 0
	})
}
