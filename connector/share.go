package connector

import (
	"sync/atomic"

	"pmg/sms"
)

// A Share is one account's part of a lane: its queue, and how much of the lane's
// room it takes. Messages from an SMSC, which have no account, have a share of
// their own for each connector they arrive on. Shares take turns, so that an
// account's priorities order its own messages and nobody else's.
type Share struct {
	Lane   *Lane
	Origin *sms.Origin // of the first of its messages: they have its account in common

	queued  atomic.Int64 // messages accepted and not done with, scheduled ones aside
	held    atomic.Int64 // submits that wait for room
	percent atomic.Int32 // of what is free, that it may take

	// The rest belongs to whatever dispatches for the lane.
	queue  Queue
	active bool // it is in the lane's rotation
}

// Queued returns how many messages of the account wait in the lane or are under way.
func (s *Share) Queued() int64 { return s.queued.Load() }

// SetPercent changes how much of what is free the account may take.
func (s *Share) SetPercent(percent int) { s.percent.Store(int32(percent)) }

// Room returns how many more messages of the account the lane takes.
func (s *Share) Room() int64 {
	size, queued, own := int64(s.Lane.Config().MaxQueue), s.Lane.Queued.Load(), s.queued.Load()
	return min(size-queued, (size-(queued-own))*int64(s.percent.Load())/100-own)
}

// Hold counts submits that begin to wait for room, or, if n is negative, wait no more.
func (s *Share) Hold(n int64) {
	s.held.Add(n)
	s.Lane.Held.Add(n)
}

// Held returns how many submits wait for room.
func (s *Share) Held() int64 { return s.held.Load() }

// Add counts messages that were accepted, which is before the lane is given them.
func (s *Share) Add(n int64) {
	s.queued.Add(n)
	s.Lane.Queued.Add(n)
}

// push adds a message that was accepted.
func (s *Share) push(m *sms.Message, now int64) {
	s.queue.Push(m, now)
	s.Lane.waits(s, now)
}

// pushBack returns a message to its place.
func (s *Share) pushBack(m *sms.Message, now int64) {
	s.queue.PushBack(m, now)
	s.Lane.waits(s, now)
}

// isDue counts a scheduled message among the others from now on: its time has come.
func (s *Share) isDue(m *sms.Message) {
	if m.Flags&sms.Scheduled == 0 {
		return
	}
	m.Flags &^= sms.Scheduled
	m.Origin.Tally.Scheduled.Add(-1)
	s.Add(1)
}

// leaves counts a message that is done with, or leaves for another lane.
func (s *Share) leaves(scheduled bool) {
	if scheduled {
		s.Origin.Tally.Scheduled.Add(-1)
	} else {
		s.Add(-1)
	}
}
