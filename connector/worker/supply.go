package worker

import (
	"slices"
	"sync"
	"time"

	"pmg/connector"
	"pmg/sms"
)

// An Engine runs work where a lane is dispatched for, and then dispatches the lane. It reports false if the gateway ends.
type Engine interface {
	Do(l *connector.Lane, f func(now int64)) bool
}

// A Supply is the messages that a lane has given to a courier, until they are taken. It is safe for concurrent use, except for
// Open, Shut and IsOpen: these are called where the lane is dispatched for.
type Supply struct {
	engine Engine
	lane   *connector.Lane
	came   func() // is called with the lock when there is another message

	outlet *connector.Outlet // by which the lane gives; nil: it gives nothing. What dispatches for the lane owns it

	mu    sync.Mutex
	ready []*connector.Slot // to be taken, the oldest first
}

// NewSupply returns a Supply for a lane. It is given nothing until it is opened. came is called for each message, and must not
// wait or use the Supply.
func NewSupply(e Engine, l *connector.Lane, came func()) *Supply {
	return &Supply{engine: e, lane: l, came: came}
}

// Open makes the lane give as many messages at a time to a courier. What it was given before is under way still.
func (s *Supply) Open(c connector.Courier, window int) {
	s.Shut()
	s.outlet = connector.NewOutlet(s.lane.Home(), c, window)
	s.lane.Window.Open(s.outlet)
}

// Shut makes the lane give nothing more.
func (s *Supply) Shut() {
	if s.outlet != nil {
		s.lane.Window.LoggingOut(s.outlet)
		s.outlet = nil
	}
}

// IsOpen reports whether the lane gives messages.
func (s *Supply) IsOpen() bool { return s.outlet != nil }

// Give implements connector.Courier.
func (s *Supply) Give(_ int64, slot *connector.Slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = append(s.ready, slot)
	s.came()
}

// Quiet implements connector.Courier: nothing is left to be done.
func (*Supply) Quiet(int64) {}

// Take removes and returns what is ready, n messages at most.
func (s *Supply) Take(n int) []*connector.Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.take(n)
}

// take does so. The caller holds the lock.
func (s *Supply) take(n int) (some []*connector.Slot) {
	if n >= len(s.ready) {
		some, s.ready = s.ready, nil
		return some
	}
	some = slices.Clone(s.ready[:n])
	s.ready = slices.Delete(s.ready, 0, n)
	return some
}

// Len returns how many messages are ready.
func (s *Supply) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ready)
}

// Pause makes the lane give nothing for a while. then is called with its end, where the lane is dispatched for; nil: nothing is.
func (s *Supply) Pause(d time.Duration, then func(until int64)) {
	s.engine.Do(s.lane, func(now int64) {
		s.lane.Throttle.Pause(now + int64(d))
		if then != nil {
			then(now + int64(d))
		}
	})
}

// An Answer is the outcome of a slot.
type Answer struct {
	Slot   *connector.Slot
	Answer sms.Answer // its time is that of the report
	Unsent bool       // the message was not sent, and waits again as if it had not been given
}

// Report gives slots back to the lane. Where the courier has set when a slot was sent, the time until now is observed as that of
// an answer.
func (s *Supply) Report(all ...Answer) { Report(s.engine, s.lane, all...) }

// Report gives slots back to their lane.
func Report(e Engine, l *connector.Lane, all ...Answer) {
	e.Do(l, func(now int64) {
		for i := range all {
			a := &all[i]
			if a.Unsent {
				l.Unsent(now, a.Slot)
				continue
			}
			if a.Slot.Sent != 0 && (a.Answer.PeerID != nil || a.Answer.Code != sms.Timeout) {
				l.Home().Stats.Answer.Observe(now - a.Slot.Sent)
			}
			a.Answer.At = now
			l.Answered(now, a.Slot, a.Answer)
		}
	})
}
