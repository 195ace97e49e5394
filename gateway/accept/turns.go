package accept

import (
	"hash/crc32"
	"slices"
	"sync"
	"sync/atomic"

	"pmg/gateway/receipts"
)

// Turns keep the receipts of a message in order if several Acceptors handle receipts at the same time, because the sessions of
// an SMSC belong to several goroutines. The receipts of an SMSC with the same id have a turn, which one Acceptor has at a time:
//
//	Receipt ──► take ──► searched for, stored ──► queued, or ended ──► Tick ──► end
//	              └────► waits in the line, until those in front of it have ended
//
// What an Acceptor has queued reaches the lane behind its batch. So the turn ends at the next Tick, and until then another
// Acceptor's receipt waits. It waits without a goroutine: its Acceptor looks at each Tick whether it has the turn.
// Turns are safe for concurrent use.
type Turns struct {
	members atomic.Uint32
	stripes [turnStripes]turnStripe
}

const (
	turnStripes = 64
	// turnPause is how long an Acceptor waits until the next Tick that looks after turns. It is about the time of a batch.
	turnPause = int64(1e6)
	// turnPatience is how long a receipt waits at most, so that one whose handling has ended in a fault is not waited for.
	turnPatience = int64(60e9)
)

// A turnStripe has the turns of some receipts.
type turnStripe struct {
	mu     sync.Mutex
	of     map[uint32]*claim // by a checksum of SMSC and id; other receipts with the same one just wait
	unused []*claim
	latest int64 // the time of the latest receipt; a lane orders receipts by their times
}

// A claim is the turn of the receipts of one Acceptor.
type claim struct {
	key    uint32
	member uint32
	n      int       // receipts of the Acceptor that have not ended
	called int       // those of them that have waited, and with which the Acceptor has not gone on yet
	line   []*ticket // receipts that wait, in order
}

// A ticket is the place of a receipt in the line.
type ticket struct {
	key    uint32
	member uint32
	has    *claim // nil: the receipt waits
}

// NewTurns returns Turns for the Acceptors of a gateway.
func NewTurns() *Turns {
	t := &Turns{}
	for i := range t.stripes {
		t.stripes[i].of = map[uint32]*claim{}
	}
	return t
}

// join returns a number for an Acceptor.
func (t *Turns) join() uint32 { return t.members.Add(1) }

func (t *Turns) stripe(key uint32) *turnStripe { return &t.stripes[key%turnStripes] }

// next returns the time of a receipt that is handled now. The caller holds the lock.
func (s *turnStripe) next(now int64) int64 {
	s.latest = max(now, s.latest+1)
	return s.latest
}

// take takes the turn for a receipt, and returns it with the time of the receipt, which is later than that of all receipts
// before it. If others are in front of the receipt, it waits, and take returns its ticket.
func (t *Turns) take(now int64, key uint32, member uint32) (has *claim, waits *ticket, at int64) {
	s := t.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	has = s.of[key]
	switch {
	case has == nil:
		has = s.begin(key, member)
	case has.member != member || len(has.line) > 0:
		waits = &ticket{key: key, member: member}
		has.line = append(has.line, waits)
		return nil, waits, now
	case has.called > 0:
		waits = &ticket{key: key, member: member}
		has.call(waits)
		return nil, waits, now
	}
	has.n++
	return has, nil, s.next(now)
}

// call gives a receipt the turn that its Acceptor has.
func (c *claim) call(w *ticket) {
	w.has = c
	c.n++
	c.called++
}

func (s *turnStripe) begin(key uint32, member uint32) (has *claim) {
	if n := len(s.unused); n > 0 {
		has, s.unused = s.unused[n-1], s.unused[:n-1]
	} else {
		has = &claim{}
	}
	has.key, has.member = key, member
	s.of[key] = has
	return has
}

// check returns the turn of a receipt that waits, or nil if it still waits. If it has the turn, those of its Acceptor in front
// of it have it, too.
func (t *Turns) check(w *ticket) *claim {
	s := t.stripe(w.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return w.has
}

// goOn returns the time of a receipt that has waited, as take does. has is its turn, or nil if it goes on without one.
func (t *Turns) goOn(now int64, key uint32, has *claim) (at int64) {
	s := t.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if has != nil {
		has.called--
	}
	return s.next(now)
}

// leave removes a receipt from the line.
func (t *Turns) leave(now int64, w *ticket) {
	s := t.stripe(w.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.has != nil {
		w.has.called--
		s.end(now, w.has)
		return
	}
	has := s.of[w.key]
	has.line = slices.DeleteFunc(has.line, func(other *ticket) bool { return other == w })
}

// end ends the turn of a receipt.
func (t *Turns) end(now int64, has *claim) {
	s := t.stripe(has.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(now, has)
}

// end ends the turn of a receipt. After the last one of an Acceptor the first in the line has the turn, with those of the same
// Acceptor behind it. The caller holds the lock.
func (s *turnStripe) end(now int64, has *claim) {
	s.latest = max(s.latest, now)
	if has.n--; has.n > 0 {
		return
	}
	if len(has.line) == 0 {
		delete(s.of, has.key)
		s.unused = append(s.unused, has)
		return
	}
	has.member = has.line[0].member
	for len(has.line) > 0 && has.line[0].member == has.member {
		has.call(has.line[0])
		has.line = slices.Delete(has.line, 0, 1)
	}
}

// hasTurn takes the turn of a receipt. If it returns false, the receipt waits for those of other Acceptors.
func (a *Acceptor[T]) hasTurn(now int64, q *finding[T]) bool {
	var waits *ticket
	q.claim, waits, q.at = a.turns.take(now, crc32.ChecksumIEEE(a.searchKeyOf(q)), a.member)
	if q.claim != nil {
		return true
	}
	copied := *q
	copied.match, copied.ticket = receipts.Match{}, waits
	a.executor.Hold(q.by)
	a.waiting = append(a.waiting, &copied)
	a.executor.TickAt(now + turnPause)
	return false
}

// Turns returns how many receipts wait for their turn, or have one that has not ended.
func (a *Acceptor[T]) Turns() int { return len(a.waiting) + len(a.storing) + len(a.passing) }

// turnOf returns the turn of a message that was stored, nil if it has none.
func (a *Acceptor[T]) turnOf(id uint64) *claim {
	if len(a.storing) == 0 {
		return nil
	}
	has := a.storing[id]
	delete(a.storing, id)
	return has
}

// passOn ends the turn of a receipt when what was queued has been passed on.
func (a *Acceptor[T]) passOn(now int64, has *claim) {
	if has == nil {
		return
	}
	if len(a.passing) == 0 {
		a.executor.TickAt(now + turnPause)
	}
	a.passing = append(a.passing, has)
}

// Tick ends turns, and goes on with the receipts whose turn has come. All that was queued before must have been passed on.
func (a *Acceptor[T]) Tick(now int64) {
	for i, has := range a.passing {
		a.turns.end(now, has)
		a.passing[i] = nil
	}
	a.passing = a.passing[:0]
	if len(a.waiting) == 0 {
		return
	}
	all := a.waiting
	a.waiting = nil
	for i := len(all) - 1; i >= 0; i-- { // from the last one, so that none is handled before one of the same id in front of it
		all[i].claim = a.turns.check(all[i].ticket)
	}
	for _, q := range all {
		if q.claim == nil && now-q.at < turnPatience {
			a.waiting = append(a.waiting, q)
			continue
		}
		if q.claim == nil {
			a.turns.leave(now, q.ticket)
		}
		by := q.by
		q.at = a.turns.goOn(now, q.ticket.key, q.claim)
		if q.ticket = nil; !a.follows(q) {
			a.find(q.at, q)
		}
		a.executor.Release(now, by)
	}
	if len(a.waiting) > 0 {
		a.executor.TickAt(now + turnPause)
	}
}

// forgetWaiting drops receipts that wait for their turn, as Forget does.
func (a *Acceptor[T]) forgetWaiting(drop func(by T) bool) {
	a.waiting = slices.DeleteFunc(a.waiting, func(q *finding[T]) bool {
		gone := drop(q.by)
		if gone {
			a.turns.leave(q.at, q.ticket)
			q.message.Release()
		}
		return gone
	})
}
