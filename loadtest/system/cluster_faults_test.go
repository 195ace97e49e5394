package system

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmg/internal/testkit/natstest"
)

var (
	machineRounds = flag.Int("machine-rounds", 10, "how many faults TestClusterMachines makes")
	machineSeed   = flag.Uint64("machine-seed", 0, "seed of these faults; 0: a new one")
	machineLease  = flag.Duration("machine-lease", 3*time.Second, "lease of the owner in TestClusterMachines")
	machineFaults = flag.String("machine-faults", "", "the only faults that TestClusterMachines makes, with commas between them")
)

// A faulty is three machines under load, to which faults happen.
type faulty struct {
	*machines
	x      *traffic
	random *rand.Rand
	seen   map[string]*faultCount
	cuts   int // of outlast
}

// A faultCount is what was seen of one kind of fault.
type faultCount struct {
	n       int
	changes []time.Duration // from the fault until another node served, where one did
	flows   []time.Duration // from the fault until messages arrived at the SMSC that came behind it
	doubled []int64
}

// mostDoubled is how many messages may arrive twice in a round: the windows, and what the SMSC answers in half a second, twice as much
// because a fault may follow the one before it soon.
const mostDoubled = 2 * (2*10 + 250)

// faultKinds are what may happen. Each returns when the fault is over, and the network and the servers are whole again.
var faultKinds = []struct {
	name string
	make func(f *faulty, owner int)
}{
	{"kill -9 of the owner", (*faulty).killOwner},
	{"owner stopped", (*faulty).stopOwner},
	{"SIGTERM", (*faulty).handOver},
	{"machine of the owner killed", (*faulty).killMachine},
	{"owner partitioned", (*faulty).partitionOwner},
	{"owner cut off for good", (*faulty).outlast},
	{"standby partitioned", (*faulty).partitionStandby},
	{"engine killed", (*faulty).killEngine},
	{"engine killed behind a cut", (*faulty).killBehindCut},
	{"all engines killed", (*faulty).killEngines},
	{"slow disk", (*faulty).slowEngine},
}

// Three machines, each with a gateway and a server of NATS in a network of its own, go on while processes are killed and stopped,
// networks cut in each direction, and disks are slow, under load with receipts, keys and webhooks, which comes through HAProxy.
// Nothing that was accepted is missing, nor a receipt, nor an event, and all copies are equal. What mobiles and operators have changed
// in lists is in force at each node.
func TestClusterMachines(t *testing.T) {
	if !inNamespace(t, fmt.Sprintf("-machine-rounds=%d", *machineRounds), fmt.Sprintf("-machine-seed=%d", *machineSeed),
		fmt.Sprintf("-machine-lease=%s", *machineLease), "-machine-faults="+*machineFaults) {
		return
	}
	seed := *machineSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-machine-seed %d", seed)
	x := startTraffic(t, hubAddress, hubAddress)
	f := &faulty{
		machines: newMachines(t, clusterTimes{*machineLease, *machineLease * 6 / 5}, x.sink.Addr(), x.hook.URL),
		x:        x, random: rand.New(rand.NewPCG(seed, 0)), seen: map[string]*faultCount{},
	}
	m := startMoney(t, f.g.owner(nil))
	x.submits("127.0.0.1:2775", "127.0.0.1:8080")
	f.x.flows(f.g)
	changes := startOffice(f.g, seed)
	p := startPhones(x, "127.0.0.1:8080")
	for i := range *machineRounds {
		f.round(i)
	}
	changes.end()
	p.end()
	x.end()
	f.compare()
	for i := range f.g.nodes { // each has the same lists
		f.g.moveTo(string(rune('a' + i)))
		changes.compare(t, &f.g.nodes[i])
		p.compare(t, &f.g.nodes[i])
	}
	f.compare()
	x.events(f.events, p.accepted)
	m.compare(t, f.g.owner(nil), f.events)
	for _, kind := range faultKinds {
		if c := f.seen[kind.name]; c != nil {
			t.Logf("%-28s %s", kind.name+":", c)
		}
	}
}

// round makes one fault, and waits until messages arrive again.
func (f *faulty) round(i int) {
	t := f.g.t
	kinds := faultKinds[:0:0]
	for _, kind := range faultKinds {
		if *machineFaults == "" || slices.Contains(strings.Split(*machineFaults, ","), kind.name) {
			kinds = append(kinds, kind)
		}
	}
	f.g.owner(nil)
	f.afterwards(time.Duration(50+f.random.IntN(450)) * time.Millisecond)
	owner := f.g.owner(nil)
	at := i
	if *machineFaults == "" {
		at += f.random.IntN(2) // so that each follows each other one
	}
	kind := kinds[at%len(kinds)]
	c := f.seen[kind.name]
	if c == nil {
		c = &faultCount{}
		f.seen[kind.name] = c
	}
	_, doubled := f.x.arrived()
	began, p := time.Now(), owner.p
	kind.make(f, f.number(owner))
	f.x.flows(f.g)
	flows := time.Since(began)
	var changed time.Duration
	for i := range f.g.nodes {
		if n := &f.g.nodes[i]; n.serves() && n.p != p {
			e, _ := n.p.Logged("serving")
			changed = n.p.Began.Add(e.After).Sub(began)
			c.changes = append(c.changes, changed)
		}
	}
	_, after := f.x.arrived()
	if after-doubled > mostDoubled {
		t.Errorf("round %d: %d have arrived twice, more than %d", i, after-doubled, mostDoubled)
	}
	c.n, c.flows, c.doubled = c.n+1, append(c.flows, flows), append(c.doubled, after-doubled)
	t.Logf("round %d: %s of machine %d: another owner after %v, messages arrive after %v, %d twice",
		i, kind.name, f.number(owner), changed.Round(time.Millisecond), flows.Round(time.Millisecond), after-doubled)
}

// number returns the number of a node's machine.
func (f *faulty) number(n *clusterNode) int {
	for i := range f.g.nodes {
		if n == &f.g.nodes[i] {
			return i + 1
		}
	}
	return 0
}

func (f *faulty) killOwner(owner int) {
	p := f.g.nodes[owner-1].p
	p.Kill()
	f.g.owner(p)
}

// stopOwner stops the owner's process for one second to thirty, or to three leases if that is shorter.
func (f *faulty) stopOwner(owner int) {
	n := &f.g.nodes[owner-1]
	n.stopped = true
	f.g.signal(n, syscall.SIGSTOP)
	f.afterwards(time.Second + time.Duration(f.random.Int64N(int64(min(29*time.Second, 3**machineLease)))))
	f.g.signal(n, syscall.SIGCONT)
	n.stopped = false
	f.g.owner(nil)
}

func (f *faulty) handOver(owner int) {
	p := f.g.nodes[owner-1].p
	f.g.signal(&f.g.nodes[owner-1], syscall.SIGTERM)
	f.g.owner(p)
}

// killMachine kills gateway and server of the owner's machine, which come back later.
func (f *faulty) killMachine(owner int) {
	p := f.g.nodes[owner-1].p
	f.servers[owner-1].Kill()
	p.Kill()
	f.g.owner(p)
	f.servers[owner-1].Start()
}

func (f *faulty) partitionOwner(owner int) { f.partition(owner, owner) }

func (f *faulty) partitionStandby(owner int) {
	machine := owner
	for machine == owner {
		machine = 1 + f.random.IntN(3)
	}
	f.partition(machine, owner)
}

// partition cuts a machine from the others, in one direction or in both, and from clients and SMSC as well or not. It is whole again
// when another node has taken over, or after a while.
func (f *faulty) partition(machine, owner int) {
	directions := f.random.IntN(3)
	f.apart(machine, owner, directions != 0, directions != 1, time.Duration(f.random.Int64N(int64(2**machineLease))))
}

// outlast cuts the owner's machine from the others until another node has taken over, which it must: in one direction, the other,
// and both in turn.
func (f *faulty) outlast(owner int) {
	f.cuts++
	p := f.g.nodes[owner-1].p
	f.apart(owner, owner, f.cuts%3 != 0, f.cuts%3 != 1, 6**machineLease)
	if f.g.nodes[owner-1].p == p && f.g.nodes[owner-1].serves() {
		f.g.t.Error("no other node has taken over")
	}
}

// apart cuts a machine from the others, in these directions, until another node has taken over or the time is over.
func (f *faulty) apart(machine, owner int, in, out bool, longest time.Duration) {
	p, all := f.g.nodes[owner-1].p, f.random.IntN(2) == 0
	f.g.t.Logf("partition of machine %d: what leaves %t, what comes %t, also clients and SMSC %t", machine, out, in, all)
	for _, change := range []func(from, to int){f.cut, f.heal} {
		for other := 1; other <= hub; other++ {
			if other == machine || other == hub && !all {
				continue
			}
			if out {
				change(machine, other)
			}
			if in {
				change(other, machine)
			}
		}
		end := time.Now().Add(longest)
		for moved := false; !moved && time.Now().Before(end); {
			f.afterwards(10 * time.Millisecond)
			for i := range f.g.nodes {
				moved = moved || f.g.nodes[i].serves() && f.g.nodes[i].p != p
			}
		}
	}
	f.g.owner(nil)
}

func (f *faulty) killEngine(int) {
	f.kill(f.servers[f.random.IntN(3)])
}

// kill kills a server, and starts it again when messages arrive with the other two. One of these may not have caught up; then nothing
// arrives until the first is back.
func (f *faulty) kill(s *natstest.Server) {
	began := time.Now()
	s.Kill()
	f.afterwards(time.Duration(f.random.IntN(5000)) * time.Millisecond)
	before, _ := f.x.arrived()
	for now := before; now <= before+50; now, _ = f.x.arrived() {
		if f.afterwards(100 * time.Millisecond); time.Since(began) > 3**machineLease {
			f.g.t.Logf("server %s: nothing arrives with the other two", s.Name)
			break
		}
	}
	f.g.t.Logf("server %s is started again after %v", s.Name, time.Since(began).Round(time.Millisecond))
	s.Start()
	s.Accepts()
}

// killBehindCut cuts a machine that stands by from the others, and kills one of their servers as soon as the network is whole again:
// the two that are left must find each other, and one of them catch up.
func (f *faulty) killBehindCut(owner int) {
	machine, third := 1+owner%3, 1+(owner+1)%3
	each := func(change func(from, to int)) {
		for _, other := range []int{owner, third} {
			change(machine, other)
			change(other, machine)
		}
	}
	each(f.cut)
	f.afterwards(2 * *machineLease)
	each(f.heal)
	f.kill(f.servers[[]int{owner, third}[f.random.IntN(2)]-1])
}

func (f *faulty) killEngines(int) {
	for _, i := range f.random.Perm(3) {
		f.servers[i].Kill()
	}
	f.afterwards(time.Duration(f.random.IntN(3000)) * time.Millisecond)
	for _, i := range f.random.Perm(3) {
		f.servers[i].Start()
	}
	f.g.owner(nil)
}

// slowEngine slows the disk of one server, or of all.
func (f *faulty) slowEngine(int) {
	machines := []int{1, 2, 3}
	if f.random.IntN(2) == 0 {
		machines = []int{1 + f.random.IntN(3)}
	}
	for _, machine := range machines {
		if undo := f.slowDisk(machine, 10+f.random.IntN(40)); undo != nil {
			defer undo()
		}
	}
	f.afterwards(time.Duration(1+f.random.IntN(8)) * time.Second)
}

// compare waits until all copies are equal.
func (f *faulty) compare() {
	f.g.wants("3 copies have the same", "check")
}

// String returns the figures of a kind.
func (c *faultCount) String() string {
	var doubled int64
	for _, n := range c.doubled {
		doubled += n
	}
	text := fmt.Sprintf("%d times; messages arrive again after %s; %d twice, at most %d", c.n, quantiles(c.flows), doubled, slices.Max(c.doubled))
	if len(c.changes) > 0 {
		text += fmt.Sprintf("; another owner %d times, after %s", len(c.changes), quantiles(c.changes))
	}
	return text
}

// quantiles returns the median, the 99th of a hundred, and the longest.
func quantiles(all []time.Duration) string {
	all = slices.Sorted(slices.Values(all))
	at := func(n int) time.Duration { return all[(len(all)*n+99)/100-1].Round(time.Millisecond) }
	return fmt.Sprintf("%v (p50), %v (p99), %v (most)", at(50), at(99), at(100))
}
