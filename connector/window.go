package connector

import (
	"sync/atomic"

	"pmg/config"
	"pmg/sms"
)

// A Window holds the slots by which a lane's messages leave: those of its sessions and of its
// couriers. It also manages what uses slots beside the queues: the sessions for messages that are
// sent alone (suspects.go), operations (inquiry.go), and messages whose intents are not stored yet
// (intents.go). A Window knows nothing of the queues.
type Window struct {
	lane   *Lane
	online atomic.Int64 // sessions that can be given messages

	// The fields below belong to the lane's dispatching goroutine.
	slots    Slots
	intents  intents
	dialing  int // instances that are being connected
	inFlight int
	suspects suspects
	quiet    []*Outlet // outlets that log out and have no request under way
	asking   asking
}

// Attach makes the instances of an out connector available, and returns the instances that must be
// connected now. It is called again when the configured number of instances has changed, and then
// adds instances or removes unconnected ones.
func (w *Window) Attach() (dial []*Instance) {
	if w.lane.Config().Listens() {
		return nil
	}
	for back := w.slots.Back(); back != nil && w.lane.Home().ReturnSurplus(back.Instance); back = w.slots.Back() {
		unlink(back)
	}
	for i := w.lane.Home().Acquire(); i != nil; i = w.lane.Home().Acquire() {
		if w.lane.Config().IsStatic() {
			dial = append(dial, i)
		} else {
			w.slots.Park(i)
		}
	}
	w.dialing += len(dial)
	return dial
}

// Park takes back an instance that was being connected and was not needed any more. It returns true
// if the instance is needed again and must be connected.
func (w *Window) Park(i *Instance) (dial bool) {
	switch {
	case w.lane.Home().ReturnSurplus(i):
	case w.lane.Home().IsWanted() && !w.lane.isDrained():
		return true // the instance was surplus, but others were returned meanwhile
	default:
		w.slots.Park(i)
	}
	w.dialing--
	return false
}

// Bound adds a session that has logged in. takes is true if the session can be given messages.
func (w *Window) Bound(link *Link, takes bool) {
	link.boundAt = link.BoundAt
	if !w.lane.ToClient() && !w.lane.Config().Listens() {
		w.dialing--
		w.lane.stats().Failing.Store(0)
	}
	if takes {
		w.Open(&link.Outlet)
	}
}

// NewOutlet returns an outlet without a session. courier takes up to window messages at a time.
// home is the connector that counts the outlet.
func NewOutlet(home *Connector, courier Courier, window int) *Outlet {
	return &Outlet{Courier: courier, home: home, size: sizing{most: window}}
}

// Open adds an outlet. The outlet is given messages from now on.
func (w *Window) Open(o *Outlet) {
	o.balanced = w.lane.ToClient()
	w.slots.Open(o, o.size.most)
	w.online.Add(1)
	o.home.online.Add(1)
	w.lane.moving.downSince, w.lane.moving.rest = 0, 0
}

// LoggingOut removes the free slots of an outlet, so that the outlet gets no more messages. Quiet
// informs the courier when no request of the outlet is under way.
func (w *Window) LoggingOut(o *Outlet) {
	w.removeSlots(o)
	o.supply = leaving
	w.checkQuiet(o)
}

func (w *Window) removeSlots(o *Outlet) {
	w.suspects.release(w.lane, o)
	w.intents.dropped = true
	if w.slots.Drop(o) {
		w.online.Add(-1)
		o.home.online.Add(-1)
	}
}

// checkQuiet records that an outlet logs out and has no request under way, if this is so.
func (w *Window) checkQuiet(o *Outlet) {
	if o.supply == leaving && o.used == 0 {
		o.supply = stopped
		w.quiet = append(w.quiet, o)
	}
}

// Quiet informs the couriers whose outlets get no more messages and have no request under way.
func (w *Window) Quiet(now int64) {
	for _, o := range w.quiet {
		o.Courier.Quiet(now)
	}
	w.quiet = w.quiet[:0]
}

// Over records the end of an outlet. Its requests under way will not be answered any more.
func (w *Window) Over(o *Outlet) {
	o.atEnd = o.used
	w.removeSlots(o)
}

// Closed takes back an instance whose socket is closed. It returns true if the instance must be
// connected again.
func (w *Window) Closed(now int64, link *Link) (dial bool) {
	link.Instance.SetLink(nil)
	if !link.WasBound() {
		w.dialing--
	}
	rest := link.Instance.ended(link, now)
	w.lane.policy.Links.Disconnected(now, link, rest)
	switch {
	case w.lane.gone:
	case !w.lane.ToClient() && w.lane.Home().ReturnSurplus(link.Instance):
	case w.lane.Home().IsWanted() && !w.lane.isDrained():
		w.dialing++
		return true
	default:
		w.slots.Park(link.Instance) // Next takes the slot when a message is due
	}
	return false
}

// isDrained reports whether the gateway is stopping and the lane has nothing more to send. Messages
// that wait in a durable store are sent after the next start, so they do not count. Without a
// durable store, messages on their way to the lane count, and scheduled messages do not.
func (l *Lane) isDrained() bool {
	switch {
	case !l.policy.Process.Draining():
		return false
	case l.policy.Bodies.Durable():
		return true
	}
	l.countDone()
	return l.Queued.Load() == 0
}

// Online returns how many sessions can be given messages. It is safe for concurrent use.
func (w *Window) Online() int { return int(w.online.Load()) }

// putBack frees a slot. alone is true if the slot's message was the only one under way when its
// session ended.
func (w *Window) putBack(slot *Slot, code sms.Code) (alone bool) {
	w.inFlight--
	o := slot.Outlet
	alone = o.atEnd == 1 || code == sms.BadState && o.suspect == slot
	w.suspects.answered(w.lane, slot)
	if code == sms.Timeout {
		w.slots.Freeze(slot)
		w.checkQuiet(o)
		return alone
	}
	w.slots.Put(slot)
	w.checkQuiet(o)
	if o.frozen != nil && code != sms.Lost {
		w.slots.Thaw(o)
	}
	return alone
}

// adapt learns from an answer how many requests of an outlet may be under way. full is true if all that were allowed were.
func (w *Window) adapt(o *Outlet, a sms.Answer, sent int64, full bool) {
	switch {
	case sent == 0:
		return
	case a.Code == sms.Throttled:
		o.size.auto.Refused(a.At, a.At-sent)
	case a.Code == sms.Timeout:
		o.size.auto.Unanswered(a.At, a.At-sent)
	case a.Code.Failure() == sms.Permanent: // accepted, or refused for good
		o.size.auto.Accepted(a.At, a.At-sent, full)
	default:
		return // nothing was done about the message, and a quick answer of that kind is no success
	}
	if size := o.size.auto.Size(); int64(size) != o.size.allowed.Load() && w.slots.Resize(o, size) {
		o.size.allowed.Store(int64(size))
	}
}

// allowed returns how many requests may be under way.
func (w *Window) allowed() int {
	if cfg := w.lane.Config(); cfg.Window != config.Auto {
		return w.Online() * int(cfg.Window)
	}
	n := 0
	w.lane.Home().Links(func(link *Link) {
		if link.slots != nil {
			n += link.Allowed()
		}
	})
	return n
}

// EachUnderWay calls f for every message of an out connector's lane that was sent and is not
// answered yet. f must not change the lane.
func (w *Window) EachUnderWay(f func(m *sms.Message)) {
	if w.lane.ToClient() {
		return
	}
	w.lane.Home().Links(func(link *Link) {
		for _, slot := range link.slots {
			if slot.Message != nil && slot.Inquiry == nil {
				f(slot.Message)
			}
		}
	})
}
