package e2e

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testutil"
)

// The targets that have failed are known after a power cut: the message waits for the one that it
// went to, and does not go back.
func TestFailoverOverRestart(t *testing.T) {
	parallel(t)
	one, two := newSMSC(t), newSMSC(t)
	s := site{
		more:  row("one", one, "retry: []") + row("two", two, "retry: []"),
		store: vfs.NewCrashableMem(), routes: "{to: [one, two]}",
	}
	g := start(t, s)
	first, second, c := one.session(), two.session(), g.bind("transmitter")
	g.online("one", 1)
	g.online("two", 1)
	id := c.submitOne(1)
	first.answer(0x14, first.take(1, 1)...)
	second.take(1, 1)
	g.sync()
	crashed := s.store.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{})
	for _, p := range []*peer{c, first, second} {
		p.conn.Close()
	}
	g.stop()

	s.store = crashed
	g = start(t, s)
	first, second = one.session(), two.session()
	second.answer(0x08, second.take(1, 1)...)
	testutil.Eventually(t, "it is given up", func() bool { return g.log.count("message given up", id) == 1 && g.Pending() == 0 })
	first.fence()
}

// Many messages that one SMSC refuses reach the other, each once, while both have sessions.
func TestFailoverMany(t *testing.T) {
	const many = 2000
	parallel(t)
	one, two := newSMSC(t), newSMSC(t)
	g := start(t, site{
		more:   row("one", one, "window: 50, failover_attempts: 1") + row("two", two, "window: 50"),
		routes: "{to: [one, two]}",
	})
	first, second := one.session(), two.session()
	g.online("one", 1)
	g.online("two", 1)
	go func() {
		for {
			line, err := first.next()
			if err != nil {
				return
			}
			first.send(fmt.Sprintf("submit_sm_resp seq=%s status=20", field(line, "seq")))
		}
	}()
	c := g.bind("transmitter")
	go func() {
		for n := range many {
			c.write(wire(t, submitLine(n+1)))
		}
	}()
	seen := map[string]bool{}
	for range many {
		line := second.want("submit_sm")
		text := field(line, "short_message")
		if seen[text] {
			t.Fatalf("%s comes twice", text)
		}
		seen[text] = true
		second.answer(0, field(line, "seq"))
	}
	c.accepted(1, many)
	testutil.Eventually(t, "everything is counted", func() bool {
		return g.Pending() == 0 && g.Gateway.Node.Memory.Used() == 0 && g.stats("two").Sent.Load() == many && g.stats("one").FailedOver.Load() == many
	})
	first.conn.Close()
}
