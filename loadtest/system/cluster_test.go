package system

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmg/internal/testkit/documents"
	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

var (
	clusterRounds = flag.Int("cluster-rounds", 10, "how often TestCluster ends the owner's work")
	clusterSeed   = flag.Uint64("cluster-seed", 0, "seed of what TestCluster does; 0: a new one")
)

const clusterConfig = `
log: {format: json}
pdulog: {enabled: false}
admin: {address: "127.0.0.1:0"}
store: {dir: %q, ballast: 0B}
limits: {drain_timeout: 5s}
cluster: {node: %s, servers: [%s], user: pmg, password: pmg, system_user: system, system_password: system, replicas: %d,
  unsafe: %t, lease: %s, dead: %s, beat: 50ms}
accounts: [{system_id: one, password: secret}, {system_id: two, password: secret}, {system_id: load, password: secret}]
connectors:
  - {name: clients, direction: in, address: %q, window: 100}
  - {name: operator, direction: out, address: %q, instances: 2, window: 10, max_queue: 500, queue_wait: 60s,
     system_id: pmg, password: secret, reconnect_delay: 20ms}
routes: [{to: operator}]
`

// A clusterRig is three gateways of a cluster, each a process of its own that is started again when it has ended.
type clusterRig struct {
	t     *testing.T
	nodes [3]clusterNode
}

type clusterNode struct {
	file    string
	store   string   // directory of its store
	address string   // of its clients
	program string   // "": that of all tests
	within  []string // the beginning of its command, such as that of a namespace
	p       *process.Process
	stopped bool // by SIGSTOP
}

// clusterTimes are the times of a lease.
type clusterTimes struct{ lease, dead time.Duration }

func newClusterRig(t *testing.T, servers []*natstest.Server, times clusterTimes, smsc string) *clusterRig {
	g := &clusterRig{t: t}
	program(t) // is built first, however long that takes
	for i := range g.nodes {
		n := &g.nodes[i]
		n.address, n.store = testutil.FreeAddress(t), t.TempDir()+"/store"
		n.file = process.WriteConfig(t, fmt.Sprintf(clusterConfig, n.store, []string{"a", "b", "c"}[i],
			`"`+strings.ReplaceAll(natstest.URLs(servers...), ",", `", "`)+`"`, len(servers), len(servers) < 3, times.lease, times.dead, n.address, smsc))
	}
	return g
}

// edit replaces texts in the configuration of a node.
func (g *clusterRig) edit(n *clusterNode, oldnew ...string) {
	g.t.Helper()
	text := documents.Read(g.t, n.file)
	if err := os.WriteFile(n.file, []byte(strings.NewReplacer(oldnew...).Replace(text)), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// ended reports whether a process has ended.
func (n *clusterNode) ended() bool {
	select {
	case <-n.p.Ended:
		return true
	default:
		return false
	}
}

// serves reports whether a node's gateway has begun to work, and goes on.
func (n *clusterNode) serves() bool {
	if n.p == nil || n.stopped || n.ended() {
		return false
	}
	for _, line := range []string{
		"stopping; interrupt again to end immediately",
		"another node may own the work now; ending the process, which a supervisor starts again",
	} {
		if _, ends := n.p.Logged(line); ends {
			return false
		}
	}
	_, ok := n.p.Logged("serving")
	return ok
}

// supervise starts each process that does not run.
func (g *clusterRig) supervise() {
	for i := range g.nodes {
		if n := &g.nodes[i]; n.p == nil || n.ended() {
			command := append(n.within[:len(n.within):len(n.within)], cmp.Or(n.program, program(g.t).Path), "serve", "-c", n.file)
			n.p, n.stopped = program(g.t).Start(g.t, exec.Command(command[0], command[1:]...)), false
		}
	}
}

// owner waits until a node serves in a process other than not, and returns it. Processes that have ended are started again
// meanwhile.
func (g *clusterRig) owner(not *process.Process) (owner *clusterNode) {
	g.t.Helper()
	testutil.Eventually(g.t, "a node serves", func() bool {
		g.supervise()
		for i := range g.nodes {
			if n := &g.nodes[i]; n.serves() && n.p != not {
				owner = n
			}
		}
		return owner != nil
	})
	return owner
}

// A gateway of three goes on when the one that works is killed, stands still or is stopped, again and again under load: nothing
// that was accepted is missing, nor its receipt.
func TestCluster(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	sink, err := loadtest.StartSink(loadtest.SinkOptions{
		Listen: "127.0.0.1:0", Receipts: true, Delay: time.Millisecond, Receipt: loadtest.ReceiptOptions{DelayMax: 300 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	seed := *clusterSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-cluster-seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	g := newClusterRig(t, []*natstest.Server{server}, clusterTimes{1500 * time.Millisecond, 2 * time.Second}, sink.Addr())
	loads := startStubborn(2)
	clients := []*receiver{newReceiver("one", &loads.to), newReceiver("two", &loads.to)}
	changes := map[string]*clusterChange{"killed": {}, "stopped": {}, "handed over": {}}
	last := (*process.Process)(nil)
	for range *clusterRounds {
		owner := g.owner(last)
		loads.to.Store(&owner.address)
		time.Sleep(time.Duration(50+random.IntN(450)) * time.Millisecond)
		last = g.change(owner, random.IntN(3), changes)
	}
	owner := g.owner(last)
	loads.to.Store(&owner.address)
	g.settle(sink, loads, clients)
	g.commands()
	for what, c := range changes {
		t.Logf("%s: %s", what, c)
	}
}

// A clusterChange counts the changes of the owner for one reason.
type clusterChange struct {
	n             int
	longest, took time.Duration
}

func (c *clusterChange) String() string {
	return fmt.Sprintf("%d times; until the next owner served: %v at most, %v together", c.n, c.longest, c.took)
}

// change ends the work of the owner, in one of three ways, and waits for the next one. It returns the process of the one
// that was the owner.
func (g *clusterRig) change(owner *clusterNode, how int, changes map[string]*clusterChange) *process.Process {
	began, what, p := time.Now(), "", owner.p
	switch how {
	case 0:
		what = "killed"
		owner.p.Kill()
	case 1:
		what = "stopped"
		owner.stopped = true
		g.signal(owner, syscall.SIGSTOP)
	default:
		what = "handed over"
		g.signal(owner, syscall.SIGTERM)
	}
	g.owner(p)
	c := changes[what]
	took := time.Since(began).Round(time.Millisecond)
	c.n, c.longest, c.took = c.n+1, max(c.longest, took), c.took+took
	if owner.stopped {
		g.signal(owner, syscall.SIGCONT)
		testutil.Eventually(g.t, "a process ends that does not own the work any more", owner.ended)
		owner.stopped = false
	}
	return p
}

// run runs pmg cluster.
func (g *clusterRig) run(args ...string) (string, error) {
	return program(g.t).Run(append([]string{"cluster"}, append(args, "-c", g.nodes[0].file)...)...)
}

// wants waits until pmg cluster succeeds, and its output has a text: nodes say of themselves once a second.
func (g *clusterRig) wants(text string, args ...string) {
	g.t.Helper()
	for end := time.Now().Add(testutil.Patience); ; time.Sleep(10 * time.Millisecond) {
		g.supervise()
		out, err := g.run(args...)
		if err == nil && strings.Contains(out, text) {
			return
		}
		if time.Now().After(end) {
			g.t.Fatalf("pmg cluster %q does not print %q: %v, %s", args, text, err, out)
		}
	}
}

// commands uses pmg cluster, when nothing is under way any more.
func (g *clusterRig) commands() {
	t := g.t
	t.Helper()
	run, wants := g.run, g.wants
	wants("3 copies have the same", "check")
	wants("owner ", "status")
	to := "c"
	if g.owner(nil) == &g.nodes[2] {
		to = "a"
	}
	g.moveTo(to)
	wants("node "+to+" takes nothing over", "drain", to)
	testutil.Eventually(t, "another node owns the work", func() bool {
		g.supervise()
		out, err := run("status")
		return err == nil && strings.HasPrefix(out, "owner ") && !strings.HasPrefix(out, "owner "+to)
	})
	wants("an operator has drained it", "status")
	if _, err := run("move", to); err == nil || !strings.Contains(err.Error(), "has drained it") {
		t.Errorf("the work moves to a node that is drained: %v", err)
	}
	wants("node "+to+" may", "drain", "--undo", to)
}

// moveTo moves the work to a node, and waits until it serves.
func (g *clusterRig) moveTo(to string) {
	t := g.t
	t.Helper()
	testutil.Eventually(t, "the work moves to node "+to, func() bool {
		g.supervise()
		out, err := g.run("move", to)
		return err == nil && strings.Contains(out, "node "+to+" owns the work") ||
			err != nil && strings.Contains(err.Error(), "owns the work already") // also by an earlier try
	})
	g.wants("owner "+to, "status")
	n := &g.nodes[to[0]-'a']
	testutil.Eventually(t, "node "+to+" serves", func() bool {
		g.supervise()
		return n.serves()
	})
}

func (g *clusterRig) signal(n *clusterNode, s syscall.Signal) {
	if err := n.p.Cmd.Process.Signal(s); err != nil {
		g.t.Errorf("cannot send %v: %v", s, err)
	}
}

// settle ends the load, and compares what was accepted with what has arrived.
func (g *clusterRig) settle(sink *loadtest.Sink, loads *stubborn, clients []*receiver) {
	t := g.t
	for _, c := range clients {
		c.submits.Store(false)
	}
	loads.cancel() // what a node refuses that is being stopped is not accepted
	loads.wg.Wait()
	for _, c := range clients {
		testutil.Eventually(t, "each message of "+c.account+" has a receipt", func() bool { return c.missing() == 0 })
	}
	testutil.Eventually(t, "all has arrived", func() bool { return loads.missing(sink.Result()) == 0 })
	for _, c := range clients {
		c.cancel()
		c.done.Wait()
		if len(c.accepted) == 0 || len(c.problems) > 0 {
			t.Errorf("account %s: %d messages accepted, %q", c.account, len(c.accepted), c.problems)
		}
		t.Logf("account %s: %d messages accepted, all with a receipt", c.account, len(c.accepted))
	}
	r := sink.Result()
	t.Logf("%d messages of clients without receipts accepted, none missing; %d have arrived, %d of them twice", loads.accepted, r.Unique, r.Doubled)
}
