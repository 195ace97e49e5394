package connector

import (
	"slices"
	"time"

	"pmg/sms"
)

// moving is the state of a lane's search for messages that must move to another lane.
type moving struct {
	downSince int64 // since when the lane is not reachable; 0: it is
	searched  int64 // when the last search ended
	rest      int64 // how long Move does not search after that; it grows while no message can be moved
	share     int   // index of the share that is searched next
}

// A move is a message that moves to another lane, or ends because it has no route.
type move struct {
	message  *sms.Message
	from, to *Share // to is nil if the message ends
}

const (
	moveAtATime = 2000       // how many messages one call of Move searches, in about 1 ms
	leastRest   = int64(1e9) // how long Move rests after the first search in which none could be moved
	longestRest = int64(8e9) // and at most, because many accounts' lanes may be down for long
)

// noteDown notes since when the lane is not reachable.
func (l *Lane) noteDown(now int64) {
	switch {
	case l.isReachable():
		l.moving.downSince, l.moving.rest = 0, 0
	case l.moving.downSince == 0:
		l.moving.downSince = now
	}
}

// hasFailed reports whether the lane has been down for failover_after, so that its messages
// move to other targets of their routes. A stopping gateway does not wait for that time.
func (l *Lane) hasFailed(now int64) bool {
	after, since := int64(l.Config().FailoverAfter), l.moving.downSince
	return after > 0 && since != 0 && !l.isReachable() && (now-since >= after || l.policy.Draining())
}

// Move removes messages that should not wait in this lane any longer, and passes them to
// give with their shares of other lanes, where they are counted already. It reports
// whether there may be more of them now. They are
//
//   - messages that are due in a lane that has failed, if their routes have another
//     target that is up,
//   - scheduled messages of a leaving lane,
//   - all messages of a lane that is gone, or whose clients cannot come any more.
//
// A message keeps its id, attempts and validity, and takes its place in the other queue by
// its arrival. It moves even if that queue is full, because an accepted message is not
// refused.
func (l *Lane) Move(now int64, give func(*Share, *sms.Message)) (more bool) {
	mv := &l.moving
	failed := l.Len() > 0 && l.hasFailed(now)
	rest := mv.rest
	if l.policy.Draining() {
		rest = min(rest, leastRest)
	}
	if l.Len() == 0 || now < mv.searched+rest || !failed && !l.leaving {
		return false
	}
	moves, more := l.planMoves(now, failed)
	n := 0
	for _, m := range moves {
		if l.move(now, m) {
			give(m.to, m.message)
			n++
		}
	}
	l.countDone()
	if n > 0 {
		l.stats().Moved.Add(int64(n))
		if failed {
			l.policy.Moved(l, n, time.Duration(now-mv.downSince))
		}
	}
	mv.searched = now
	switch {
	case more:
		mv.rest = 0
	case n > 0:
		mv.rest = leastRest
	default:
		mv.rest = min(max(2*mv.rest, leastRest), longestRest)
	}
	return more
}

// planMoves removes a part of the messages that must move from the queues, and reports
// whether there may be more now. The part may end within a share, so the next call goes on
// with the next share.
func (l *Lane) planMoves(now int64, failed bool) (moves []move, more bool) {
	empties := l.gone || l.leaving && l.isHopeless()
	plan := func(s *Share, m *sms.Message, always bool) bool {
		to := l.policy.Reroute(l, m, always)
		if to == nil && !always && !l.isEnded(now, m) {
			return false
		}
		moves = append(moves, move{m, s, to})
		return true
	}
	l.mu.Lock()
	shares := l.shares
	l.mu.Unlock()
	left := moveAtATime
	for n := 0; n < len(shares) && left > 0; n++ {
		s := shares[l.moving.share%len(shares)]
		end, before := true, s.queue.Len()
		if l.leaving {
			end = s.queue.takeLater(&left, func(m *sms.Message) bool {
				return (empties || m.Flags&sms.Scheduled != 0) && plan(s, m, true)
			})
		}
		if end && (empties || failed) {
			var begins bool
			end, begins = l.planDue(s, &left, now, empties, plan)
			more = more || begins
		}
		l.waiting -= before - s.queue.Len()
		l.rest(s, now)
		if end {
			l.moving.share = (l.moving.share + 1) % len(shares)
		}
	}
	if empties || failed {
		l.suspects.waiting = slices.DeleteFunc(l.suspects.waiting, func(s suspect) bool {
			return plan(s.share, s.message, empties)
		})
	}
	return moves, more || len(moves) > 0 && left <= 0
}

// planDue plans the moves of a part of a share's messages that are due. If earlier parts
// had no message that could be moved, but this one has, then a target has come up
// meanwhile. The search begins again, so that the messages leave in order.
func (l *Lane) planDue(s *Share, left *int, now int64, empties bool, plan func(*Share, *sms.Message, bool) bool) (end, begins bool) {
	search, moved := &s.queue.moved, false
	inVain := search.inVain && !empties
	end = s.queue.takeDue(now, left, func(m *sms.Message) bool {
		switch {
		case inVain:
			begins = begins || l.policy.Reroute(l, m, false) != nil
			return false
		case plan(s, m, empties):
			moved = true
			return true
		}
		return false
	})
	switch {
	case begins:
		s.queue.searchAgain()
		return false, true
	case !end && !moved && !search.again:
		search.inVain = true
	}
	return end, false
}

// isEnded reports whether a message must not be sent any more.
func (l *Lane) isEnded(now int64, m *sms.Message) bool {
	return m.Flags&sms.Settled != 0 || m.Expires != 0 && m.Expires < now
}

// move counts a message that leaves, and reports whether it goes to another lane.
func (l *Lane) move(now int64, mv move) bool {
	m := mv.message
	if m.Due() <= now || mv.to == nil || l.isEnded(now, m) {
		mv.from.isDue(m)
	}
	switch {
	case l.isOver(now, mv.from, m, m.Expires):
		return false
	case mv.to == nil:
		l.settled(mv.from, m, sms.Answer{Code: sms.BadDestination, At: now}, 0)
		return false
	}
	delete(l.unknown, m.ID)
	if m.Flags&sms.Scheduled == 0 {
		mv.to.Add(1)
		mv.from.Add(-1)
	}
	return true
}
