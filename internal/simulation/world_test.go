package simulation

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing/synctest"
	"time"

	"pmg/config"
)

// A world is everything in one history.
type world struct {
	rng    *rand.Rand
	events events
	count  uint64 // events so far that were planned
	done   int    // events so far that have happened

	plan     plan
	node     *node // nil: down
	disk     *disk
	stations []*station
	smscs    []*smsc
	oracle   oracle
	healed   bool
	step     time.Duration // of the wall clock
	lives    int
	mutation string

	conversations int // of a node

	print   func(string) // nil: the history is not wanted
	problem string
}

// A plan is how faulty a history is.
type plan struct {
	cfg, other          *config.Config
	crash               float64 // probability at each event
	disk                float64 // probability that a commit fails
	slow                float64 // probability that a commit takes long
	rude                float64 // probability that a client misbehaves in a step
	faulty              float64 // probability that an SMSC misbehaves at a message
	messages            int     // of each client
	breaks              bool    // after an error the disk fails until the node starts again
	keep                int64   // octets of messages in memory
	scheduled, validity float64
	away                float64 // probability that a client goes away for a while in a step

	recipients int
	asks       []byte  // values of registered_delivery
	long, cut  float64 // probability that a text is long, and is sent whole or in parts
	changes    float64 // probability that a client asks for a change of a message in a step
	commands   bool    // an operator changes queues
	noMO       bool    // no route leads to clients
}

// An event is something that happens at a time.
type event struct {
	at    int64
	order uint64 // events of the same time happen in the order in which they were planned
	do    func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	(*e)[len(*e)-1] = event{}
	*e = (*e)[:len(*e)-1]
	return last
}

func (w *world) now() int64 { return time.Now().UnixNano() }

// at plans an event.
func (w *world) at(at int64, do func()) {
	w.count++
	heap.Push(&w.events, event{max(at, w.now()), w.count, do})
}

func (w *world) after(d time.Duration, do func()) { w.at(w.now()+int64(d), do) }

// chance reports whether something happens that has a probability.
func (w *world) chance(p float64) bool { return w.rng.Float64() < p }

// fault reports whether a fault happens that has a probability.
func (w *world) fault(p float64) bool { return w.chance(p) && !w.healed }

// between returns a random duration.
func (w *world) between(least, most time.Duration) time.Duration {
	return least + time.Duration(w.rng.Int64N(int64(most-least)+1))
}

// note adds a line to the history.
func (w *world) note(format string, args ...any) {
	if w.print != nil {
		w.print(fmt.Sprintf("%12.6f  ", float64(w.now()%1e15)/1e9) + fmt.Sprintf(format, args...))
	}
}

// trace adds what the node's goroutines do.
func (w *world) trace(format string, args ...any) {
	if w.print != nil {
		w.print("              " + fmt.Sprintf(format, args...))
	}
}

// fail records that something must not have happened.
func (w *world) fail(format string, args ...any) {
	if w.problem == "" {
		w.problem = fmt.Sprintf(format, args...)
		w.note("PROBLEM: %s", w.problem)
	}
}

// run runs events until a time, or until done reports true.
func (w *world) run(until int64, done func() bool) {
	for w.problem == "" && len(w.events) > 0 && w.events[0].at <= until && !done() {
		e := heap.Pop(&w.events).(event)
		time.Sleep(time.Duration(e.at - w.now()))
		synctest.Wait() // what was due at the same time comes before
		w.done++
		e.do()
		synctest.Wait() // what it has woken comes before what follows, whatever the scheduler does
		if w.fault(w.plan.crash) && w.node != nil {
			w.crash()
		}
		w.settle()
	}
	if done() {
		return
	}
	time.Sleep(time.Duration(until - w.now()))
}

// settle runs the gateway's goroutines until each of them waits for an event, and plans these.
func (w *world) settle() {
	if w.node != nil {
		w.node.flush()
		w.node.letGo()
		w.node.collect()
	}
}
