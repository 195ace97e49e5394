package e2e

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"pmg/config"
	"pmg/internal/testutil"
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
