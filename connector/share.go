package connector

import (
	"sync/atomic"

	"pmg/connector/queue"
	"pmg/sms"
)

// A Share is one account's part of a lane: the account's queue, and its use of the lane's room.
// Messages from an SMSC have no account; each connector on which they arrive has its own share.
// Shares take turns, so that an account's priorities order only its own messages.
type Share struct {
	Lane   *Lane
	Origin *sms.Origin // origin of the share's first message; all its messages have the same account

	queued         atomic.Int64 // accepted messages that wait or are under way, without scheduled messages
	waitingForRoom atomic.Int64 // submits that wait for room
	percent        atomic.Int32 // percentage of the free room that the share may take

	// The fields below belong to the lane's dispatching goroutine.
	queue  queue.Queue
	active bool // the share is in the lane's rotation
}

// Queued returns how many messages of the account wait in the lane or are under way.
func (s *Share) Queued() int64 { return s.queued.Load() }

// SetPercent changes how much of the free room the account may take.
func (s *Share) SetPercent(percent int) { s.percent.Store(int32(percent)) }

// Room returns how many more messages of the account the lane may accept.
func (s *Share) Room() int64 {
	size, queued, own := s.places(), s.Lane.Queued.Load(), s.queued.Load()
	return min(size-queued, (size-(queued-own))*int64(s.percent.Load())/100-own)
}

// places returns how many messages may wait in the lane. Messages from SMSCs to a client may exceed
// the limit of the queue if they can wait on disk, because after one refusal an SMSC often holds
// back messages for other clients too.
func (s *Share) places() int64 {
	cfg := s.Lane.Config()
	if s.isDelivered() && s.Lane.memory.keep.Load() > 0 {
		return int64(max(cfg.MaxDeliveries, cfg.MaxQueue))
	}
	return int64(cfg.MaxQueue)
}

// isDelivered reports whether the share's messages come from SMSCs and go to clients.
func (s *Share) isDelivered() bool { return s.Lane.ToClient() && !s.Origin.IsClient() }

// NearlyFull returns how many messages wait in the lane, if SMSCs have used most of the places for
// their messages. Otherwise it returns 0.
func (s *Share) NearlyFull() (queued int64) {
	if queued = s.Lane.Queued.Load(); s.isDelivered() && queued >= s.places()*4/5 {
		return queued
	}
	return 0
}

// HasRoom reports whether the lane may accept n more messages of the account together, as the parts
// of one text. others is how many further messages are about to be accepted. An account without
// messages in the lane may always add one text. Otherwise a long text might never find room.
func (s *Share) HasRoom(others, n int64) bool {
	room := s.Room() - others
	return room >= n || room > 0 && others == 0 && s.queued.Load() == 0
}

// Use adds octets to the memory that the account's messages use. octets is negative for memory that
// is freed.
func (s *Share) Use(octets int64) {
	s.Lane.memory.Add(octets)
	s.Origin.Tally.Memory.Add(octets)
}

// HasMemory reports whether the account's messages may use that many more octets.
func (s *Share) HasMemory(octets int64) bool {
	return s.Origin.Tally.Memory.Load()+octets <= s.mayUse()
}

// memoryPercent is the percentage of the free memory that an account may use at least. All SMSCs,
// which have no account, share the same limit.
const memoryPercent = 50

// mayUse returns how many octets the account's messages may use in all lanes: a percentage of the
// memory that other accounts leave free, as for places in a queue.
func (s *Share) mayUse() int64 {
	percent := int64(memoryPercent)
	if s.Origin.IsClient() {
		percent = max(percent, int64(s.percent.Load()))
	}
	m := s.Lane.memory
	others := m.used.Load() - s.Origin.Tally.Memory.Load()
	return (m.limit.Load() - others) * percent / 100
}

// isCrowded reports whether messages of the account that will not leave soon are kept only on disk.
// It returns true when the account uses half of its memory limit, even if no other account needs
// the memory yet.
func (s *Share) isCrowded() bool {
	m := s.Lane.memory
	keep, used := m.keep.Load(), m.used.Load()
	return keep > 0 &&
		(used >= keep || s.isDelivered() && s.Lane.Queued.Load() > int64(s.Lane.Config().MaxQueue) ||
			used >= keep/4 && s.Origin.Tally.Memory.Load() >= s.mayUse()/2)
}

// WaitForRoom adds n to the number of submits that wait for room. n is negative for submits that
// stop waiting.
func (s *Share) WaitForRoom(n int64) {
	s.waitingForRoom.Add(n)
	s.Lane.WaitingForRoom.Add(n)
}

// WaitingForRoom returns how many submits wait for room.
func (s *Share) WaitingForRoom() int64 { return s.waitingForRoom.Load() }

// Enter counts a message before it is passed to the lane. It counts the message's octets, and
// either its place in the queue or, before its delivery time, that the message is scheduled.
func (s *Share) Enter(m *sms.Message, now int64) { s.enter(schedule(m, now), m.Size()) }

// Leave undoes Enter when a message is taken out of the lane, or is not passed to the lane after
// all.
func (s *Share) Leave(m *sms.Message) {
	s.leave(m.Flags&sms.Scheduled != 0, m.Size())
	m.Flags &^= sms.Scheduled
}

// Transfer moves the count of a message to another share of the same account, in the lane to which
// the message moves.
func (s *Share) Transfer(to *Share, m *sms.Message) {
	if m.Flags&sms.Scheduled == 0 {
		to.add(1)
		s.add(-1)
	}
}

// schedule marks a message as scheduled if its delivery time has not come, and reports whether it
// did.
func schedule(m *sms.Message, now int64) bool {
	m.Flags &^= sms.Scheduled
	if m.DeliverAt > now {
		m.Flags |= sms.Scheduled
	}
	return m.Flags&sms.Scheduled != 0
}

func (s *Share) enter(scheduled bool, octets int64) {
	s.Use(octets)
	if scheduled {
		s.Origin.Tally.Scheduled.Add(1)
	} else {
		s.add(1)
	}
}

func (s *Share) leave(scheduled bool, octets int64) {
	s.Use(-octets)
	if scheduled {
		s.Origin.Tally.Scheduled.Add(-1)
	} else {
		s.add(-1)
	}
}

// add adds n places to the used places of the queue.
func (s *Share) add(n int64) {
	s.queued.Add(n)
	s.Lane.Queued.Add(n)
}

// Arrivals enters messages as Share.Enter does, but updates the counters once for several messages
// of a share, because other goroutines use the counters too. It is not safe for concurrent use.
type Arrivals struct {
	share  *Share
	n      int64 // places that the messages take
	octets int64
	// What may enter before the room of the share is read again. Other goroutines write the counters, so
	// the counters are read only once for many messages.
	places, memory int64
}

// partAhead is the part of the free room that may enter before the messages are counted. Several Arrivals
// at the same time exceed the room by that part each at most, and less if each is counted as often.
const partAhead = 8

// HasRoom reports whether a share has room for a text with this number of parts and octets. others
// and othersOctets are further messages that are about to enter.
func (a *Arrivals) HasRoom(s *Share, parts, octets, others, othersOctets int64) bool {
	if a.share != s {
		a.Flush()
		a.share = s
	}
	octets += othersOctets
	if a.n+others+parts <= a.places && a.octets+octets <= a.memory {
		return true
	}
	a.Flush()
	memory := s.mayUse() - s.Origin.Tally.Memory.Load()
	a.places, a.memory = s.Room()/partAhead, memory/partAhead
	return s.HasRoom(others, parts) && octets <= memory
}

// Enter adds a message, which Flush counts.
func (a *Arrivals) Enter(s *Share, m *sms.Message, now int64) {
	if a.share != s {
		a.Flush()
		a.share = s
	}
	a.octets += m.Size()
	if schedule(m, now) {
		s.Origin.Tally.Scheduled.Add(1)
	} else {
		a.n++
	}
}

// Flush counts the messages that have entered. It must be called before the messages are passed to
// the lane.
func (a *Arrivals) Flush() {
	if a.octets > 0 {
		a.share.add(a.n)
		a.share.Use(a.octets)
		a.n, a.octets = 0, 0
	}
	a.places, a.memory = 0, 0
}

// push adds an accepted message to the share's queue.
func (s *Share) push(m *sms.Message, now int64) {
	s.queue.Push(m, now)
	s.Lane.Queues.waits(s, now)
}

// pushBack returns a message to its place in the queue.
func (s *Share) pushBack(m *sms.Message, now int64) {
	s.queue.PushBack(m, now)
	s.Lane.Queues.waits(s, now)
}

// isDue records that a scheduled message is due. The message counts as waiting from now on.
func (s *Share) isDue(m *sms.Message) {
	if m.Flags&sms.Scheduled == 0 {
		return
	}
	m.Flags &^= sms.Scheduled
	s.Origin.Tally.Scheduled.Add(-1)
	s.add(1)
}
