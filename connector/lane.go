package connector

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/connector/queue"
	"pmg/internal/ratelimit"
	"pmg/sms"
)

// A Lane is a way out of the gateway: the waiting messages, the slots they may leave by,
// and the rules by which the two are paired. An out connector has one lane. A client
// account that receives has one for all its bound sessions, which exists even while it
// has none.
//
//	        Push                Next                Answered
//	message ────► shares ────────────────► under way ───────► settled
//	                ▲  slot, rate, no pause           │
//	                └──────────── again ──────────────┘
//
// Exported methods may be called by the lane's dispatching goroutine only, unless they say
// something else.
type Lane struct {
	Client
	Touched bool // for the dispatching goroutine: after its batch messages may be able to leave
	policy  *Policy
	memory  *Memory
	home    atomic.Pointer[Connector]

	Queued         atomic.Int64 // accepted messages that wait or are under way, without scheduled ones
	WaitingForRoom atomic.Int64 // submits that wait for room

	// Delivered counts the messages that the lane's peers have accepted.
	Delivered atomic.Int64
	// Ends counts the messages of the lane's account by the ends in their receipts.
	Ends   Ends
	online atomic.Int64  // sessions that can be given messages
	unfit  atomic.Uint64 // the highest id of messages that may not fit the peer
	oldest atomic.Int64  // when the message that has waited longest was due; 0: none waits

	mu       sync.Mutex
	shares   []*Share
	byOrigin map[*sms.Origin]*Share // those that were asked for

	rotation []*Share // shares with messages that are due, in the order of their turns
	nextDue  int64    // no message in any share becomes due before this time; 0: none waits for its time
	slots    Slots
	intents  intents
	limiter  ratelimit.Limiter
	rate     int
	paused   int64 // nothing is sent before this time
	dialing  int   // instances that are being connected
	inFlight int
	waiting  int // messages in the shares' queues
	suspects suspects
	quiet    []*Outlet // those that log out and have no request under way
	unknown  timeouts  // messages whose request was not answered in time, by id
	leaving  bool      // it is being removed; it is gone when its messages are sent
	gone     bool

	tally  tally
	moving moving
	handed []move // messages that other lanes take
	paging paging
	asking asking
}

// A Client is the peer of a lane that leads to one.
type Client struct {
	Account  string // empty for an out connector's lane
	Endpoint string // the client's server that is called in place of its sessions; empty: it has sessions
}

// ToClient reports whether the lane leads to a client, not to an out connector.
func (c *Client) ToClient() bool { return c.Account != "" }

// NewLane makes the lane of a connector, or, with account, the lane of a client account
// with the connector's options.
func NewLane(c *Connector, account string, policy *Policy) *Lane {
	l := &Lane{Client: Client{Account: account}, policy: policy, memory: c.memory, byOrigin: map[*sms.Origin]*Share{}}
	l.paging.limits = defaultPaging()
	l.SetHome(c)
	return l
}

// Home returns the connector whose options and counters are the lane's. It is safe
// for concurrent use.
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

// Shares calls f for every share. It is safe for concurrent use.
func (l *Lane) Shares(f func(*Share)) {
	l.mu.Lock()
	shares := l.shares // shares are only ever added
	l.mu.Unlock()
	for _, s := range shares {
		f(s)
	}
}

// Oldest returns when the message that has waited longest was due, or 0 if none waits. It is
// safe for concurrent use.
func (l *Lane) Oldest() int64 { return l.oldest.Load() }

// Online returns how many sessions can be given messages. It is safe for concurrent use.
func (l *Lane) Online() int { return int(l.online.Load()) }

// Up reports whether a message that the lane gets now is likely to leave soon. A connector
// that connects on demand is up until a connection fails. Up is safe for concurrent use.
func (l *Lane) Up() bool {
	if !l.ToClient() && l.Home().Removed.Load() {
		return false
	}
	return l.isReachable()
}

// isReachable reports whether there is a session, or one can be connected on demand, and no
// operator holds the connector.
func (l *Lane) isReachable() bool {
	if !l.ToClient() && l.Home().Hold() != nil {
		return false
	}
	if l.online.Load() > 0 {
		return true
	}
	return !l.ToClient() && !l.Config().IsStatic() && l.stats().Failing.Load() == 0
}

// Push adds a message that was accepted for a share. The lane may release it
// immediately, where its body can be read again.
func (l *Lane) Push(now int64, s *Share, m *sms.Message) {
	if !s.isCrowded() || !l.pageOut(now, s, m) {
		s.push(m, now)
	}
}

// waits records that a share has another message, and puts it in the rotation if that is due.
func (l *Lane) waits(s *Share, now int64) {
	l.waiting++
	if !s.active {
		l.takeTurn(s, now)
	}
}

// takeTurn gives turns to a share that may have a message which is due.
func (l *Lane) takeTurn(s *Share, now int64) {
	if s.active {
		return
	}
	if s.queue.Ready(now) {
		s.active = true
		l.rotation = append(l.rotation, s)
		return
	}
	l.nextDue = sms.Earlier(l.nextDue, s.queue.NextDue())
}

// ready reports whether a message is due.
func (l *Lane) ready(now int64) bool {
	if l.nextDue != 0 && l.nextDue <= now {
		l.wake(now)
	}
	return len(l.rotation) > 0
}

// wake puts the shares whose messages have become due into the rotation.
func (l *Lane) wake(now int64) {
	l.nextDue = 0
	l.Shares(func(s *Share) { l.takeTurn(s, now) })
}

// pop takes the next message. The shares take turns. Where the body of a share's first
// message is on disk m is nil, and the share has no turn until Loaded.
func (l *Lane) pop(now int64) (s *Share, m *sms.Message, expires int64) {
	s = l.rotation[0]
	m, expires = s.queue.Pop(now)
	if s.queue.Absent() > 0 {
		l.readAhead(s)
	}
	if m != nil {
		l.waiting--
	}
	switch {
	case m == nil || !s.queue.Ready(now):
		s.active = false
		l.nextDue = sms.Earlier(l.nextDue, s.queue.NextDue())
		l.rotation = l.rotation[:copy(l.rotation, l.rotation[1:])]
	case len(l.rotation) > 1:
		copy(l.rotation, l.rotation[1:])
		l.rotation[len(l.rotation)-1] = s
	}
	if m != nil {
		s.isDue(m)
	}
	return s, m, expires
}

// next does the work of Next, without intents.
func (l *Lane) next(now int64) (slot *Slot, again int64) {
	if l.policy.Settler.Halted(now) {
		return nil, 0
	}
	if held, until := l.holds(now); held {
		return nil, until
	}
	if rate := l.Config().Rate; rate != l.rate {
		l.rate = rate
		l.limiter.SetRate(rate, 0)
	}
	wait := max(l.paused-now, l.limiter.Wait(now))
	asks, last := len(l.asking.waiting) > 0 && wait <= 0, l.asking.wasLast
	if asks && !last {
		slot = l.asking.next(l, now)
	}
	if slot == nil {
		slot = l.nextMessage(now, wait)
	}
	if asks && last && slot == nil { // no message has taken the turn
		slot = l.asking.next(l, now)
	}
	switch {
	case slot != nil && slot.Outlet == nil:
		return slot, 0
	case slot != nil:
		return l.leave(now, slot), 0
	case wait > 0 && l.Len()+len(l.asking.waiting) > 0:
		return nil, now + wait
	case l.nextDue > now:
		return nil, l.nextDue
	}
	return nil, 0
}

// nextMessage takes the slot for the next message, or that of an instance to connect. It returns nil if there is none now.
func (l *Lane) nextMessage(now, wait int64) *Slot {
	for l.ready(now) || len(l.suspects.waiting) > 0 {
		if wait <= 0 {
			if slot := l.suspects.next(l, now); slot != nil {
				return slot
			}
		}
		front := l.slots.Front()
		if front == nil {
			return nil
		}
		if front.Outlet == nil {
			if l.dialing*l.Config().Window >= l.due() {
				return nil // the instances being connected have slots enough for the waiting messages
			}
			l.dialing++
			return l.slots.Take()
		}
		if wait > 0 || !l.ready(now) {
			return nil
		}
		share, m, expires := l.pop(now)
		switch {
		case m == nil:
		case l.isOver(now, share, m, expires):
		case m.Losses >= suspectAfter:
			l.suspects.waiting = append(l.suspects.waiting, suspect{m, share})
		default:
			slot := l.slots.Take()
			slot.Message, slot.Share = m, share
			return slot
		}
	}
	return nil
}

// isOver reports whether a message must not be sent any more. If so, it ends the message.
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

// leave records that a message or an operation leaves by a slot.
func (l *Lane) leave(now int64, slot *Slot) *Slot {
	l.asking.wasLast = slot.Inquiry != nil
	l.limiter.Reserve(now)
	l.inFlight++
	slot.Sent = 0 // that of another message
	if slot.Inquiry == nil && slot.Message.Sends < math.MaxUint8 {
		slot.Message.Sends++
	}
	return slot
}

// due returns how many messages are due.
func (l *Lane) due() int {
	n := len(l.suspects.waiting)
	for _, s := range l.rotation {
		n += s.queue.Due()
	}
	return n
}

// Len returns how many messages wait, due or not.
func (l *Lane) Len() int { return l.waiting + len(l.suspects.waiting) + l.paging.ending }

// Answered takes back a slot whose message was answered, or never will be.
func (l *Lane) Answered(now int64, slot *Slot, a sms.Answer) {
	if slot.Inquiry != nil {
		l.asking.answered(l, slot, a)
		return
	}
	m, share, left := slot.Message, slot.Share, slot.Leaving()
	if a.Code == sms.Timeout && m.Flags&sms.Settled == 0 {
		l.unknown.remember(timedOut{share, m, left})
	} else if left != m {
		defer left.Release()
	}
	alone := l.putBack(slot, a.Code)
	if m.Flags&sms.Settled != 0 {
		l.policy.Settler.Doubled(l, left, a)
		l.drop(share, m)
		return
	}
	outcome := l.policy.Settler.Settle(l, m, a, alone)
	l.Pause(outcome.Pause)
	if outcome.Again || outcome.To != nil {
		l.policy.Settler.Tried(l, m, a, slot.Sent)
	}
	if outcome.Again {
		l.stats().Retried.Add(1)
		share.pushBack(m, now)
		if outcome.Kept != 0 && share.isCrowded() {
			l.paging.tried = append(l.paging.tried, triedOf(share, m, outcome.Kept))
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
		left = m // what was decided about it is not in the copy
	}
	l.settled(share, m, left, a, slot.Sent)
}

// expired ends a message whose validity has passed.
func (l *Lane) expired(now int64, s *Share, m *sms.Message) {
	if m.Flags&sms.Settled != 0 { // it was counted when its answer came
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
	if len(l.unknown) > 0 {
		l.unknown.forget(m)
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
		l.asking.answered(l, slot, sms.Answer{Code: sms.Lost, At: now})
		return
	}
	m, share := slot.Message, slot.Share
	if slot.Changed != nil {
		slot.Changed.Release()
	}
	if m.Sends < math.MaxUint8 {
		m.Sends--
	}
	l.putBack(slot, sms.Lost) // because the peer has not answered
	if l.storesIntents() {
		l.policy.Intents.Stays(l, m)
	}
	share.pushBack(m, now)
}

// putBack frees a slot. It reports whether its message was the only one under way
// when its session ended.
func (l *Lane) putBack(slot *Slot, code sms.Code) (alone bool) {
	l.inFlight--
	o := slot.Outlet
	alone = o.atEnd == 1 || code == sms.BadState && o.suspect == slot
	l.suspects.answered(l, slot)
	if code == sms.Timeout {
		l.slots.Freeze(slot)
		l.checkQuiet(o)
		return alone
	}
	l.slots.Put(slot)
	l.checkQuiet(o)
	if o.frozen != nil && code != sms.Lost {
		l.slots.Thaw(o)
	}
	return alone
}

// Tick does the lane's work that depends on time: it ends messages whose validity has
// passed, and forgets failures of instances whose sessions have lived long enough. It is
// called about once a second, and soon again if it returns that more may have expired. No more
// messages end than the store forgets in time.
func (l *Lane) Tick(now int64) (more bool) {
	l.holds(now) // it may be over
	var oldest int64
	l.Shares(func(s *Share) {
		more = l.expire(now, s) || more
		l.rest(s, now)
		l.takeTurn(s, now) // it need not wait for the body of one that has expired
		oldest = sms.Earlier(oldest, s.queue.Oldest())
	})
	l.oldest.Store(oldest)
	l.pageTried(now)
	l.endOverdue()
	l.asking.end(l, now)
	l.suspects.waiting = slices.DeleteFunc(l.suspects.waiting, func(s suspect) bool {
		return l.isOver(now, s.share, s.message, s.message.Expires)
	})
	l.markDown(now)
	if !l.ToClient() {
		l.Home().Links(func(link *Link) { link.Instance.forgive(link, now) })
	}
	return more
}

// expire ends messages of a share that have expired, and reports whether there may be more.
func (l *Lane) expire(now int64, s *Share) (more bool) {
	if l.policy.Settler.Halted(now) {
		return false
	}
	return s.queue.Expired(now, func(e *queue.Entry) {
		l.waiting--
		if e.Message == nil {
			l.expiresOnDisk(s, e)
			return
		}
		s.isDue(e.Message)
		l.expired(now, s, e.Message)
	})
}

// rest takes a share out of the rotation if none of its messages is due any more.
func (l *Lane) rest(s *Share, now int64) {
	if s.active && !s.queue.Ready(now) {
		s.active = false
		l.nextDue = sms.Earlier(l.nextDue, s.queue.NextDue())
		l.rotation = slices.DeleteFunc(l.rotation, func(other *Share) bool { return other == s })
	}
}
