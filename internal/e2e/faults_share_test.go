package e2e

import (
	"fmt"
	"testing"

	"pmg/internal/testutil"
	"pmg/loadtest"
)

// startSink starts an SMSC that counts messages, for tests that need not see their order.
func startSink(t *testing.T, o loadtest.SinkOptions) *loadtest.Sink {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	s, err := loadtest.StartSink(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// sinkRow returns the configuration of a connector to a sink.
func sinkRow(name string, s *loadtest.Sink, options string) string {
	return fmt.Sprintf("{name: %s, direction: out, address: %q, system_id: pmg, password: secret, reconnect_delay: 20ms, %s}\n", name, s.Addr(), options)
}

// downRow returns the configuration of a connector to an SMSC that is down.
func downRow(t *testing.T, name, options string) string {
	s := newSMSC(t)
	s.down()
	return row(name, s, options)
}

// F7, H6: an account whose messages wait for an SMSC that is down does not stop other
// accounts, neither on the same connector nor on another.
func TestF7AccountFillsItsShare(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, accounts: otherAccount, limits: "max_jobs: 1000",
		more:   downRow(t, "dead", "max_queue: 100"),
		routes: "{destination: 4670, to: dead}\n{to: operator}",
	})
	s := operator.session()
	for i := range 20 { // 4,000 submits
		p := g.bind("transmitter")
		var lines []string
		for n := range 200 {
			lines = append(lines, submitLine(1000*i+n))
		}
		p.writeQuietly(wire(t, lines...))
		p.listen()
	}
	testutil.Eventually(t, "the queue has been used", func() bool { return g.Gateway.Table.Connector("dead").Queued() >= 20 })
	other := g.bindOther("transmitter")
	for n := 1; n <= 20; n++ {
		other.send(fmt.Sprintf("submit_sm seq=%d source_addr=1234 destination_addr=49700000001 short_message=\"%d\"", n, n))
		other.accepted(n, n)
		s.serve(n, n)
		other.fence()
	}
	// And the queue of the dead connector still has room for its messages.
	other.put(100, 104)
}
