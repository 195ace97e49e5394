// Package autowindow finds how many requests a session should have unanswered: more while that brings more answers a
// second, fewer when the peer says that it is too much, or when answers only take longer.
//
//	         more answers                  too much: as many as it took in a second
//	┌─growing──────────────┐   ┌──────────────────────────────────────────┐
//	└──────►doubled────────┘   ▼                                          │
//	           └─no more────► held ──now and then──► tried (up, or down) ─┘
//
// It measures only while all that is allowed is under way, and knows neither sessions nor messages.
//
// # Start reading
//
// autowindow.go, Accepted; then refusals.go, Refused.
package autowindow

import "math"

// First is the size to begin with.
const First = 10

const (
	second = int64(1e9)

	brief     = second / 10      // least time of a measurement
	few       = 16               // least number of its answers
	clean     = 6 * second / 5   // time without a refusal after which the peer is thought to take a size
	soon      = 2 * second       // from the end of growing to the first trial of another size
	patience  = 5 * second / 2   // time for which refusals are counted before the size changes
	longest   = 60 * second      // most time between trials
	forgotten = 10 * 60 * second // most time until a size that was too much is tried again

	// Quotients of answers a second, but for the last two.
	gain     = 1.05 // from here on a larger size is worth it
	loss     = 0.97 // down to here a smaller size brings as much
	polite   = 0.9  // down to here a size without refusals is better than one with them
	changed  = 1.3  // from here on, at the same size, the peer is not as it was
	lessened = 0.95 // of a size that is refused after all: how much of it is tried next
	slower   = 1.5  // of the shortest time to an answer: from here on requests wait at the peer
)

// A Window is the number of requests of one session that may be unanswered. It is not safe for concurrent use.
type Window struct {
	size, most int
	phase      phase
	measure    measure
	before     point   // growing, tried: the size and rate that the next one is compared with
	best       float64 // answers a second when the size was last found
	quickest   int64   // shortest time to an answer since the peer last changed
	next       int64   // when something else is tried
	pause      int64   // time between the latest trial and the one before
	refused    refusals
}

type phase uint8

const (
	growing phase = iota
	held
	triedUp
	triedDown
)

// A point is a size, and the answers a second that it brought.
type point struct {
	size int
	rate float64
}

// A measure counts the answers to requests that were sent with the present size.
type measure struct {
	skip    int   // answers to requests from before
	began   int64 // time of the last answer that was skipped
	answers int
	full    int   // answers that came while all that is allowed was under way
	took    int64 // sum of the times to the answers
}

// New returns a window of at most so many requests.
func New(most int) *Window {
	w := &Window{most: most, size: min(First, most), pause: soon}
	w.begin(0)
	return w
}

// Size returns how many requests may be unanswered.
func (w *Window) Size() int { return w.size }

// Accepted counts a request that the peer accepted. took is the time to its answer; full is true if all that is
// allowed was under way.
func (w *Window) Accepted(now, took int64, full bool) {
	if w.refused.taken++; w.refused.taken == 1 {
		w.refused.since = now
	}
	if w.quickest == 0 || took < w.quickest {
		w.quickest = took
	}
	m := &w.measure
	if r := &w.refused; r.at != 0 && now-took <= r.at {
		return // it says nothing of the present size
	}
	if m.skip > 0 {
		m.skip--
		m.began = now
		return
	}
	m.answers++
	m.took += took
	if full {
		m.full++
	}
	if m.answers >= max(w.size, few) && now-m.began >= w.needed() {
		w.measured(now)
	}
}

// needed returns how long the measurement takes at least.
func (w *Window) needed() int64 {
	switch {
	case w.refused.state == below && w.refused.clean < w.size:
		return clean
	case w.phase == held:
		return second / 2
	}
	return brief
}

// begin begins another measurement.
func (w *Window) begin(now int64) { w.measure = measure{skip: w.size, began: now} }

// resize changes the size, and begins another measurement.
func (w *Window) resize(now int64, size int) {
	w.size = max(1, min(size, w.most))
	w.begin(now)
}

// measured decides what the result of a measurement means.
func (w *Window) measured(now int64) {
	m := w.measure
	w.begin(now)
	if m.full*5 < m.answers*4 {
		return // fewer messages waited than the peer would have taken
	}
	w.measure.skip = 0
	here := point{w.size, float64(m.answers) * float64(second) / float64(now-m.began)}
	switch r := &w.refused; {
	case r.state == below:
		r.clean = max(r.clean, w.size)
	case r.state == asked && now-r.at > 5*second, r.state == endured && now >= r.until:
		r.state = none
	case r.state != none:
		return
	}
	switch w.phase {
	case growing, triedUp:
		w.grown(now, here)
	case triedDown:
		w.shrunk(now, here)
	case held:
		w.stayed(now, here, m.took/int64(m.answers))
	}
}

// grown continues after a measurement with a size that may be larger than the one before.
func (w *Window) grown(now int64, here point) {
	worth := gain
	if w.refused.state == below {
		worth = 1
	}
	if here.rate < w.before.rate*worth {
		w.hold(now, w.before, false)
		return
	}
	w.before, w.best = here, here.rate
	larger := w.larger(now, 2)
	if larger == w.size {
		w.hold(now, here, w.phase == triedUp)
		return
	}
	w.phase = growing
	w.resize(now, larger)
}

// shrunk continues after a measurement with a smaller size.
func (w *Window) shrunk(now int64, here point) {
	if here.rate >= w.best*loss {
		w.hold(now, here, true)
		return
	}
	w.hold(now, w.before, false)
}

// hold keeps a size for a while. found is true if a trial has led to it.
func (w *Window) hold(now int64, p point, found bool) {
	switch {
	case found || w.phase == growing:
		w.pause = soon
	default:
		w.pause = min(2*w.pause, longest)
	}
	w.phase, w.before, w.next = held, p, now+w.pause
	w.best = max(w.best, p.rate)
	if w.size != p.size {
		w.resize(now, p.size)
	}
}

// stayed continues after a measurement with the size that is held. took is the mean time to an answer.
func (w *Window) stayed(now int64, here point, took int64) {
	switch {
	case w.best == 0:
		w.best = here.rate
	case here.rate > w.best*changed || here.rate*changed < w.best:
		w.best, w.quickest, w.next = here.rate, 0, now
	}
	if now < w.next {
		return
	}
	w.before = here
	switch larger := w.larger(now, 1.5); {
	case w.refused.state == none && w.size > 1 && w.quickest != 0 && float64(took) > slower*float64(w.quickest):
		w.phase = triedDown
		w.resize(now, min(w.size-1, w.size*3/4))
	case larger > w.size:
		w.phase = triedUp
		w.resize(now, larger)
	case w.refused.state == below && here.rate < w.refused.over.rate*polite:
		w.endure(now, w.refused.over.size)
	default:
		w.next = now + w.pause
	}
}

// larger returns the next size to try, at most so many times the present one; or the present one.
func (w *Window) larger(now int64, times float64) int {
	size := min(max(int(float64(w.size)*times), w.size+1), w.most)
	r := &w.refused
	if r.state != below {
		return size
	}
	if now < r.until {
		return w.size
	}
	if r.dirty != 0 && r.until != 0 {
		r.dirty, r.until = 0, 0 // the peer may take more by now
	}
	if r.dirty != 0 {
		size = int(math.Sqrt(float64(w.size) * float64(r.dirty)))
	}
	if float64(size) < float64(w.size)*1.05 && r.dirty != 0 {
		r.patience = min(2*r.patience, forgotten)
		r.until = now + r.patience
		return w.size
	}
	return size
}

// keep holds a size whose rate is not known.
func (w *Window) keep(now int64, size int) {
	w.phase, w.best, w.pause, w.next = held, 0, soon, now
	w.resize(now, size)
	w.before = point{w.size, 0}
}
