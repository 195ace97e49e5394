package e2e

import (
	"fmt"
	"net"
	"testing"
	"time"

	"pmg/internal/testutil"
)

// A connector that only sends connects when there is something to send, and logs out when
// there was nothing to send for a while.
func TestOnDemand(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "bind: transmitter, instances: 3, window: 2, idle_max: 1s"})
	c := g.bind("transmitter")
	for n := range 2 {
		c.fence()
		if opened := g.stats("operator").Opened.Load(); opened != int64(n) {
			t.Errorf("%d sessions though nothing was to send", opened)
		}
		c.submit(n, n)
		c.accepted(n, n)
		s := operator.session()
		s.serve(n, n)
		got := s.want("unbind")
		s.send("unbind_resp seq=" + field(got, "seq") + " status=0")
		s.wantEOF()
		g.online("operator", 0)
	}
}

// As many sessions are opened on demand as the waiting messages need.
func TestOnDemandMany(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "bind: transmitter, instances: 3, window: 2"})
	c := g.bind("transmitter")
	c.submit(1, 5)
	c.accepted(1, 5)
	for range 3 {
		operator.session()
	}
	stats := g.stats("operator")
	testutil.Eventually(t, "all are under way", func() bool { return stats.InFlight.Load() == 5 })
	if n := stats.Opened.Load(); n != 3 {
		t.Errorf("%d sessions", n)
	}
}

// When a host is down the next one is tried, also after a session was lost.
func TestHosts(t *testing.T) {
	parallel(t)
	one, two, three := newSMSC(t), newSMSC(t), newSMSC(t)
	_, port, _ := net.SplitHostPort(two.addr())
	two.down()
	one.down()
	g := start(t, site{operator: one, out: fmt.Sprintf("addresses: [\"localhost:%s\", %q], %s", port, three.addr(), again)})
	s, c := three.session(), g.bind("transmitter")
	c.submit(1, 1)
	c.accepted(1, 1)
	s.take(1, 1)
	two.up()
	three.down()
	s.conn.Close()
	two.session().serve(1, 1)
}

// A connector goes on trying while its SMSC cannot be reached, hangs up, refuses
// the login or does not answer it.
func TestReconnect(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	operator.down()
	g := start(t, site{operator: operator, out: "bind_timeout: 5s, " + again})
	c := g.bind("transmitter")
	c.submit(1, 2)
	c.accepted(1, 2)
	stats := g.stats("operator")
	testutil.Eventually(t, "it has failed some times", func() bool { return stats.Failing.Load() > 3 })
	operator.up()
	operator.accept().conn.Close()
	s := operator.accept()
	s.send(fmt.Sprintf("bind_transceiver_resp seq=%s status=0xe", field(s.want("bind_transceiver"), "seq")))
	s.wantEOF()
	s = operator.accept()
	s.want("bind_transceiver")
	s.wantEOF()
	s = operator.session()
	s.serve(1, 1)
	s.conn.Close()
	operator.session().serve(2, 2)
	if n := stats.Failing.Load(); n != 0 {
		t.Errorf("%d failures are still counted", n)
	}
}

// Between attempts to connect there is a pause.
func TestReconnectDelay(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	start(t, site{more: fmt.Sprintf("{name: slow, direction: out, address: %q, system_id: pmg, reconnect_delay: 300ms}", operator.addr())})
	for range 2 {
		s := operator.accept()
		s.want("bind_transceiver")
		began := time.Now()
		s.conn.Close()
		operator.accept().conn.Close()
		if pause := time.Since(began); pause < 200*time.Millisecond { // jitter takes some
			t.Errorf("connected again after %s", pause)
		}
	}
}

// IPv6 works like IPv4, in and out.
func TestIPv6(t *testing.T) {
	parallel(t)
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("there is no IPv6: %v", err)
	}
	defer l.Close()
	operator := &smsc{t, l.(*net.TCPListener)}
	g := start(t, site{operator: operator, clients: "addresses: [\"[::1]:0\"]", accounts: "{system_id: six, password: s3cret, networks: [\"::1\"]}"})
	s := operator.session()
	c := dial(t, g.engine.Addresses(g.Gateway.Table.Connector("clients"))[1].String())
	c.bind("transmitter", "six", "s3cret")
	c.submit(1, 1)
	c.accepted(1, 1)
	s.serve(1, 1)
}
