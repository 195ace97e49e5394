package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
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

// A message that an SMSC refuses for a while, or does not answer, goes to the next one of its
// route, and ends when all have failed. One that it refuses for good ends there.
func TestFailoverOnStatus(t *testing.T) {
	const timeout = -1
	parallel(t)
	for _, c := range []struct {
		name, options string
		first, second int // the answers of both
		attempts      int // at the first
		want          string
	}{
		{"queue full", "failover_attempts: 1, retry: 1h", 0x14, 0, 1, "sent 2 two"},
		{"after two attempts", "failover_attempts: 2, retry: [1ms, 1h]", 0x08, 0, 2, "sent 3 two"},
		{"after all attempts", "retry: [1ms, 1ms]", 0x64, 0, 3, "sent 4 two"},
		{"not answered", "failover_attempts: 1, retry: 1h", timeout, 0, 1, "sent 2 two"},
		{"both", "retry: []", 0x14, 0x08, 1, "failed 2 two"},
		{"the second for good", "retry: []", 0x14, 0x0b, 1, "rejected 2 two"},
		{"wrong destination", "failover_attempts: 1", 0x0b, 0, 1, "rejected 1 one"},
		{"refused for good", "failover_attempts: 1", 0x45, 0, 1, "rejected 1 one"},
		{"a status that asks for another target", "statuses: [{status: 0x45, is: failover}], retry: 1h", 0x45, 0, 1, "sent 2 two"},
		{"both ask for another", "statuses: [{status: 0x45, is: failover}], retry: []", 0x45, 0x45, 1, "failed 2 two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "events")
			one, two := newSMSC(t), newSMSC(t)
			options := "enquire_interval: 0s, " + c.options
			impatient := options
			if c.first == timeout {
				impatient += ", response_timeout: 300ms"
			}
			g := start(t, site{
				more: row("one", one, impatient) + row("two", two, options), routes: "{to: [one, two]}",
				store: vfs.NewMem(), top: eventsIn(dir),
			})
			first, second, cl := one.session(), two.session(), g.bind("transmitter")
			g.online("one", 1)
			g.online("two", 1)
			id := cl.submitOne(1)
			for range c.attempts {
				if taken := first.take(1, 1); c.first != timeout {
					first.answer(c.first, taken...)
				}
			}
			if c.want[len(c.want)-3:] == "two" {
				second.answer(c.second, second.take(1, 1)...)
			}
			testutil.Eventually(t, "everything is counted", func() bool { return g.Pending() == 0 && g.Gateway.Node.Memory.Used() == 0 })
			if n := g.stats("one").FailedOver.Load(); (n == 1) != (c.want[len(c.want)-3:] == "two") {
				t.Errorf("%d have failed over", n)
			}
			first.fence()
			second.fence()
			for _, p := range []*peer{cl, first, second} {
				p.conn.Close()
			}
			g.stop()
			all := readEvents(t, dir)
			if len(all) != 1 || all[0].ID != id {
				t.Fatalf("events %+v", all)
			}
			if e := all[0]; fmt.Sprint(e.State, " ", e.Attempts, " ", e.ToConnector) != c.want {
				t.Errorf("%+v, want %s", e, c.want)
			}
		})
	}
}
