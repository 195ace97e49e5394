package classic

import (
	"math"
	"sync/atomic"
	"time"

	"pmg/connector"
	"pmg/sms"
)

// A lane is a connector.Lane that the connections share.
type lane struct {
	*connector.Lane
	engine *Engine

	mu      lock        // guards the rest, and what a lane keeps to whatever dispatches for it
	timer   *time.Timer // dispatches
	timerAt int64       // when; 0: it is not set
	gone    atomic.Bool
}

// lane returns what the connections share of l.
func (e *Engine) lane(l *connector.Lane) *lane {
	if own, ok := e.lanes.Load(l); ok {
		return own.(*lane)
	}
	own := &lane{Lane: l, engine: e}
	own.timer = time.AfterFunc(time.Hour, own.due)
	own.timer.Stop()
	kept, _ := e.lanes.LoadOrStore(l, own)
	return kept.(*lane)
}

func (e *Engine) eachLane(f func(*lane)) {
	e.lanes.Range(func(_, l any) bool {
		f(l.(*lane))
		return true
	})
}

// do calls f, which changes what can leave by the lane, and then dispatches.
func (l *lane) do(now int64, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	l.dispatch(now)
}

// push adds a message that was accepted.
func (l *lane) push(now int64, s *connector.Share, m *sms.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Push(now, s, m)
	l.dispatch(now)
}

// answered takes a slot back whose message was answered, or never will be.
func (l *lane) answered(now int64, slot *connector.Slot, a sms.Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Answered(now, slot, a)
	l.dispatch(now)
}

// takeBack takes a session's slots, and the messages that it has not got across.
// Its writer has ended.
func (l *lane) takeBack(now int64, c *conn) {
	l.do(now, func() {
		l.Over(&c.Link) // before the look at what was given to it: from here on nothing is
		for _, slot := range c.unwritten() {
			l.Unsent(now, slot)
		}
		c.Inflight.Overdue(math.MaxInt64, func(slot *connector.Slot) {
			l.Answered(now, slot, sms.Answer{Code: sms.Lost, At: now})
		})
	})
}

// dispatch leaves messages to the writers of the slots that they are paired with.
// The caller holds the lock.
func (l *lane) dispatch(now int64) {
	for {
		slot, again := l.Next(now)
		if slot == nil {
			l.dispatchAt(now, again)
			break
		}
		if slot.Link == nil {
			l.engine.group(slot.Instance.Connector).dial(slot.Instance)
			continue
		}
		slot.Link.Owner.(*conn).give(slot)
	}
	l.engine.gateway.Commit() // what has ended
	l.Quiet(func(link *connector.Link) {
		l.engine.run(link.Owner.(*conn).quiet) // its session's lock comes before the lane's
	})
	if l.Publish() {
		l.gone.Store(true)
		l.engine.wake()
	} else if l.Held.Load() > 0 && l.Queued.Load() < int64(l.Config().MaxQueue) {
		l.engine.wake()
	}
}

// dispatchAt sees to it that dispatch is called at a time; 0: at none.
func (l *lane) dispatchAt(now, at int64) {
	if at != 0 && (l.timerAt == 0 || at < l.timerAt) {
		l.timerAt = at
		l.timer.Reset(time.Duration(at - now))
	}
}

func (l *lane) due() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timerAt = 0
	if l.engine.ctx.Err() == nil {
		l.dispatch(l.engine.now())
	}
}

// tick does what happens by itself: a validity may have ended, or messages have waited
// in vain and move to other lanes.
func (l *lane) tick(now int64) {
	l.do(now, func() { l.Tick(now) })
	for l.move(now) {
	}
}

// move moves a part of the messages that are not to wait here any longer, and reports
// whether there may be more. The lanes' locks are taken one after the other: two at the
// same time could lock each other up.
func (l *lane) move(now int64) (more bool) {
	type moved struct {
		share   *connector.Share
		message *sms.Message
	}
	var all []moved
	l.do(now, func() {
		more = l.Move(now, func(s *connector.Share, m *sms.Message) { all = append(all, moved{s, m}) })
	})
	for _, m := range all {
		l.engine.lane(m.share.Lane).push(now, m.share, m.message)
	}
	return more
}

func (l *lane) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Stop()
}
