// Package worker delivers the messages of lanes whose way out is no session: webhooks, SMSCs that are called by HTTP, the
// sandbox, and clients that fetch their events.
//
//	lane ──Give──► Supply ──Take──► work, on a few goroutines ──Report──► lane
//
// # Start reading
//
// supply.go (what a lane gives), worker.go (goroutines that take it), group.go (their end).
package worker

import (
	"runtime/debug"

	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/sms"
)

// A Worker is a courier that delivers on goroutines of its own: a few at the same time, and none while there is nothing to
// be delivered. It is safe for concurrent use.
type Worker struct {
	Supply
	options Options
	working int // goroutines; guarded by Supply.mu
}

// Options are how a Worker works.
type Options struct {
	Group *Group                  // its goroutines end with
	Most  int                     // goroutines at the same time
	Batch func() int              // messages that a goroutine takes at a time
	Work  func([]*connector.Slot) // delivers them, and reports the outcomes
	Log   zerolog.Logger          // of faults
}

// New returns a Worker for a lane. It is given nothing until it is opened.
func New(e Engine, l *connector.Lane, o Options) *Worker {
	w := &Worker{options: o}
	w.Supply = Supply{engine: e, lane: l, came: w.start}
	return w
}

// start begins another goroutine, unless there are enough. The caller holds the lock.
func (w *Worker) start() {
	if w.working < w.options.Most && w.options.Group.Go(w.run) {
		w.working++
	}
}

// run works until nothing is ready, or the group ends.
func (w *Worker) run() {
	for w.options.Group.Err() == nil {
		n := w.options.Batch()
		w.mu.Lock()
		some := w.take(n)
		if len(some) == 0 {
			w.working--
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		w.options.Work(some)
	}
}

// Guard calls f, which is about a message, and reports whether it has returned. A fault at it is logged, with the words what.
func (w *Worker) Guard(m *sms.Message, what string, f func()) (ok bool) {
	defer func() {
		if fault := recover(); fault != nil {
			w.options.Log.Error().Str("id", sms.FormatID(m.ID)).Interface("panic", fault).Bytes("stack", debug.Stack()).Msg(what)
		}
	}()
	f()
	return true
}
