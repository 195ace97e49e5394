package connector

import (
	"sync/atomic"

	"pmg/connector/queue"
	"pmg/sms"
)

// A Share is one account's part of a lane: its queue, and how much of the lane's room it
// takes. Messages from an SMSC have no account. They have one share for each connector
// they arrive on. Shares take turns, so that an account's priorities order only its own
// messages.
type Share struct {
	Lane   *Lane
	Origin *sms.Origin // of its first message; the others have the same account

	queued         atomic.Int64 // accepted messages that wait or are under way, without scheduled ones
	waitingForRoom atomic.Int64 // submits that wait for room
	percent        atomic.Int32 // of the free room that it may take

	// The rest belongs to the lane's dispatching goroutine.
	queue  queue.Queue
	active bool // it is in the lane's rotation
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

// places returns how many messages may wait in the lane. Messages of SMSCs for a client may exceed
// the queue where they can wait on disk. After one refusal an SMSC often holds back the messages for
// other clients, too.
func (s *Share) places() int64 {
	cfg := s.Lane.Config()
	if s.isDelivered() && s.Lane.memory.keep.Load() > 0 {
		return int64(max(cfg.MaxDeliveries, cfg.MaxQueue))
	}
	return int64(cfg.MaxQueue)
}

// isDelivered reports whether the share's messages come from SMSCs and go to clients.
func (s *Share) isDelivered() bool { return s.Lane.ToClient() && !s.Origin.IsClient() }

// NearlyFull returns how many messages wait in the lane if those are most of what SMSCs may
// deliver for it, otherwise 0.
func (s *Share) NearlyFull() (queued int64) {
	if queued = s.Lane.Queued.Load(); s.isDelivered() && queued >= s.places()*4/5 {
		return queued
	}
	return 0
}

// HasRoom reports whether the lane may accept n more messages of the account together, the parts
// of one text, beside others that are about to be accepted. An account that has none in the lane
// may have one text in it, because there would never be room for it otherwise.
func (s *Share) HasRoom(others, n int64) bool {
	room := s.Room() - others
	return room >= n || room > 0 && others == 0 && s.queued.Load() == 0
}

// Use counts octets of memory that the account's messages take from now on, or, if n is
// negative, take no more.
func (s *Share) Use(octets int64) {
	s.Lane.memory.Add(octets)
	s.Origin.Tally.Memory.Add(octets)
}

// HasMemory reports whether the account's messages may take that many octets more.
func (s *Share) HasMemory(octets int64) bool {
	return s.Origin.Tally.Memory.Load()+octets <= s.mayUse()
}

// memoryPercent is how much of the free memory an account may take at least. SMSCs, which
// have no account, may take as much together.
const memoryPercent = 50

// mayUse returns how many octets the account's messages may take, in all lanes: a part of what
// the others leave, as of the places of a queue.
func (s *Share) mayUse() int64 {
	percent := int64(memoryPercent)
	if s.Origin.IsClient() {
		percent = max(percent, int64(s.percent.Load()))
	}
	m := s.Lane.memory
	others := m.used.Load() - s.Origin.Tally.Memory.Load()
	return (m.limit.Load() - others) * percent / 100
}

// isCrowded reports whether a message of the account that will not leave soon is kept on disk
// alone. An account that takes half of what it may does so before others need the memory.
func (s *Share) isCrowded() bool {
	m := s.Lane.memory
	keep, used := m.keep.Load(), m.used.Load()
	return keep > 0 &&
		(used >= keep || s.isDelivered() && s.Lane.Queued.Load() > int64(s.Lane.Config().MaxQueue) ||
			used >= keep/4 && s.Origin.Tally.Memory.Load() >= s.mayUse()/2)
}

// WaitForRoom counts n submits that begin to wait for room, or, if n is negative, stop waiting.
func (s *Share) WaitForRoom(n int64) {
	s.waitingForRoom.Add(n)
	s.Lane.WaitingForRoom.Add(n)
}

// WaitingForRoom returns how many submits wait for room.
func (s *Share) WaitingForRoom() int64 { return s.waitingForRoom.Load() }

// Enter counts a message before the lane gets it: its octets, and its place in the queue or, until
// its delivery time, that it is scheduled.
func (s *Share) Enter(m *sms.Message, now int64) { s.enter(schedule(m, now), m.Size()) }

// Leave takes back what Enter has counted, when the message is taken out of the lane, or does not
// come to it.
func (s *Share) Leave(m *sms.Message) {
	s.leave(m.Flags&sms.Scheduled != 0, m.Size())
	m.Flags &^= sms.Scheduled
}

// Transfer moves the count of a message to another share of the same account, for whose lane it
// leaves.
func (s *Share) Transfer(to *Share, m *sms.Message) {
	if m.Flags&sms.Scheduled == 0 {
		to.add(1)
		s.add(-1)
	}
}

// schedule marks a message whose delivery time has not come, and reports whether that is so.
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

// add counts places in the queue.
func (s *Share) add(n int64) {
	s.queued.Add(n)
	s.Lane.Queued.Add(n)
}

// Arrivals enters messages as Share.Enter does, but counts those for one share together: their
// counters are shared with other goroutines. It is not safe for concurrent use.
type Arrivals struct {
	share  *Share
	n      int64 // places
	octets int64
	// The room of the share when it was read first after the last Flush. Other goroutines write its
	// counters, so they are read once for many messages.
	places, memory int64
}

// HasRoom reports whether a share has room for a text with so many parts and octets, beside others
// that are about to enter.
func (a *Arrivals) HasRoom(s *Share, parts, octets, others, othersOctets int64) bool {
	if a.share != s {
		a.Flush()
		a.share = s
	}
	others, octets = a.n+others, a.octets+othersOctets+octets
	if others+parts <= a.places && octets <= a.memory {
		return true
	}
	a.places, a.memory = s.Room(), s.mayUse()-s.Origin.Tally.Memory.Load()
	return s.HasRoom(others, parts) && octets <= a.memory
}

// Enter enters a message. It is counted at the next Flush.
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

// Flush counts the messages that have entered. That is before the lane is given them.
func (a *Arrivals) Flush() {
	if a.octets > 0 {
		a.share.add(a.n)
		a.share.Use(a.octets)
		a.n, a.octets = 0, 0
	}
	a.places, a.memory = 0, 0
}

// push adds an accepted message.
func (s *Share) push(m *sms.Message, now int64) {
	s.queue.Push(m, now)
	s.Lane.Queues.waits(s, now)
}

// pushBack returns a message to its place in the queue.
func (s *Share) pushBack(m *sms.Message, now int64) {
	s.queue.PushBack(m, now)
	s.Lane.Queues.waits(s, now)
}

// isDue records that a scheduled message is due, and counts with the others from now on.
func (s *Share) isDue(m *sms.Message) {
	if m.Flags&sms.Scheduled == 0 {
		return
	}
	m.Flags &^= sms.Scheduled
	s.Origin.Tally.Scheduled.Add(-1)
	s.add(1)
}
