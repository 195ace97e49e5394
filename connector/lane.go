package connector

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pmg/config"
	"pmg/ratelimit"
	"pmg/sms"
)

// A Lane is a way out of the gateway: the messages that wait, the slots they may
// leave by, and the rules by which the two are paired. An out connector has one
// lane. A client account that receives has one over all the sessions it is bound
// with, which lives on while it is not bound.
//
//	        Push                Next                Answered
//	message ────► shares ────────────────► under way ───────► settled
//	                ▲  slot, rate, no pause           │
//	                └──────────── again ──────────────┘
//
// The exported methods that say nothing else are for whatever dispatches for the
// lane, one goroutine at a time.
type Lane struct {
	Account string // the client account that it leads to; empty for an out connector's lane
	Touched bool   // for whatever dispatches: the batch at hand may have changed what can leave
	policy  Policy
	memory  *Memory
	home    atomic.Pointer[Connector]

	Queued atomic.Int64 // messages accepted and not done with, scheduled ones aside: waiting or under way
	Held   atomic.Int64 // submits that wait for room

	// Delivered counts the messages that the lane's peers have accepted.
	Delivered atomic.Int64
	online    atomic.Int64 // sessions that can be given messages
	oldest    atomic.Int64 // when the message that waits longest was to leave; 0: none waits

	mu     sync.Mutex
	shares []*Share

	turn     []*Share // shares with messages that are due, in the order of their turns
	nextDue  int64    // no share has a message that becomes due before; 0: none waits for its time
	slots    Slots
	limiter  ratelimit.Limiter
	rate     int
	paused   int64 // nothing is sent before this time
	dialing  int   // instances that are being connected
	inFlight int
	waiting  int // messages in the shares' queues
	suspects suspects
	quiet    []*Link                 // sessions that log out, and whose requests have all come back
	unknown  map[uint64]*sms.Message // messages whose request was not answered in time, by id
	leaving  bool                    // removed; it is gone when its messages are
	gone     bool

	tally  tally
	moving moving
	paging paging
}

// A Policy decides what a lane leaves open. The gateway has one for all lanes.
type Policy interface {
	// Settle decides what becomes of a message.
	Settle(l *Lane, m *sms.Message, a sms.Answer, alone bool) Outcome
	// Ended notes that the lane has given a message up.
	Ended(l *Lane, m *sms.Message, a sms.Answer)
	// Disconnected notes that a session of an out connector is over, and how long its
	// instance rests.
	Disconnected(now int64, l *Link, rest time.Duration)
	// Draining reports whether the gateway is stopping.
	Draining() bool
	// Reroute returns the share of another lane that a message goes to by its route,
	// nil if it stays. With always it goes even to a lane that is not up, because l
	// goes; without a route it has then to end.
	Reroute(l *Lane, m *sms.Message, always bool) *Share
	// Moved notes that the lane was down for so long that n messages left it.
	Moved(l *Lane, n int, down time.Duration)

	// Durable reports whether messages are on disk as well, so that Load can read them.
	Durable() bool
	// Load begins to read messages of which the lane has an entry alone. It must not
	// wait, nor keep ids. What comes of it goes to Loaded, in a later call: the messages
	// with all that is known of them, their origin too.
	Load(l *Lane, ids []uint64)
	// Unreadable notes that the lane has dropped a message that cannot be read.
	Unreadable(l *Lane, s *Share, id uint64)
}

// An Outcome is what becomes of a message whose request was answered, or never
// will be.
type Outcome struct {
	Again bool  // it goes back to the queue, to be sent no earlier than its NotBefore
	Pause int64 // nothing is sent in this lane before this time; 0: go on
}

// NewLane makes a lane of a connector, or, with account, of a client account for
// which the connector's options count.
func NewLane(c *Connector, account string, policy Policy) *Lane {
	l := &Lane{Account: account, policy: policy, memory: c.memory}
	l.paging.limits = defaultPaging()
	l.SetHome(c)
	return l
}

// Home returns the connector whose options and counters are the lane's. It is safe
// for concurrent use.
func (l *Lane) Home() *Connector { return l.home.Load() }

// SetHome makes another connector the lane's home: an account's lane outlives the
// connector that it hung on, because the account is bound on others as well. It is
// safe for concurrent use.
func (l *Lane) SetHome(c *Connector) {
	l.home.Store(c)
	c.addLane(l)
}

// Config returns the options that count for the lane. It is safe for concurrent use.
func (l *Lane) Config() *config.Connector { return l.Home().Config() }

// stats returns the counters that the lane's messages are counted in.
func (l *Lane) stats() *Stats { return l.Home().Stats }

// Share returns the part of the lane that belongs to an origin's account. It is
// safe for concurrent use. New shares may take percent of what is free.
func (l *Lane) Share(o *sms.Origin, percent int) *Share {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.shares {
		if s.Origin == o || o.Account != "" && s.Origin.Account == o.Account {
			return s
		}
	}
	s := &Share{Lane: l, Origin: o}
	s.queue.init()
	s.SetPercent(percent)
	l.shares = append(l.shares, s)
	return s
}

// Shares calls f for every share. It is safe for concurrent use.
func (l *Lane) Shares(f func(*Share)) {
	l.mu.Lock()
	shares := l.shares // shares are only ever added
	l.mu.Unlock()
	for _, s := range shares {
		f(s)
	}
}

// Online returns how many sessions can be given messages. It is safe for concurrent use.
func (l *Lane) Online() int { return int(l.online.Load()) }

// Up reports whether a message given to the lane now is likely to leave soon. A
// connector that connects on demand is up until a connection failed. It is safe
// for concurrent use.
func (l *Lane) Up() bool {
	if l.Account == "" && l.Home().Removed.Load() {
		return false
	}
	return l.isReachable()
}

// isReachable reports whether there is a session, or one can be had on demand.
func (l *Lane) isReachable() bool {
	if l.online.Load() > 0 {
		return true
	}
	return l.Account == "" && !l.Config().IsStatic() && l.stats().Failing.Load() == 0
}

// Push adds a message that was accepted for a share. The lane may release it
// immediately, where its body can be read again.
func (l *Lane) Push(now int64, s *Share, m *sms.Message) {
	if !l.memory.isCrowded() || !l.pageOut(now, s, m) {
		s.push(m, now)
	}
}

// waits puts a share that was given a message in its place.
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
		l.turn = append(l.turn, s)
		return
	}
	l.nextDue = Earlier(l.nextDue, s.queue.NextDue())
}

// ready reports whether a message is due.
func (l *Lane) ready(now int64) bool {
	if l.nextDue != 0 && l.nextDue <= now {
		l.wake(now)
	}
	return len(l.turn) > 0
}

// wake gives turns to the shares whose messages have become due.
func (l *Lane) wake(now int64) {
	l.nextDue = 0
	l.Shares(func(s *Share) {
		if !s.active && s.queue.Ready(now) {
			s.active = true
			l.turn = append(l.turn, s)
		} else if !s.active {
			l.nextDue = Earlier(l.nextDue, s.queue.NextDue())
		}
	})
}

// pop takes the next message. The shares take turns. Where the body of a share's first
// message is on disk m is nil, and the share has no turn until Loaded.
func (l *Lane) pop(now int64) (s *Share, m *sms.Message, expires int64) {
	s = l.turn[0]
	m, expires = s.queue.Pop(now)
	if s.queue.absent > 0 {
		l.readAhead(s)
	}
	if m != nil {
		l.waiting--
	}
	switch {
	case m == nil || !s.queue.Ready(now):
		s.active = false
		l.nextDue = Earlier(l.nextDue, s.queue.NextDue())
		l.turn = l.turn[:copy(l.turn, l.turn[1:])]
	case len(l.turn) > 1:
		copy(l.turn, l.turn[1:])
		l.turn[len(l.turn)-1] = s
	}
	if m != nil {
		s.isDue(m)
	}
	return s, m, expires
}

// Next takes the slot that comes next. Either it holds the message that is to
// leave by it, or it has no session, and its instance is to be connected. With
// nil nothing more can be done now, but again says when, unless it is 0.
func (l *Lane) Next(now int64) (slot *Slot, again int64) {
	cfg := l.Config()
	if cfg.Rate != l.rate {
		l.rate = cfg.Rate
		l.limiter.SetRate(cfg.Rate, 0)
	}
	wait := max(l.paused-now, l.limiter.Wait(now))
	for l.ready(now) || len(l.suspects.waiting) > 0 {
		front := l.slots.Front()
		if wait <= 0 {
			if slot := l.nextSuspect(now); slot != nil {
				return l.leave(now, slot), 0
			}
			front = l.slots.Front()
		}
		if front == nil {
			break
		}
		if front.Link == nil {
			if l.dialing*cfg.Window >= l.due() {
				break // the instances that are being connected do for what waits
			}
			l.dialing++
			return l.slots.Take(), 0
		}
		if wait > 0 || !l.ready(now) {
			break
		}
		share, m, expires := l.pop(now)
		switch {
		case m == nil:
		case l.isOver(now, share, m, expires):
		case m.Losses >= suspectAfter:
			l.suspects.waiting = append(l.suspects.waiting, suspect{m, share})
		default:
			slot = l.slots.Take()
			slot.Message, slot.Share = m, share
			return l.leave(now, slot), 0
		}
	}
	if wait > 0 && l.Len() > 0 {
		return nil, now + wait
	}
	if l.nextDue > now {
		return nil, l.nextDue
	}
	return nil, 0
}

// isOver ends a message that is not to be sent any more, and reports whether it
// was one.
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

// leave counts a message that leaves by a slot.
func (l *Lane) leave(now int64, slot *Slot) *Slot {
	l.limiter.Reserve(now)
	l.inFlight++
	return slot
}

// due returns how many messages could leave if there were slots.
func (l *Lane) due() int {
	n := len(l.suspects.waiting)
	for _, s := range l.turn {
		n += s.queue.due()
	}
	return n
}

// Len returns how many messages wait, due or not.
func (l *Lane) Len() int { return l.waiting + len(l.suspects.waiting) + l.paging.ending }

// Answered takes back a slot whose message was answered, or never will be.
func (l *Lane) Answered(now int64, slot *Slot, a sms.Answer) {
	m, share := slot.Message, slot.Share
	alone := l.putBack(slot, a.Code)
	if m.Flags&sms.Settled != 0 {
		l.drop(share, m)
		return
	}
	if a.Code == sms.Timeout {
		l.remember(m)
	}
	outcome := l.policy.Settle(l, m, a, alone)
	l.pause(outcome.Pause)
	if outcome.Again {
		l.stats().Retried.Add(1)
		share.pushBack(m, now)
		return
	}
	l.settled(share, m, a)
}

// AnsweredLate takes an answer that came after its request was given up. Where it
// says how the message ended, the copy that is under way or waits is not needed.
func (l *Lane) AnsweredLate(link *Link, id uint64, a sms.Answer) {
	l.slots.Thaw(link)
	m := l.unknown[id]
	if m == nil || a.Code != sms.OK && a.Code.Retryable() {
		return
	}
	m.Flags |= sms.Settled
	delete(l.unknown, id)
	l.stats().Late.Add(1)
	if a.Code == sms.OK {
		m.Origin.Tally.Sent.Add(1)
	}
	l.count(m, a)
}

// remember keeps a message whose request was not answered in time, for its answer
// may come late.
func (l *Lane) remember(m *sms.Message) {
	if l.unknown == nil {
		l.unknown = map[uint64]*sms.Message{}
	}
	l.unknown[m.ID] = m
}

// settled ends a message: it was answered for good, or is given up.
func (l *Lane) settled(s *Share, m *sms.Message, a sms.Answer) {
	l.count(m, a)
	l.drop(s, m)
	if a.Code == sms.OK {
		l.tally.sentBy++ // l.tally.by is s now
	}
}

func (l *Lane) count(m *sms.Message, a sms.Answer) {
	if a.Code == sms.OK {
		l.tally.sent++
		return
	}
	l.stats().Failed.Add(1)
	m.Origin.Tally.Failed.Add(1)
	l.policy.Ended(l, m, a)
}

// expired ends a message whose validity has passed.
func (l *Lane) expired(now int64, s *Share, m *sms.Message) {
	if m.Flags&sms.Settled != 0 { // it was counted when its answer came
		l.drop(s, m)
		return
	}
	l.stats().Expired.Add(1)
	s.Origin.Tally.Expired.Add(1)
	l.policy.Ended(l, m, sms.Answer{Code: sms.Expired, At: now})
	l.drop(s, m)
}

func (l *Lane) pause(until int64) { l.paused = max(l.paused, until) }

// drop lets go of a message for good.
func (l *Lane) drop(s *Share, m *sms.Message) {
	if len(l.unknown) > 0 {
		delete(l.unknown, m.ID)
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
	m, share := slot.Message, slot.Share
	l.putBack(slot, sms.Lost) // the peer has answered nothing
	share.pushBack(m, now)
}

// putBack frees a slot. It reports whether its message was the only one under way
// when its session ended.
func (l *Lane) putBack(slot *Slot, code sms.Code) (alone bool) {
	l.inFlight--
	link := slot.Link
	alone = link.atEnd == 1
	l.suspects.answered(l, slot)
	if code == sms.Timeout {
		l.slots.Freeze(slot)
		l.checkQuiet(link)
		return alone
	}
	l.slots.Put(slot)
	l.checkQuiet(link)
	if link.frozen != nil && code != sms.Lost {
		l.slots.Thaw(link)
	}
	return alone
}

// Leave takes the lane out of service: its messages are sent, and then it is gone.
func (l *Lane) Leave() { l.leaving, l.moving.rest = true, 0 }

// Gone reports whether everything was sent, and nothing comes any more.
func (l *Lane) Gone() bool { return l.gone }

// Tick does what happens by itself, about once a second: it ends messages whose
// validity has passed, and forgives instances whose sessions have lived a while.
func (l *Lane) Tick(now int64) {
	var oldest int64
	l.Shares(func(s *Share) {
		s.queue.Expired(now, func(e *entry) {
			l.waiting--
			if e.message == nil {
				l.expiresOnDisk(s, e)
				return
			}
			s.isDue(e.message)
			l.expired(now, s, e.message)
		})
		l.rest(s, now)
		l.takeTurn(s, now) // it need not wait for the body of one that has expired
		oldest = Earlier(oldest, s.queue.Oldest())
	})
	l.oldest.Store(oldest)
	l.endOverdue()
	l.suspects.waiting = slices.DeleteFunc(l.suspects.waiting, func(s suspect) bool {
		return l.isOver(now, s.share, s.message, s.message.Expires)
	})
	l.noteDown(now)
	if l.Account == "" {
		l.Home().Links(func(link *Link) { link.Instance.forgive(link, now) })
	}
}

// rest ends the turn of a share whose messages that were due have all expired.
func (l *Lane) rest(s *Share, now int64) {
	if s.active && !s.queue.Ready(now) {
		s.active = false
		l.nextDue = Earlier(l.nextDue, s.queue.NextDue())
		l.turn = slices.DeleteFunc(l.turn, func(other *Share) bool { return other == s })
	}
}
