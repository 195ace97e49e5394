package e2e

import (
	"fmt"
	"net"
	"testing"

	"pmg/internal/testkit/testutil"
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
		c.put(n, n)
		s := operator.session()
		s.serve(n, n)
		got := s.want("unbind")
		s.send("unbind_resp seq=" + field(got, "seq") + " status=0")
		s.wantEOF()
		g.online("operator", 0)
	}
}

// A connector goes on trying while its SMSC cannot be reached, hangs up, refuses
// the login or does not answer it.
func TestReconnect(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	operator.down()
	g := start(t, site{operator: operator, out: "bind_timeout: 1s, " + again})
	c := g.bind("transmitter")
	c.put(1, 2)
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
	equal(t, "failures are still counted", stats.Failing.Load(), 0)
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
	c.put(1, 1)
	s.serve(1, 1)
}
