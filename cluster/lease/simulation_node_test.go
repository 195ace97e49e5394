package lease

import (
	"container/heap"
	"errors"
)

// A node is one process that has a machine, as a Holder drives it: every time at which a process can be stopped is an event.
type node struct {
	w        *world
	name     string
	rate     float64 // of its clocks
	wallStep int64   // of its wall clock, which nothing should ask
	eligible bool

	m        *machine
	life     int   // counts the processes
	born     int64 // of this process
	until    int64 // as others see it
	calling  bool
	timer    int // counts the waits
	state    State
	holding  bool
	pauses   int
	paused   int64 // stopped before that time
	good     bool  // after things were mended
	off      bool  // is not started again
	stuck    int64 // its reads are answered by a machine of the engine that knows nothing newer before that time
	stuckAt  int
	starting bool

	requestsCut, answersCut bool
}

// clock returns the monotonic clock's time.
func (n *node) clock() int64 { return int64(float64(n.w.now-n.born) * n.rate) }

func (n *node) holds() bool { return !n.starting && n.clock() < n.until }

// healthy reports whether a node may be expected to stay the owner.
func (n *node) healthy() bool {
	return !n.requestsCut && !n.answersCut && n.paused <= n.w.now && !n.off
}

// do does something of this process after a time, or when it is not stopped any more.
func (n *node) do(d int64, f func()) {
	life := n.life
	var try func()
	try = func() {
		switch {
		case n.life != life:
		case n.paused > n.w.now:
			if n.paused < 1<<60 {
				n.w.events.push(n.paused+n.w.between(0, 1000), try)
			}
		default:
			f()
		}
	}
	n.w.after(d, try)
}

// soon does the next thing of a goroutine. The process may be stopped before.
func (n *node) soon(f func()) {
	if n.w.chance(n.w.plan.stops) {
		n.pause(n.w.between(second, 30*second))
	}
	n.do(n.w.between(0, 20_000), f)
}

// start begins a process.
func (n *node) start() {
	n.starting = false
	n.born, n.until, n.calling, n.state, n.holding = n.w.now, 0, false, Standby, false
	o := n.w.plan.options
	o.Node, o.Eligible = n.name, false
	n.m = newMachine(o, n.w.rng.Uint64()|1, n.clock())
	n.soon(n.step)
	n.soon(n.write)
	n.check()
}

// check asks each second for the last epoch in the journal. A node that has not read it is not eligible.
func (n *node) check() {
	begun := n.w.begun
	n.do(n.delay(), func() {
		n.m.begun, n.m.unowned, n.m.eligible = begun, begun == 0 || n.w.credulous, n.eligible
		n.do(second, n.check)
	})
}

// begin appends the owner's epoch to the journal. The owner works from then on.
func (n *node) begin() {
	if n.holds() {
		n.w.begun = max(n.w.begun, n.m.status.Epoch)
	}
}

// startLater begins another process.
func (n *node) startLater(d int64) {
	n.life++
	n.starting, n.until, n.holding = true, 0, false
	n.m.status.Holding = false
	life := n.life
	n.w.after(d, func() {
		if n.life == life && !n.off {
			n.start()
		}
	})
}

func (n *node) kill() {
	if !n.starting {
		n.w.restarts++
		n.w.note("node %s: killed", n.name)
		n.paused = min(n.paused, n.w.now)
		n.startLater(n.w.between(0, 10*second))
	}
}

func (n *node) pause(d int64) {
	n.pauses++
	n.paused = max(n.paused, n.w.now+d)
	n.w.note("node %s: stopped for %d ms", n.name, d/ms)
}

func (n *node) exclude(eligible bool) {
	n.eligible, n.m.eligible = eligible, eligible && n.m.eligible // see check
}

// cut cuts the node off from the cell for a while, in one direction or both.
func (n *node) cut() {
	kind := n.w.rng.IntN(3)
	d := n.w.between(0, 20*second)
	n.requestsCut, n.answersCut = kind != 1, kind != 2
	n.w.note("node %s: cut off for %d ms, requests %t, answers %t", n.name, d/ms, n.requestsCut, n.answersCut)
	n.w.after(d, func() {
		if !n.w.healed {
			n.requestsCut, n.answersCut = false, false
		}
	})
}

func (n *node) release(next string) {
	if n.starting || n.m.status.State.Ended() {
		return
	}
	n.do(0, func() {
		n.w.note("node %s: is to hand over to %q", n.name, next)
		n.m.release(next, n.clock())
		n.publish()
		if !n.calling {
			n.timer++
			n.soon(n.step)
		}
	})
}

// publish is that of a Holder.
func (n *node) publish() {
	n.until = n.m.until
	s := n.m.status
	if n.holding && !s.Holding && s.State == Owner {
		n.w.lapses++
		n.w.note("node %s: %s", n.name, s.Why)
	}
	n.holding = s.Holding
	if s.State == n.state {
		return
	}
	n.w.note("node %s: %s epoch %d holding %t: %s", n.name, s.State, s.Epoch, s.Holding, s.Why)
	switch n.state = s.State; s.State {
	case Owner:
		n.w.owners++
		if s.Epoch <= n.w.highest || n.w.claimed[s.Epoch] != 0 {
			n.w.fail("node %s is the owner with epoch %d, and there was one with %d", n.name, s.Epoch, n.w.highest)
		}
		n.w.highest, n.w.claimed[s.Epoch] = s.Epoch, n.m.run
		n.soon(n.begin)
	case Released:
		n.w.released++
	case Deposed:
		n.w.deposed++
	}
}

// step is that of a Holder, in pieces.
func (n *node) step() {
	left := n.clock()
	n.m.tick(left)
	n.publish()
	switch {
	case n.m.status.State.Ended():
		n.startLater(n.w.between(0, 2*second))
	case left < n.m.due:
		n.timer++
		timer := n.timer
		n.do(int64(float64(n.m.wake()-left)/n.rate)+1, func() {
			if n.timer == timer && !n.calling {
				n.step()
			}
		})
	default:
		n.calling = true
		c := n.m.begin(left)
		n.soon(func() { n.send(c, left) })
	}
}

var (
	errTimeout = errors.New("no answer in time")
	errRefused = errors.New("connection refused")
)

// send is the call of the cell.
func (n *node) send(c call, left int64) {
	w, open, life := n.w, true, n.life
	finish := func(a answer) {
		if !open || n.life != life {
			return
		}
		open = false
		a.left = left
		n.soon(func() {
			n.m.end(c, a, n.clock())
			n.calling = false
			n.publish()
			n.step()
		})
	}
	if w.chance(w.plan.refused) {
		finish(answer{err: errRefused})
		return
	}
	n.do(int64(float64(c.timeout)/n.rate), func() { finish(answer{err: errTimeout}) })
	if w.chance(w.plan.lost) || n.requestsCut {
		return
	}
	base := w.base
	w.after(n.delay(), func() {
		if n.requestsCut || w.outage > w.now || w.base != base {
			return
		}
		a := w.arrive(n, c)
		if w.chance(w.plan.silent) || n.answersCut {
			return
		}
		n.do(n.delay(), func() {
			if !n.answersCut {
				finish(a)
			}
		})
	})
}

// delay returns how long octets are under way.
func (n *node) delay() int64 {
	if n.w.chance(n.w.plan.slow) {
		return n.w.between(0, latest)
	}
	if n.w.chance(n.w.plan.slow) { // shortly before the caller gives up
		return int64(n.w.plan.options.Lease) / 3 * 9 / 10
	}
	return n.w.between(100_000, 5*ms)
}

// write looks whether the node holds the lease, and sends, again and again.
func (n *node) write() {
	until := n.until
	n.soon(func() {
		holds, pauses := n.clock() < until, n.pauses
		n.soon(func() {
			if holds {
				n.written(pauses)
			}
			n.do(n.w.between(20*ms, 200*ms), n.write)
		})
	})
}

// written looks at a write. One that is late had begun before its process was stopped, and is the only one.
func (n *node) written(pauses int) {
	other := n.w.holder()
	if other == nil || other == n {
		return
	}
	n.w.late++
	if n.pauses == pauses {
		n.w.fail("node %s writes while %s holds the lease", n.name, other.name)
	}
}

// A queue has what is to happen.
type queue struct {
	all    eventHeap
	number int64
}

type event struct {
	at, number int64
	f          func()
}

func (q *queue) push(at int64, f func()) {
	q.number++
	heap.Push(&q.all, event{at, q.number, f})
}

// pop returns the next event up to a time.
func (q *queue) pop(until int64) (int64, func()) {
	if len(q.all) == 0 || q.all[0].at > until {
		return 0, nil
	}
	e := heap.Pop(&q.all).(event)
	return e.at, e.f
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].number < h[j].number
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	e := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return e
}
