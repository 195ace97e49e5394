package system

import (
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

// smscAddress is where the SMSC is in TestClusterReach, so that a machine can be cut from it alone.
const smscAddress = "10.0.0.253"

// An owner whose machine alone is cut from the SMSC hands the work over, and not again when that of the next one is cut off as well
// soon behind it. Nothing that was accepted is missing.
func TestClusterReach(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	shell(t, "ip address add %s/24 dev br0", smscAddress)
	x := startTraffic(t, smscAddress, hubAddress)
	m := newMachines(t, clusterTimes{3 * time.Second, 3600 * time.Millisecond}, x.sink.Addr(), x.hook.URL)
	g := m.g
	for i := range g.nodes {
		g.edit(&g.nodes[i], "\n  lease:", "\n  hand_over_after: 2s\n  lease:",
			"reconnect_delay: 20ms", "reconnect_delay: 20ms, enquire_interval: 1s, response_timeout: 2s, connect_timeout: 1s")
	}
	owner := g.owner(nil)
	x.submits("127.0.0.1:2775", "127.0.0.1:8080")
	x.flows(g)
	cut := func(n *clusterNode) {
		for i := range g.nodes {
			if n == &g.nodes[i] {
				shell(t, "ip %s neigh replace %s lladdr 02:00:00:00:00:99 dev eth0 nud permanent", place(i+1), smscAddress)
			}
		}
	}
	began, first := time.Now(), owner.p
	cut(owner)
	owner = g.owner(first)
	x.flows(g)
	t.Logf("the work is handed over, and messages arrive, %v after the cut", time.Since(began).Round(time.Millisecond))
	if _, ok := first.Logged("cluster: another node reaches more SMSCs than this one: the work is handed over (cluster.hand_over_after)"); !ok {
		t.Error("the owner ended for another reason")
	}
	p := owner.p
	cut(owner)
	for end := time.Now().Add(2 * testutil.Patience); ; time.Sleep(100 * time.Millisecond) { // it connects once a minute
		g.supervise()
		if _, ok := p.Logged(
			"cluster: another node reaches more SMSCs than this one, but the work was handed over for that in the last ten minutes: it stays"); ok {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the next owner does not find that it must not hand over again")
		}
	}
	g.wants("reaches 0 of 1 SMSCs, not operator", "status")
	if g.owner(nil).p != p {
		t.Error("the work was handed over twice")
	}
	shell(t, `for m in m1 m2 m3; do ip -n $m neigh del %s dev eth0 || true; done`, smscAddress)
	x.flows(g)
	x.end()
	g.wants("3 copies have the same", "check")
	x.events(m.events, nil)
}
