package gateway

import (
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/ratelimit"
	"pmg/sms"
)

// An Outbox is a connector's way out: the messages that wait, the slots they may
// leave by, and the rules by which the two are paired. It is not safe for
// concurrent use.
//
//	        Push                Next                Answered
//	message ────► queue ─────────────────► under way ───────► done
//	                ▲  slot, rate, no pause           │
//	                └──────────── again ──────────────┘
type Outbox struct {
	*connector.Connector
	gateway  *Gateway
	queue    *connector.Queue
	slots    connector.Slots
	limiter  ratelimit.Limiter
	rate     int
	paused   int64 // nothing is sent before this time
	dialing  int   // instances that are being connected
	inFlight int
	leaving  bool // removed; goes when its messages are gone
	gone     bool

	sent, done int64 // messages that Publish has not counted yet
}

// NewOutbox makes the outbox of a connector.
func (g *Gateway) NewOutbox(c *connector.Connector) *Outbox {
	return &Outbox{Connector: c, gateway: g, queue: connector.NewQueue()}
}

// Push adds a message that was accepted.
func (o *Outbox) Push(now int64, m *sms.Message) { o.queue.Push(m, now) }

// Next takes the slot that comes next. Either it holds the message that is to
// leave by it, or it has no session, and its instance is to be connected. With
// nil nothing more can be done now, but again says when, unless it is 0.
func (o *Outbox) Next(now int64) (slot *connector.Slot, again int64) {
	cfg := o.Config()
	if cfg.Rate != o.rate {
		o.rate = cfg.Rate
		o.limiter.SetRate(cfg.Rate, 0)
	}
	for o.queue.Ready(now) {
		front := o.slots.Front()
		if front == nil {
			break
		}
		if front.Link == nil {
			if o.dialing*cfg.Window >= o.queue.Len() {
				break // those being connected will do for what waits
			}
			o.dialing++
			return o.slots.Take(), 0
		}
		if wait := max(o.paused-now, o.limiter.Wait(now)); wait > 0 {
			return nil, now + wait
		}
		m, expires := o.queue.Pop(now)
		if expires != 0 && now > expires {
			o.Stats.Expired.Add(1)
			o.drop(m)
			continue
		}
		o.limiter.Reserve(now)
		slot = o.slots.Take()
		slot.Message = m
		o.inFlight++
		return slot, 0
	}
	if due := o.queue.NextDue(); due > now {
		return nil, due
	}
	return nil, 0
}

// Answered takes back a slot whose message was answered with code, or never will be.
func (o *Outbox) Answered(now int64, slot *connector.Slot, code sms.Code) {
	m := o.putBack(slot)
	next := settle(now, o.Config(), m, code)
	switch {
	case next.again:
		o.Stats.Retried.Add(1)
		o.queue.PushBack(m, now, next.notBefore)
	case code == sms.OK:
		o.sent++
		o.drop(m)
	default:
		o.Stats.Failed.Add(1)
		o.drop(m)
	}
	if next.pause > o.paused {
		o.gateway.Log.Debug().Str("connector", o.Name).Stringer("because", code).Dur("for", time.Duration(next.pause-now)).Msg("paused")
		o.paused = next.pause
	}
}

// An outcome is what becomes of a message whose request was answered, or never will be.
type outcome struct {
	again     bool  // it goes back to the queue
	notBefore int64 // again: not before this time; 0: to its old place, at once
	pause     int64 // nothing is sent to this connector before this time; 0: go on
}

// settle decides what becomes of m, which to's peer answered with code.
func settle(now int64, cfg *config.Connector, m *sms.Message, code sms.Code) (o outcome) {
	switch {
	case code.SlowDown():
		o = outcome{again: true, pause: now + int64(cfg.ThrottlePause)}
	case code == sms.Timeout:
		m.Attempts++
		o.again = cfg.OnUnknown == config.Resend
	case code.Retryable():
		m.Attempts++
		o = outcome{again: true, notBefore: now + int64(cfg.RetryDelay)}
	}
	if o.again && cfg.MaxAttempts > 0 && m.Attempts >= cfg.MaxAttempts {
		o = outcome{pause: o.pause}
	}
	return o
}

// drop lets go of a message for good.
func (o *Outbox) drop(m *sms.Message) {
	o.done++
	m.Release()
}

// Unsent takes back a slot whose message was never written.
func (o *Outbox) Unsent(now int64, slot *connector.Slot) { o.queue.PushBack(o.putBack(slot), now, 0) }

func (o *Outbox) putBack(slot *connector.Slot) *sms.Message {
	m := slot.Message
	o.inFlight--
	o.slots.Put(slot)
	return m
}

// Attach readies the instances of a connector, and gives those that are to be
// connected at once.
func (o *Outbox) Attach() (dial []*connector.Instance) {
	if o.Config().Listens() {
		return nil
	}
	for i := o.Acquire(); i != nil; i = o.Acquire() {
		if o.Config().IsStatic() {
			dial = append(dial, i)
		} else {
			o.slots.Park(i)
		}
	}
	o.dialing += len(dial)
	return dial
}

// Park takes back an instance that was being connected and is not needed any more.
func (o *Outbox) Park(i *connector.Instance) {
	o.dialing--
	o.slots.Park(i)
}

// Bound takes in a session that has logged in. takes tells whether it can be
// given messages.
func (o *Outbox) Bound(l *connector.Link, takes bool) {
	if !o.Config().Listens() {
		o.dialing--
		o.Stats.Failing.Store(0)
	}
	if takes {
		o.slots.Open(l, o.Config().Window)
		o.SetOnline(1)
	}
}

// Over takes the free slots of a session away: it is given no more messages.
func (o *Outbox) Over(l *connector.Link) {
	if o.slots.Drop(l) {
		o.SetOnline(-1)
	}
}

// Closed has an instance back whose socket is closed, and tells whether it is to
// be connected again; code says how its session went.
func (o *Outbox) Closed(l *connector.Link) (dial bool, code sms.Code) {
	l.Instance.SetLink(nil)
	if !l.Bound {
		o.dialing--
		code = sms.BindFailed
	}
	switch {
	case o.gone || o.gateway.Draining() && o.queue.Len() == 0:
	case o.Config().IsStatic() || o.queue.Len() > 0:
		o.dialing++
		return true, code
	default:
		o.slots.Park(l.Instance)
	}
	return false, code
}

// Leave takes the connector out of service: what it has is sent, and then it is gone.
func (o *Outbox) Leave() { o.leaving = true }

// Gone tells that everything was sent. Nothing comes any more.
func (o *Outbox) Gone() bool { return o.gone }

// Publish shows what others may look at. It tells, once, that a connector that
// leaves has nothing more to send, so that its sessions can be logged out.
func (o *Outbox) Publish() (gone bool) {
	s := o.Stats
	if o.done > 0 {
		s.Sent.Add(o.sent)
		o.Queued.Add(-o.done)
		o.sent, o.done = 0, 0
	}
	s.QueueLength.Store(int64(o.queue.Len()))
	s.QueueOldest.Store(o.queue.Oldest())
	s.InFlight.Store(int64(o.inFlight))
	// What waits for clients that are not there will never be sent.
	hopeless := o.Config().Listens() && o.Online() == 0
	// Queued counts what is still on its way here, too.
	sent := o.Queued.Load() == 0 && !o.Starved.Load()
	if o.leaving && !o.gone && o.inFlight == 0 && (sent || hopeless) {
		o.gone = true
		return true
	}
	return false
}
