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

// A Worker is a courier that delivers on a few goroutines of its own. It has no goroutine while
// there is nothing to deliver. It is safe for concurrent use.
type Worker struct {
	Supply
	options Options
	working int // number of goroutines; guarded by Supply.mu
}

// Options are the parameters of a Worker.
type Options struct {
	Group *Group                  // the group to which the worker's goroutines belong
	Most  int                     // maximum number of goroutines at the same time
	Batch func() int              // number of messages that a goroutine takes at a time
	Work  func([]*connector.Slot) // delivers messages and reports the outcomes
	Log   zerolog.Logger          // log for panics
}

// New returns a Worker for a lane. The lane gives no messages until the worker is opened.
func New(e Engine, l *connector.Lane, o Options) *Worker {
	w := &Worker{options: o}
	w.Supply = Supply{engine: e, lane: l, came: w.start}
	return w
}

// start begins another goroutine, unless the maximum number is running. The caller holds the lock.
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

// Guard calls f, which handles a message, and reports whether f has returned without a panic. A
// panic is logged with the text what.
func (w *Worker) Guard(m *sms.Message, what string, f func()) (ok bool) {
	defer func() {
		if fault := recover(); fault != nil {
			w.options.Log.Error().Str("id", sms.FormatID(m.ID)).Interface("panic", fault).Bytes("stack", debug.Stack()).Msg(what)
		}
	}()
	f()
	return true
}
