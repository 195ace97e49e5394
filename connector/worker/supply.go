package worker

import (
	"slices"
	"sync"
	"time"

	"pmg/connector"
	"pmg/sms"
)

// An Engine runs a function on the goroutine that dispatches for a lane, and then dispatches the
// lane. The result is false if the gateway ends.
type Engine interface {
	Do(l *connector.Lane, f func(now int64)) bool
}

// A Supply holds the messages that a lane has given to a courier until the courier takes them. It
// is safe for concurrent use, except for Open, Shut and IsOpen, which only the lane's dispatching
// goroutine may call.
type Supply struct {
	engine Engine
	lane   *connector.Lane
	came   func() // called with the lock held when another message has come

	outlet *connector.Outlet // the outlet by which the lane gives messages, owned by its dispatching goroutine; nil: none

	mu    sync.Mutex
	ready []*connector.Slot // slots to be taken, the oldest first
}

// NewSupply returns a Supply for a lane. The lane gives no messages until Open is called. came is
// called for each message. It must not wait or use the Supply.
func NewSupply(e Engine, l *connector.Lane, came func()) *Supply {
	return &Supply{engine: e, lane: l, came: came}
}

// Open makes the lane give up to window messages at a time to a courier. Messages that an earlier
// courier was given may still be under way.
func (s *Supply) Open(c connector.Courier, window int) {
	s.Shut()
	s.outlet = connector.NewOutlet(s.lane.Home(), c, window)
	s.lane.Window.Open(s.outlet)
}

// Shut stops the lane from giving more messages.
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

// Quiet implements connector.Courier. It has nothing to do.
func (*Supply) Quiet(int64) {}

// Take removes and returns ready messages, at most n.
func (s *Supply) Take(n int) []*connector.Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.take(n)
}

// take implements Take. The caller holds the lock.
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

// Pause stops the lane from giving messages for a while. then is called with the end of the pause,
// on the goroutine that dispatches for the lane. then may be nil.
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
	Answer sms.Answer // the answer; its time is the time of the report
	Unsent bool       // the message was not sent, and waits again as if it had not been given
}

// Report gives slots back to the lane. If the courier has set when a slot was sent, the time since
// then is counted as the response time.
func (s *Supply) Report(all ...Answer) { Report(s.engine, s.lane, all...) }

// Report gives slots of a lane back to the lane.
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
