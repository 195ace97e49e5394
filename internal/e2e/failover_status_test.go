package e2e

import (
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
