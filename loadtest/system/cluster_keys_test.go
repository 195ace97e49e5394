package system

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

// The key of the stores is changed under load, node by node: those that stand by before the owner. A reload changes nothing. The
// first node with the next key takes nothing over, and says why.
func TestClusterKeys(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	sink, err := loadtest.StartSink(loadtest.SinkOptions{
		Listen: "127.0.0.1:0", Receipts: true, Delay: 20 * time.Millisecond, Receipt: loadtest.ReceiptOptions{DelayMax: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	g := newClusterRig(t, []*natstest.Server{server}, clusterTimes{5 * time.Second, 6 * time.Second}, sink.Addr())
	var options []string
	for i := range 2 {
		key := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(key, []byte(strings.Repeat(fmt.Sprintf("%02x", i+1), 32)), 0o600); err != nil {
			t.Fatal(err)
		}
		options = append(options, fmt.Sprintf("key_file: %q", key))
	}
	for i := range g.nodes {
		g.edit(&g.nodes[i], "ballast: 0B", "ballast: 0B, "+options[0])
	}
	loads := startStubborn(2)
	clients := []*receiver{newReceiver("one", &loads.to), newReceiver("two", &loads.to)}
	first := g.owner(nil)
	loads.to.Store(&first.address)
	changes := func(n *clusterNode) {
		g.edit(n, options[0], options[1]+", old_"+options[0])
		if n != first {
			g.signal(n, syscall.SIGHUP)
			n.p.Wait("configuration reloaded; it takes effect when this node takes the work over")
		}
		n.p.Kill()
		g.supervise()
		n.p.Wait("standing by")
	}
	differs, name := 0, ""
	for i := range g.nodes {
		if n := &g.nodes[i]; n != first {
			changes(n)
			if differs++; differs == 1 {
				g.wants("its store.key_file (or old_key_file) differs from that of the owner", "status")
			}
			name = string(rune('a' + i))
		}
	}
	testutil.Eventually(t, "the work moves to a node with the next key", func() bool {
		g.supervise()
		out, err := g.run("move", name)
		return err == nil && strings.Contains(out, "node "+name+" owns the work") ||
			err != nil && strings.Contains(err.Error(), "owns the work already") // by an earlier try
	})
	owner := g.owner(first.p)
	loads.to.Store(&owner.address)
	before := sink.Result().Unique
	testutil.Eventually(t, "messages arrive", func() bool { g.supervise(); return sink.Result().Unique > before+100 })
	changes(first)
	g.wants("owner "+name, "status")
	g.settle(sink, loads, clients)
	g.wants("3 copies have the same", "check")
	if out, err := g.run("status"); err != nil || strings.Contains(out, "differs") {
		t.Errorf("in the end: %v: %s", err, out)
	}
}
