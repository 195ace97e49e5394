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

	mu      lock        // guards the rest, and the fields of connector.Lane for the dispatching goroutine
	timer   *time.Timer // calls dispatch
	timerAt int64       // when it calls dispatch; 0: it is not set
	gone    atomic.Bool
}

// lane returns the classic lane of l.
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

// push adds an accepted message.
func (l *lane) push(now int64, s *connector.Share, m *sms.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Push(now, s, m)
	l.dispatch(now)
}

// answered takes back a slot whose message was answered, or never will be.
func (l *lane) answered(now int64, slot *connector.Slot, a sms.Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Answered(now, slot, a)
	l.dispatch(now)
}

// takeBack takes back a session's slots, and the messages that were not answered. The
// session's writer has ended.
func (l *lane) takeBack(now int64, c *conn) {
	l.do(now, func() {
		l.Over(&c.Outlet) // before the writer's slots are collected, because from here on the lane gives it none
		for _, slot := range c.unwritten() {
			l.Unsent(now, slot)
		}
		c.Inflight.Overdue(math.MaxInt64, func(slot *connector.Slot) {
			l.Answered(now, slot, sms.Answer{Code: sms.Lost, At: now})
		})
	})
}

// dispatch pairs messages with slots and hands them to the writers of the slots' sessions.
// The caller holds the lock.
func (l *lane) dispatch(now int64) {
	for {
		slot, again := l.Next(now)
		if slot == nil {
			l.dispatchAt(now, again)
			break
		}
		if slot.Outlet == nil {
			l.engine.group(slot.Instance.Connector).dial(slot.Instance)
			continue
		}
		slot.Outlet.Courier.Give(now, slot)
	}
	l.engine.gateway.Keeper.CommitEnded()
	if l.HasHanded() {
		l.engine.run(l.handOver)
	}
	l.Quiet(now)
	if l.Publish() {
		l.gone.Store(true)
		l.engine.wake()
	} else if l.WaitingForRoom.Load() > 0 && l.Queued.Load() < int64(l.Config().MaxQueue) {
		l.engine.wake()
	}
}

// dispatchAt sets the timer to call dispatch at a time; 0 stops it.
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

// tick does the lane's work that depends on time: it ends expired messages, and moves
// messages to other lanes if this one is down.
func (l *lane) tick(now int64) {
	l.do(now, func() { l.Tick(now) })
	for l.move(now) {
	}
}

// move moves some of the messages that should not wait in this lane any longer, and
// reports whether there may be more.
func (l *lane) move(now int64) (more bool) {
	l.give(func(give func(*connector.Share, *sms.Message)) {
		l.do(now, func() { more = l.Move(now, give) })
	})
	return more
}

// handOver gives other lanes the messages that they take.
func (l *lane) handOver() {
	l.give(func(give func(*connector.Share, *sms.Message)) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.HandOver(give)
	})
}

// give pushes the messages that from passes to its argument to other lanes. It does so when from
// has returned, and holds one lane's lock at a time, because holding two could cause a
// deadlock.
func (l *lane) give(from func(give func(*connector.Share, *sms.Message))) {
	type given struct {
		share   *connector.Share
		message *sms.Message
	}
	var all []given
	from(func(s *connector.Share, m *sms.Message) { all = append(all, given{s, m}) })
	now := l.engine.now()
	for _, g := range all {
		l.engine.lane(g.share.Lane).push(now, g.share, g.message)
	}
}

func (l *lane) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Stop()
}
