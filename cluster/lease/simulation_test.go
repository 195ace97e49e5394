package lease

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

var (
	seeds   = flag.Uint64("seeds", 3000, "how many histories there are; see testutil.Histories")
	first   = flag.Uint64("first", 1, "the seed of the first one")
	oneSeed = flag.Uint64("seed", 0, "the only history; -v prints it")
)

const (
	ms     = int64(time.Millisecond)
	second = int64(time.Second)

	faultsLast = 120 * second // true time in which everything fails now and then
	latest     = 15 * second  // how late a request may reach the cell
)

// Three nodes share a cell. In the first two minutes of a history everything fails now and then. Then some of them are mended, and the
// others are left broken in one way each: one of those that are mended must be the owner soon, stay it, and hand over quickly.
func TestSimulation(t *testing.T) {
	t.Parallel()
	n := testutil.Histories(*seeds)
	if *oneSeed != 0 {
		w := newWorld(*oneSeed)
		if testing.Verbose() {
			w.print = func(line string) { fmt.Println(line) }
		}
		if w.play(); w.problem != "" {
			t.Errorf("seed %d: %s", *oneSeed, w.problem)
		}
		return
	}
	var next, owners, lapses, released, deposed, late, restarts, losses atomic.Uint64
	var players sync.WaitGroup
	var failed atomic.Uint64
	for range runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for i := next.Add(1); i <= n && failed.Load() < 10; i = next.Add(1) {
				w := newWorld(*first + i - 1)
				w.play()
				if w.problem != "" {
					failed.Add(1)
					t.Errorf("seed %d: %s\nreplay: go test -v -run TestSimulation ./cluster/lease -args -seed %d", w.seed, w.problem, w.seed)
				}
				owners.Add(w.owners)
				lapses.Add(w.lapses)
				released.Add(w.released)
				deposed.Add(w.deposed)
				late.Add(w.late)
				restarts.Add(w.restarts)
				losses.Add(w.losses)
			}
		})
	}
	players.Wait()
	t.Logf("%d histories: %d owners, %d leases that ran out, %d handed over, %d deposed, %d restarts, %d late writes, %d lost cells",
		n, owners.Load(), lapses.Load(), released.Load(), deposed.Load(), restarts.Load(), late.Load(), losses.Load())
	for what, count := range map[string]uint64{
		"owners": owners.Load(), "leases that ran out": lapses.Load(), "handed over": released.Load(),
		"deposed": deposed.Load(), "restarts": restarts.Load(), "late writes": late.Load(),
		"lost cells": losses.Load(),
	} {
		if count < n/30 {
			t.Errorf("only %d %s in %d histories: the histories do not show what they are for", count, what, n)
		}
	}
}

// Nodes that take an empty cell without reading the journal are found: the cell was deleted while its owner lives.
func TestSimulationFindsCredulous(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		w := newWorld(seed)
		w.credulous = true
		if w.play(); w.problem != "" {
			t.Logf("seed %d: %s", seed, w.problem)
			return
		}
	}
	t.Error("they are not found")
}

// A seed has one history.
func TestReplays(t *testing.T) {
	t.Parallel()
	history := func(seed uint64) (lines []string) {
		w := newWorld(seed)
		w.print = func(line string) { lines = append(lines, line) }
		w.play()
		return lines
	}
	for seed := uint64(1); seed <= 10; seed++ {
		one, other := history(seed), history(seed)
		if !slices.Equal(one, other) {
			t.Errorf("seed %d has two histories, of %d and %d lines", seed, len(one), len(other))
		}
		if len(one) < 5 {
			t.Errorf("the history of seed %d has only %d lines", seed, len(one))
		}
	}
}

// A plan says how faulty a history is.
type plan struct {
	options                         Options
	lost, silent, refused           float64 // requests, answers, errors without delay
	slow, stale, stops              float64 // stops: a process between two steps of a goroutine
	pauses, cuts, outages, kills    int64   // the mean time between two of each, of a node; 0: none
	releases, exclusions, wallSteps int64
	losses                          int64 // between two times at which the cell is deleted and made again
}

// A world is one history.
type world struct {
	seed    uint64
	rng     *rand.Rand
	now     int64 // true time
	events  queue
	print   func(string)
	problem string
	healed  bool
	plan    plan
	nodes   []*node

	// The cell. Its version is base and the number of its values.
	values    [][]byte
	base      uint64
	begun     uint64 // the last epoch in the journal, which is not deleted
	credulous bool   // nodes do not look into the journal before they take an empty cell
	outage    int64  // it cannot be reached before
	lastSeen  Value

	claimed map[uint64]uint64 // the run of each epoch's owner
	highest uint64            // epoch of an owner

	owners, lapses, released, deposed, late, restarts, losses uint64
}

func newWorld(seed uint64) *world {
	w := &world{seed: seed, rng: rand.New(rand.NewPCG(seed, 7)), claimed: map[uint64]uint64{}, base: 1 << 62}
	pick := func(all ...float64) float64 { return all[w.rng.IntN(len(all))] }
	every := func(all ...int64) int64 { return all[w.rng.IntN(len(all))] * second }
	lease := time.Duration(every(2, 3, 6))
	w.plan = plan{
		options: Options{
			Lease: lease, Dead: time.Duration(float64(lease) * pick(1.1, 1.1, 1.5)), Beat: time.Duration(float64(lease) * pick(0.25, 0.1)),
		},
		lost: pick(0, 0.02, 0.2), silent: pick(0, 0.02, 0.2), refused: pick(0, 0.02), slow: pick(0, 0.02, 0.1), stale: pick(0, 0.05, 0.5), stops: pick(0, 0.001, 0.005),
		pauses: every(0, 10, 40), cuts: every(0, 10, 40), outages: every(0, 0, 60), kills: every(0, 30, 90),
		releases: every(0, 20, 60), exclusions: every(0, 60), wallSteps: every(0, 20), losses: every(0, 60),
	}
	for i := range 3 {
		n := &node{w: w, name: string(rune('a' + i)), rate: 1 + 0.05*float64(w.rng.IntN(3))/2, eligible: true}
		w.nodes = append(w.nodes, n)
	}
	return w
}

func (w *world) note(format string, args ...any) {
	if w.print != nil {
		w.print(fmt.Sprintf("%10.4f ", float64(w.now)/float64(second)) + fmt.Sprintf(format, args...))
	}
}

func (w *world) fail(format string, args ...any) {
	if w.problem == "" {
		w.problem = fmt.Sprintf("at %.4f s: ", float64(w.now)/float64(second)) + fmt.Sprintf(format, args...)
		w.note("PROBLEM %s", w.problem)
	}
}

func (w *world) chance(p float64) bool { return p > 0 && w.rng.Float64() < p }

func (w *world) between(from, to int64) int64 { return from + w.rng.Int64N(to-from+1) }

// after does something after a true time.
func (w *world) after(d int64, f func()) { w.events.push(w.now+d, f) }

// often does something now and then as long as things fail.
func (w *world) often(mean int64, f func()) {
	if mean == 0 {
		return
	}
	w.after(w.between(0, 2*mean), func() {
		if !w.healed {
			f()
			w.often(mean, f)
		}
	})
}

// run does what happens up to a time, or until done.
func (w *world) run(until int64, done func() bool) bool {
	for w.problem == "" && !done() {
		at, f := w.events.pop(until)
		if f == nil {
			w.now = until
			return done()
		}
		w.now = at
		f()
		w.check()
	}
	return w.problem == ""
}

func never() bool { return false }

// check looks whether two nodes hold the lease. Holding begins at an event alone.
func (w *world) check() {
	var who *node
	for _, n := range w.nodes {
		if n.holds() {
			if who != nil {
				w.fail("nodes %s (epoch %d) and %s (epoch %d) hold the lease together", who.name, who.m.status.Epoch, n.name, n.m.status.Epoch)
			}
			who = n
		}
	}
}

// holder returns the node that holds the lease, nil if none does.
func (w *world) holder() *node {
	for _, n := range w.nodes {
		if n.holds() {
			return n
		}
	}
	return nil
}

func (w *world) play() {
	w.note("%+v", w.plan)
	for _, n := range w.nodes {
		n.start()
		w.often(w.plan.pauses, func() { n.pause(w.between(second, 30*second)) })
		w.often(w.plan.pauses, func() { n.pause(w.between(1, 100*ms)) })
		w.often(w.plan.cuts, n.cut)
		w.often(w.plan.kills, n.kill)
		w.often(w.plan.exclusions, func() { n.exclude(!n.eligible) })
		w.often(w.plan.wallSteps, func() { n.wallStep = w.between(-3600*second, 3600*second) })
		w.often(w.plan.cuts, func() { n.stuck = w.now + w.between(0, 20*second); n.stuckAt = len(w.values) })
	}
	w.often(w.plan.outages, func() { w.outage = w.now + w.between(0, 30*second); w.note("engine: down until %d ms", w.outage/ms) })
	w.often(w.plan.losses, w.lose)
	w.often(w.plan.releases, func() {
		n := w.nodes[w.rng.IntN(3)]
		n.release(w.anyNext(n))
	})
	w.run(faultsLast, never)
	if w.problem == "" {
		w.heal()
	}
	if w.problem == "" && len(w.claimed) == 0 {
		w.fail("there was no owner")
	}
}

// anyNext returns a node that another one may hand over to, or "".
func (w *world) anyNext(of *node) string {
	if next := w.nodes[w.rng.IntN(3)]; next != of {
		return next.name
	}
	return ""
}

// lose deletes the cell, which has lower versions from then on, while its owner works. Requests under way are lost. The
// processes of the other nodes are started again, because they would take those versions for stale.
func (w *world) lose() {
	who, ends := w.holder(), 2*int64(w.plan.options.Lease)
	if who == nil || w.begun != who.m.status.Epoch || w.now+ends > faultsLast {
		return
	}
	w.losses++
	w.note("engine: the cell is deleted")
	w.values, w.lastSeen, w.base = nil, Value{}, w.base-1<<32
	for _, n := range w.nodes {
		if n != who {
			n.kill()
		}
	}
	life := who.life
	w.after(ends, func() { // its lease has ended, and so does its process
		if who.life == life {
			who.kill()
		}
	})
}

// heal mends some of the nodes, and leaves the others broken for good.
func (w *world) heal() {
	w.healed, w.outage = true, 0
	w.plan.lost, w.plan.silent, w.plan.refused, w.plan.slow, w.plan.stale, w.plan.stops = 0, 0, 0, 0, 0, 0
	good := w.rng.Perm(3)[:1+w.rng.IntN(3)]
	for i, n := range w.nodes {
		n.good, n.requestsCut, n.answersCut, n.stuck = slices.Contains(good, i), false, false, 0
		kind := w.rng.IntN(5)
		switch {
		case n.good:
			n.exclude(true)
		case kind == 0:
			n.requestsCut, n.answersCut = true, true
		case kind == 1:
			n.answersCut = true
		case kind == 2:
			n.paused = 1 << 62
		case kind == 3:
			n.exclude(false)
		default:
			n.off = true
			n.kill()
		}
		w.note("healed: node %s good %t, broken as %d", n.name, n.good, kind)
	}
	o := w.plan.options
	bound := latest + 2*int64(o.Dead) + int64(o.Lease)/3 + 4*int64(o.Beat) + 30*second // a node may be stopped that long
	if !w.run(w.now+bound, func() bool { n := w.holder(); return n != nil && n.healthy() }) {
		w.fail("no node is the owner within %d ms, though one can", bound/ms)
		return
	}
	w.run(w.now+latest, never)
	who := w.holder()
	if who == nil {
		w.fail("the owner has lost its lease though nothing fails")
		return
	}
	w.run(w.now+20*second, func() bool { return w.holder() != who })
	if w.holder() != who {
		w.fail("node %s has lost the lease though nothing fails", who.name)
		return
	}
	w.handOver(who)
}

// handOver looks how long a node takes to follow one that hands over.
func (w *world) handOver(from *node) {
	next, o := w.anyNext(from), w.plan.options
	bound := 2*second + int64(o.Dead) + 4*int64(o.Beat)
	for _, n := range w.nodes {
		if n != from && n.good && (next == "" || next == n.name) {
			bound = 2*int64(o.Beat) + 100*ms
		}
	}
	w.note("node %s is to hand over to %q within %d ms", from.name, next, bound/ms)
	epoch := from.m.status.Epoch
	from.release(next)
	if !w.run(w.now+bound, func() bool { n := w.holder(); return n != nil && n.m.status.Epoch > epoch }) {
		w.fail("no owner within %d ms after node %s has handed over to %q", bound/ms, from.name, next)
	} else if n := w.holder(); next != "" && n.name != next && slices.ContainsFunc(w.nodes, func(n *node) bool { return n.name == next && n.good }) {
		w.fail("node %s has followed, not %s", n.name, next)
	}
}

// arrive is a call of a node that reaches the cell.
func (w *world) arrive(n *node, c call) (a answer) {
	version := w.version(len(w.values))
	if !c.update {
		at := len(w.values)
		if n.stuck > w.now {
			at = min(at, n.stuckAt)
		} else if w.chance(w.plan.stale) {
			at = max(0, at-w.rng.IntN(8))
		}
		if at > 0 {
			a.octets = w.values[at-1]
		}
		a.version = w.version(at)
		return a
	}
	if c.last != version {
		a.err = ErrChanged
		return a
	}
	w.values = append(w.values, c.value.Append(nil))
	v, err := Decode(w.values[len(w.values)-1])
	was, expected := w.lastSeen, w.lastSeen.Epoch+1
	if was.Epoch == 0 {
		expected = w.begun + 1
	}
	switch {
	case err != nil || v != c.value:
		w.fail("cannot decode %+v: %v", c.value, err)
	case v.Epoch == was.Epoch && v.Run == was.Run && v.Node == was.Node && !was.Vacant:
	case v.Epoch == expected && v.Run != was.Run && !v.Vacant:
		w.note("cell: %+v", v)
	default:
		w.fail("the cell changes from %+v to %+v", was, v)
	}
	w.lastSeen = v
	a.version = w.version(len(w.values))
	return a
}

// version returns the version of the cell behind a number of values.
func (w *world) version(values int) uint64 {
	if values == 0 {
		return 0
	}
	return w.base + uint64(values)
}
