package connector

import (
	"math"
	"slices"
	"sync/atomic"

	"pmg/config"
	"pmg/sms"
)

// A Lane is a way out of the gateway: the waiting messages, the slots they may leave by,
// and the rules by which the two are paired. An out connector has one lane. A client
// account that receives messages has one lane for all its bound sessions. The lane exists
// even while the account has no session.
//
//	        Push                Next                Answered
//	message ────► shares ────────────────► under way ───────► settled
//	                ▲  slot, rate, no pause           │
//	                └──────────── again ──────────────┘
//
// A lane consists of three parts: Queues, Window and Throttle. The lane itself handles answers. Only the lane's dispatching
// goroutine may call exported methods of the lane and its parts, unless a method's comment says something else.
type Lane struct {
	Client
	Touched bool // for the dispatching goroutine: messages may be able to leave after the present batch
	policy  *Policy
	memory  *Memory
	home    atomic.Pointer[Connector]

	Queued         atomic.Int64 // accepted messages that wait or are under way, without scheduled messages
	WaitingForRoom atomic.Int64 // submits that wait for room

	// Delivered counts the messages that the lane's peers have accepted.
	Delivered atomic.Int64
	// Ends counts the final receipts of the lane's account by outcome.
	Ends Ends

	Queues   Queues   // the waiting messages
	Window   Window   // the sessions and slots by which messages leave
	Throttle Throttle // when messages may leave

	leaving bool // the lane is being removed; it is gone when all its messages are sent
	gone    bool
	tally   tally
	moving  moving
	handed  []move // messages to be moved to other lanes
}

// A Client identifies the client to which a lane leads.
type Client struct {
	Account  string // the account's name; empty: the lane of an out connector
	Endpoint string // the client's webhook endpoint, called instead of sessions; empty: the client has sessions
}

// ToClient reports whether the lane leads to a client, not to an out connector.
func (c *Client) ToClient() bool { return c.Account != "" }

// NewLane makes a lane with the options of a connector. account is the client account whose lane it
// is; if empty, it is the connector's own lane.
func NewLane(c *Connector, account string, policy *Policy) *Lane {
	l := &Lane{Client: Client{Account: account}, policy: policy, memory: c.memory}
	l.Queues.lane, l.Window.lane, l.Throttle.lane = l, l, l
	l.Queues.byOrigin, l.Queues.paging.limits = map[*sms.Origin]*Share{}, defaultPaging()
	l.SetHome(c)
	return l
}

// Home returns the connector whose options and counters the lane uses. It is safe for concurrent
// use.
func (l *Lane) Home() *Connector { return l.home.Load() }

// SetHome makes another connector the lane's home. An account's lane needs this when its
// home is removed, because the account may be bound on other connectors too. SetHome is
// safe for concurrent use.
func (l *Lane) SetHome(c *Connector) {
	l.home.Store(c)
	c.addLane(l)
}

// Config returns the lane's options. It is safe for concurrent use.
func (l *Lane) Config() *config.Connector { return l.Home().Config() }

// stats returns the counters for the lane's messages.
func (l *Lane) stats() *Stats { return l.Home().Stats }

// Up reports whether a message that the lane gets now is likely to leave soon. A connector
// that connects on demand is up until a connection fails. Up is safe for concurrent use.
func (l *Lane) Up() bool {
	if !l.ToClient() && l.Home().Removed.Load() {
		return false
	}
	return l.isReachable()
}

// isReachable reports whether messages can leave: the lane has a session, or can connect one on
// demand, and no operator holds the connector.
func (l *Lane) isReachable() bool {
	if !l.ToClient() && l.Home().Hold() != nil {
		return false
	}
	if l.Window.online.Load() > 0 {
		return true
	}
	return !l.ToClient() && !l.Config().IsStatic() && l.stats().Failing.Load() == 0
}

// next implements Next, without intents.
func (l *Lane) next(now int64) (slot *Slot, again int64) {
	if l.policy.Settler.Halted(now) {
		return nil, 0
	}
	if held, until := l.Throttle.holds(now); held {
		return nil, until
	}
	wait := l.Throttle.wait(now)
	asks, last := len(l.Window.asking.waiting) > 0 && wait <= 0, l.Window.asking.wasLast
	if asks && !last {
		slot = l.Window.asking.next(l, now)
	}
	if slot == nil {
		slot = l.nextMessage(now, wait)
	}
	if asks && last && slot == nil { // no message used the turn
		slot = l.Window.asking.next(l, now)
	}
	switch {
	case slot != nil && slot.Outlet == nil:
		return slot, 0
	case slot != nil:
		return l.leave(now, slot), 0
	case wait > 0 && l.Queues.Len()+len(l.Window.asking.waiting) > 0:
		return nil, now + wait
	case l.Queues.nextDue > now:
		return nil, l.Queues.nextDue
	}
	return nil, 0
}

// nextMessage takes the slot for the next message, or the slot of an instance to connect. It
// returns nil if no slot can be used now.
func (l *Lane) nextMessage(now, wait int64) *Slot {
	for l.Queues.ready(now) || len(l.Queues.suspects) > 0 {
		if wait <= 0 {
			if slot := l.Window.suspects.next(l, now); slot != nil {
				return slot
			}
		}
		front := l.Window.slots.Front()
		if front == nil {
			return nil
		}
		if front.Outlet == nil {
			if l.Window.dialing*firstSize(l.Config()) >= l.Queues.due() {
				return nil // the instances being connected will have enough slots for the waiting messages
			}
			l.Window.dialing++
			return l.Window.slots.Take()
		}
		if wait > 0 || !l.Queues.ready(now) {
			return nil
		}
		share, m, expires := l.Queues.pop(now)
		switch {
		case m == nil:
		case l.isOver(now, share, m, expires):
		case m.Losses >= suspectAfter:
			l.Queues.suspects = append(l.Queues.suspects, suspect{m, share})
		default:
			slot := l.Window.slots.Take()
			slot.Message, slot.Share = m, share
			return slot
		}
	}
	return nil
}

// isOver reports whether a message must not be sent any more, and if so ends the message.
func (l *Lane) isOver(now int64, s *Share, m *sms.Message, expires int64) bool {
	switch {
	case m.Flags&sms.Settled != 0:
		l.drop(s, m)
	case expires != 0 && now > expires:
		l.expired(now, s, m)
	default:
		return false
	}
	return true
}

// leave records that a message or an operation is sent with a slot, and returns the slot.
func (l *Lane) leave(now int64, slot *Slot) *Slot {
	l.Window.asking.wasLast = slot.Inquiry != nil
	l.Throttle.limiter.Reserve(now)
	l.Window.inFlight++
	slot.Sent = 0 // the value belonged to an earlier message
	if slot.Inquiry == nil && slot.Message.Sends < math.MaxUint8 {
		slot.Message.Sends++
	}
	return slot
}

// Answered takes back a slot whose message was answered or will never be answered.
func (l *Lane) Answered(now int64, slot *Slot, a sms.Answer) {
	if slot.Inquiry != nil {
		l.Window.asking.answered(l, slot, a)
		return
	}
	m, share, left := slot.Message, slot.Share, slot.Leaving()
	if a.Code == sms.Timeout && m.Flags&sms.Settled == 0 {
		l.Queues.unknown.remember(timedOut{share, m, left})
	} else if left != m {
		defer left.Release()
	}
	full := slot.Outlet.size.auto != nil && (slot.Outlet.isFull() || l.Queues.ready(now))
	alone := l.Window.putBack(slot, a.Code)
	if slot.Outlet.size.auto != nil {
		l.Window.adapt(slot.Outlet, a, slot.Sent, full)
	}
	if m.Flags&sms.Settled != 0 {
		l.policy.Settler.Doubled(l, left, a)
		l.drop(share, m)
		return
	}
	outcome := l.policy.Settler.Settle(l, m, a, alone)
	l.Throttle.Pause(outcome.Pause)
	if outcome.Again || outcome.To != nil {
		l.policy.Settler.Tried(l, m, a, slot.Sent)
	}
	if outcome.Again {
		l.stats().Retried.Add(1)
		share.pushBack(m, now)
		if outcome.Kept != 0 && share.isCrowded() {
			l.Queues.paging.tried = append(l.Queues.paging.tried, triedOf(share, m, outcome.Kept))
		}
		return
	}
	if outcome.To != nil {
		l.failOver(share, outcome.To, m)
		return
	}
	if outcome.Aside {
		l.drop(share, m)
		return
	}
	if a.Code != sms.OK {
		left = m // the copy lacks the decision about the message
	}
	l.settled(share, m, left, a, slot.Sent)
}

// expired ends a message whose validity has passed.
func (l *Lane) expired(now int64, s *Share, m *sms.Message) {
	if m.Flags&sms.Settled != 0 { // the message was counted when its answer came
		l.drop(s, m)
		return
	}
	l.stats().Expired.Add(1)
	s.Origin.Tally.Expired.Add(1)
	l.policy.Settler.Ended(l, m, sms.Answer{Code: sms.Expired, At: now}, 0)
	l.drop(s, m)
}

// drop removes a message from all counts and releases it.
func (l *Lane) drop(s *Share, m *sms.Message) {
	if len(l.Queues.unknown) > 0 {
		l.Queues.unknown.forget(m)
	}
	if l.tally.by != s {
		l.countDone()
		l.tally.by = s
	}
	l.tally.done++
	l.tally.freed += m.Size()
	m.Release()
}

// Unsent takes back a slot whose message was never written.
func (l *Lane) Unsent(now int64, slot *Slot) {
	if slot.Inquiry != nil {
		l.Window.asking.answered(l, slot, sms.Answer{Code: sms.Lost, At: now})
		return
	}
	m, share := slot.Message, slot.Share
	if slot.Changed != nil {
		slot.Changed.Release()
	}
	if m.Sends < math.MaxUint8 {
		m.Sends--
	}
	l.Window.putBack(slot, sms.Lost) // Lost, because the peer has not answered
	if l.storesIntents() {
		l.policy.Intents.Stays(l, m)
	}
	share.pushBack(m, now)
}

// Tick does the lane's work that depends on time: it ends messages whose validity has passed, and
// forgets failures of instances whose sessions have lived long enough. It is called about once a
// second. If more is true, further messages may have expired, and Tick is called again soon. The
// number of messages that end in one call is limited to what the store can remove in time.
func (l *Lane) Tick(now int64) (more bool) {
	l.Throttle.holds(now) // the hold may have ended
	var oldest int64
	l.Queues.Shares(func(s *Share) {
		more = l.Queues.expire(now, s) || more
		l.Queues.rest(s, now)
		l.Queues.takeTurn(s, now) // a message that has expired needs no body, so the share need not wait for the body
		oldest = sms.Earlier(oldest, s.queue.Oldest())
	})
	l.Queues.oldest.Store(oldest)
	l.Queues.pageTried(now)
	l.Queues.endOverdue()
	l.Window.asking.end(l, now)
	l.Queues.suspects = slices.DeleteFunc(l.Queues.suspects, func(s suspect) bool {
		return l.isOver(now, s.share, s.message, s.message.Expires)
	})
	l.markDown(now)
	if !l.ToClient() {
		l.Home().Links(func(link *Link) { link.Instance.forgive(link, now) })
	}
	return more
}
