package system

import (
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
)

var upgradeFrom = flag.String("upgrade-from", "", "program that TestClusterUpgrade upgrades; when empty, this one with another version")

// Gateways are upgraded one after the other under load, and then the servers of NATS are restarted, as docs/cluster.md says. Nothing
// that was accepted is missing, and nothing arrives twice.
func TestClusterUpgrade(t *testing.T) {
	if !inNamespace(t, "-upgrade-from="+*upgradeFrom) {
		return
	}
	dir := t.TempDir()
	build := func(version string) string {
		p, err := process.Build(root, filepath.Join(dir, version), "-ldflags=-s -w -X main.version="+version)
		if err != nil {
			t.Fatal(err)
		}
		return p.Path
	}
	before, after := *upgradeFrom, build("v9.9.9")
	if before == "" {
		before = build("v9.9.8")
	}
	x := startTraffic(t, hubAddress, hubAddress)
	m := newMachines(t, clusterTimes{10 * time.Second, 12 * time.Second}, x.sink.Addr(), x.hook.URL)
	for i := range m.g.nodes {
		m.g.nodes[i].program = before
	}
	x.submits("127.0.0.1:2775", "127.0.0.1:8080")
	u := &upgrade{machines: m, x: x}
	u.x.flows(u.g)
	owner := m.g.owner(nil)
	u.ready()
	for i := range m.g.nodes {
		if n := &m.g.nodes[i]; n != owner {
			u.replace(n, after)
		}
	}
	u.ready()
	began := time.Now()
	u.move()
	next := m.g.owner(owner.p)
	t.Logf("pmg cluster move: the next owner serves after %v", time.Since(began).Round(time.Millisecond))
	u.x.flows(u.g)
	u.replace(owner, after)
	u.ready()
	for _, s := range m.servers {
		u.restart(s)
	}
	if m.g.owner(nil) != next {
		t.Error("the owner has changed while the servers were restarted")
	}
	x.end()
	m.g.wants("3 copies have the same", "check")
	x.events(m.events, nil)
	if _, doubled := x.arrived(); doubled > 0 {
		t.Errorf("%d messages have arrived twice", doubled)
	}
}

// An upgrade is machines whose programs are replaced under load.
type upgrade struct {
	*machines
	x        *traffic
	replaced int // how many nodes have the other program
}

// ready waits until all nodes can own the work.
func (u *upgrade) ready() {
	u.g.t.Helper()
	testutil.Eventually(u.g.t, "all nodes can own the work", func() bool {
		able := 0
		for _, f := range u.status() {
			if (f[1] == "owner" || f[1] == "standby") && f[len(f)-1] == "-" {
				able++
			}
		}
		return able == len(u.g.nodes)
	})
}

// status returns the lines of pmg cluster status about the nodes that were seen lately.
func (u *upgrade) status() (nodes [][]string) {
	u.g.supervise()
	out, err := u.g.run("status")
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); err == nil && len(f) > 9 && slices.Contains([]string{"0s", "1s", "2s"}, f[7]) {
			nodes = append(nodes, f)
		}
	}
	return nodes
}

// replace stops a node, starts it with another program, and waits until pmg cluster status shows that. It may not be able to take over
// while most nodes have a program with other options.
func (u *upgrade) replace(n *clusterNode, program string) {
	u.g.signal(n, syscall.SIGTERM)
	testutil.Eventually(u.g.t, "a node ends", n.ended)
	n.program = program
	u.replaced++
	testutil.Eventually(u.g.t, "the node has the other program", func() bool {
		has := 0
		for _, f := range u.status() {
			if f[6] == filepath.Base(program) {
				has++
			}
		}
		return has == u.replaced
	})
}

// move hands the work over.
func (u *upgrade) move() {
	u.g.t.Helper()
	if out, err := u.g.run("move"); err != nil {
		u.g.t.Fatalf("%v: %s", err, out)
	}
}

// restart ends a server of NATS as nats-server --signal ldm does, and starts it again.
func (u *upgrade) restart(s *natstest.Server) {
	began := time.Now()
	s.Signal(syscall.SIGUSR2)
	s.Wait()
	took := time.Since(began)
	u.x.flows(u.g)
	s.Start()
	s.Accepts()
	u.x.flows(u.g)
	u.ready()
	u.g.t.Logf("server %s ended after %v", s.Name, took.Round(time.Millisecond))
}

// The address that keepalived keeps, configured by pmg cluster setup, follows the owner: clients that know no other one arrive at the
// next owner.
func TestClusterAddress(t *testing.T) {
	if _, err := exec.LookPath("keepalived"); err != nil {
		t.Skip("keepalived is not installed")
	}
	if !inNamespace(t) {
		return
	}
	x := startTraffic(t, hubAddress, hubAddress)
	m := newMachines(t, clusterTimes{10 * time.Second, 12 * time.Second}, x.sink.Addr(), x.hook.URL)
	dir := t.TempDir()
	for i := range m.g.nodes {
		name := filepath.Join(dir, fmt.Sprint(i))
		m.starts(exec.Command("ip", "netns", "exec", fmt.Sprintf("m%d", i+1),
			"keepalived", "--dont-fork", "--log-console", "--vrrp",
			"-f", fmt.Sprintf("%s/%c/keepalived.conf", m.setup, 'a'+i), "-p", name+".pid", "-r", name+".vrrp"))
	}
	x.submits(sharedAddress+":2775", sharedAddress+":8080")
	x.flows(m.g)
	u := &upgrade{machines: m, x: x}
	for range 2 {
		u.ready()
		began := time.Now()
		u.move()
		x.flows(m.g)
		t.Logf("messages arrive again %v after pmg cluster move", time.Since(began).Round(time.Millisecond))
	}
	x.end()
}
