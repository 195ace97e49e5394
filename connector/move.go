package connector

import (
	"slices"
	"time"

	"pmg/connector/queue"
	"pmg/sms"
)

// moving is the state of a lane's search for messages that must move to another lane.
type moving struct {
	downSince int64 // since when the lane is not reachable; 0: the lane is reachable
	searched  int64 // when the last search ended
	rest      int64 // how long Move does not search after a search; the time grows while no message can be moved
	share     int   // index of the share that is searched next
	reads     bool  // the search waits for bodies that are being read from disk
	goesOn    bool  // the bodies were read, so the search can continue
}

// A move is a message that moves to another lane, or ends because it has no route.
type move struct {
	message  *sms.Message
	from, to *Share // to is nil if the message has no route and ends
}

const (
	moveAtATime = 2000       // how many messages one call of Move searches, which takes about 1 ms
	leastRest   = int64(1e9) // how long Move rests after the first search in which no message could be moved
	longestRest = int64(8e9) // the longest rest of Move, because many accounts' lanes may be down for long
)

// markDown records the time at which the lane became unreachable.
func (l *Lane) markDown(now int64) {
	switch {
	case l.isReachable():
		l.moving.downSince, l.moving.rest = 0, 0
	case l.moving.downSince == 0:
		l.moving.downSince = now
	}
}

// hasFailed reports whether the lane has been down for failover_after, so that its messages move to
// other targets of their routes. If the gateway is stopping, the lane has failed as soon as it is
// down.
func (l *Lane) hasFailed(now int64) bool {
	after, since := int64(l.Config().FailoverAfter), l.moving.downSince
	return after > 0 && since != 0 && !l.isReachable() && (now-since >= after || l.policy.Process.Draining())
}

// Move removes messages that should not wait in this lane any longer. It calls give with each
// message and the share of the other lane that takes the message, which already counts it. It
// reports whether more messages may have to be moved now. It moves
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
	failed := l.Queues.Len() > 0 && l.hasFailed(now)
	rest := mv.rest
	if l.policy.Process.Draining() {
		rest = min(rest, leastRest)
	}
	if l.Queues.Len() == 0 || now < mv.searched+rest || !failed && !l.leaving {
		return false
	}
	plan := l.planMoves(now, failed)
	n, more := 0, plan.more

	for _, m := range plan.moves {
		if l.move(now, m) {
			give(m.to, m.message)
			n++
		}
	}
	l.countDone()
	if n > 0 {
		l.stats().Moved.Add(int64(n))
		if failed {
			l.policy.Router.Moved(l, n, time.Duration(now-mv.downSince))
		}
	}
	mv.searched, mv.reads = now, plan.reads
	switch {
	case more:
		mv.rest = 0
	case plan.reads && (n > 0 || !plan.looked):
		mv.searched, mv.rest = 0, leastRest // the search continues when the bodies are in memory
	case n > 0 || plan.reads:
		mv.rest = leastRest
	default:
		mv.rest = min(max(2*mv.rest, leastRest), longestRest)
	}
	return more
}

// MovesOn reports whether Move can continue because the bodies that it waited for are read. It
// returns true once.
func (l *Lane) MovesOn() bool {
	goesOn := l.moving.goesOn
	l.moving.goesOn = false
	return goesOn
}

// A plan is the result of a search for messages to move.
type plan struct {
	moves  []move
	more   bool // there may be more messages to move now
	looked bool // at least one message was examined
	reads  bool // bodies must be read from disk before the search continues
}

// add adds a message to the plan if the message can be moved, and reports whether it did.
func (p *plan) add(now int64, s *Share, m *sms.Message, always bool) bool {
	p.looked = true
	to := s.Lane.policy.Router.Reroute(s.Lane, m, always)
	if to == nil && !always && !s.Lane.isEnded(now, m) {
		return false
	}
	p.moves = append(p.moves, move{m, s, to})
	return true
}

// planMoves takes a limited number of the messages that are to move out of the queues. The shares
// take turns, because the limit may be reached within a share. Bodies on disk are read in parts,
// and the bodies of messages that stay are released again.
func (l *Lane) planMoves(now int64, failed bool) (p plan) {
	empties := l.gone || l.leaving && isHopeless(l)
	l.Queues.mu.Lock()
	shares := l.Queues.shares
	l.Queues.mu.Unlock()
	left := moveAtATime
	for n := 0; n < len(shares) && left > 0 && !p.reads; n++ {
		s := shares[l.moving.share%len(shares)]
		end, before := true, s.queue.Len()
		if l.leaving {
			end = l.planLater(s, &left, now, empties, &p)
		}
		if end && (empties || failed) {
			end = l.planDue(s, &left, now, empties, &p)
		}
		l.Queues.waiting -= before - s.queue.Len()
		l.Queues.rest(s, now)
		if end {
			l.moving.share = (l.moving.share + 1) % len(shares)
		}
	}
	if empties || failed {
		l.Queues.suspects = slices.DeleteFunc(l.Queues.suspects, func(s suspect) bool {
			return p.add(now, s.share, s.message, empties)
		})
	}
	p.more = p.more || len(p.moves) > 0 && left <= 0 && !p.reads
	l.Queues.load()
	return p
}

// planLater plans the moves of a limited number of a share's messages that are not due yet.
func (l *Lane) planLater(s *Share, left *int, now int64, empties bool, p *plan) (end bool) {
	wanted := func(e *queue.Entry) bool {
		return empties || e.Scheduled || e.Message != nil && e.Message.Flags&sms.Scheduled != 0
	}
	t := queue.Taker{
		Take: func(e *queue.Entry) queue.Verdict {
			p.add(now, s, e.Message, true)
			return queue.Leaves
		},
		Ask: func(e *queue.Entry) bool { return l.Queues.ask(s, e) },
	}
	end = s.queue.TakeLater(left, wanted, &t)
	p.reads = p.reads || t.Absent
	return end
}

// planDue plans the moves of a limited number of a share's due messages. The search may find the
// first movable message behind messages that could not be moved. Then a target has come up during
// the search, and the search starts again from the beginning, so that the messages leave in order.
func (l *Lane) planDue(s *Share, left *int, now int64, empties bool, p *plan) (end bool) {
	looked, moved, begins := false, false, false
	inVain := s.queue.InVain() && !empties
	t := queue.Taker{
		Take: func(e *queue.Entry) queue.Verdict {
			looked = true
			switch {
			case inVain:
				begins = begins || l.policy.Router.Reroute(l, e.Message, false) != nil
				p.looked = true
			case p.add(now, s, e.Message, empties):
				moved = true
				return queue.Leaves
			}
			if e.IsLoaded() {
				l.Queues.unload(s, e)
			}
			return queue.Stays
		},
		Ask: func(e *queue.Entry) bool { return l.Queues.ask(s, e) },
	}
	end = s.queue.TakeDue(now, left, &t)
	switch {
	case begins:
		s.queue.SearchAgain()
		p.more = true
		return false
	case !end && looked && !moved:
		s.queue.SearchedInVain()
	}
	p.reads = p.reads || t.Absent
	return end
}

// isEnded reports whether a message must not be sent any more.
func (l *Lane) isEnded(now int64, m *sms.Message) bool {
	return m.Flags&sms.Settled != 0 || m.Expires != 0 && m.Expires < now
}

// move counts a message that leaves the lane, and reports whether it moves to another lane.
func (l *Lane) move(now int64, mv move) bool {
	m := mv.message
	if m.Due() <= now || mv.to == nil || l.isEnded(now, m) {
		mv.from.isDue(m)
	}
	switch {
	case l.isOver(now, mv.from, m, m.Expires):
		return false
	case mv.to == nil:
		l.settled(mv.from, m, m, sms.Answer{Code: sms.BadDestination, At: now}, 0)
		return false
	}
	l.Queues.unknown.forget(m)
	mv.from.Transfer(mv.to, m)
	return true
}

// failOver moves a message that was sent in vain to another lane. The share to counts the message
// from now on. A late answer does not find the message any more.
func (l *Lane) failOver(from, to *Share, m *sms.Message) {
	l.Queues.unknown.forget(m)
	l.stats().FailedOver.Add(1)
	from.Transfer(to, m)
	l.handed = append(l.handed, move{m, from, to})
}

// HasHanded reports whether HandOver has any messages to pass on.
func (l *Lane) HasHanded() bool { return len(l.handed) > 0 }

// HandOver passes the messages that move to other lanes to give, which pushes them to the new lane.
// It is called after Next. So a message is in no lane for a short time, and never in two lanes.
func (l *Lane) HandOver(give func(*Share, *sms.Message)) {
	for i := range l.handed {
		give(l.handed[i].to, l.handed[i].message)
	}
	clear(l.handed)
	l.handed = l.handed[:0]
}
