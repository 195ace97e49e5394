package gateway

import (
	"fmt"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/events"
	"pmg/sms"
	"pmg/store"
)

// unsettled is the messages that have ended and are still in the store. How they have
// ended is noted, so that a process that is killed sends none of them again; the notes
// bound how many there may be.
type unsettled struct {
	n      atomic.Int64
	halted atomic.Bool // messages have been kept from leaving because there were too many

	outcomes *store.Outcomes // nil: not noted. The committer's lock guards it

	mu      sync.Mutex
	batches []unsettledBatch // in the order of their numbers
}

type unsettledBatch struct {
	number uint64
	n      int64
}

// maxUnsettled leaves room in the notes for the messages that are under way when no more
// may leave.
const maxUnsettled = store.MaxOutcomes - config.MaxUnderWay

// add counts a message that the store forgets in a batch.
func (u *unsettled) add(batch uint64) {
	u.n.Add(1)
	u.mu.Lock()
	defer u.mu.Unlock()
	if last := len(u.batches) - 1; last >= 0 && u.batches[last].number == batch {
		u.batches[last].n++
		return
	}
	u.batches = append(u.batches, unsettledBatch{batch, 1})
}

// full reports whether no more messages may leave.
func (u *unsettled) full() bool {
	if u.n.Load() < maxUnsettled {
		return false
	}
	u.halted.Store(true)
	return u.n.Load() >= maxUnsettled // a commit that ended meanwhile may not have seen halted
}

// committed notes that the batches up to a number were committed.
func (u *unsettled) committed(upTo uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	done := 0
	for done < len(u.batches) && u.batches[done].number <= upTo {
		u.n.Add(-u.batches[done].n)
		done++
	}
	u.batches = u.batches[:copy(u.batches, u.batches[done:])]
}

// GoesOn reports, once, that messages may leave that were kept from it because the store had
// not forgotten enough others, or because the notes that they leave were not safe. It is
// called after each commit.
func (g *Gateway) GoesOn() bool {
	noted, logged := g.notes.goOn(), g.events.goesOn()
	return g.unsettled.goOn() || noted || logged
}

func (u *unsettled) goOn() bool {
	return u.halted.Load() && u.n.Load() < maxUnsettled && u.halted.Swap(false)
}

// isNotedUnderWay reports whether a stored state was written when the message was about to
// leave, so that it counts that attempt.
func isNotedUnderWay(state []byte) bool {
	s, err := store.DecodeState(state)
	return err == nil && s.UnderWay
}

// forgetKilled has the store forget the messages that had ended when an earlier run was
// killed, before it had the store forget them.
func (g *Gateway) forgetKilled(outcomes *store.Outcomes) error {
	var e store.Entry
	var failed error
	n := 0
	outcomes.Read(func(o store.Outcome) {
		if failed != nil || o.ID > g.lastStored {
			return
		}
		found, err := g.store.Get(o.ID, &e)
		if err != nil {
			failed = fmt.Errorf("cannot read store: %w", err)
			return
		}
		if !found {
			return
		}
		m, lane, err := g.decode(&e)
		if err != nil {
			g.logUnreadable(o.ID, err)
			return
		}
		if o.Sent != 0 && !isNotedUnderWay(e.State) {
			m.Sends = incremented(m.Sends) // its state was stored before it was sent last
		}
		if o.Lane != 0 && o.Lane != store.HashOfLane(lane) { // it had moved, and the store did not know that yet
			for _, c := range g.Connectors() { // not all have a lane yet
				if name := (store.Lane{Connector: c.Name}); store.HashOfLane(name) == o.Lane {
					lane = name
				}
			}
		}
		ahead := g.Clock.Ahead()
		e := ending{state: events.StateOf(o.Code), lane: lane, answer: sms.Answer{Code: o.Code, Status: o.Status, PeerID: o.PeerID, At: o.At - ahead}, attempts: o.Attempts}
		if o.Sent != 0 {
			e.sent = o.Sent - ahead
		}
		if l := g.laneNamed(g.Config(), lane); l != nil {
			e.peer = l.Home().Driver
			e.maps = g.mapsFor(l, m, &e.answer)
			e.operations = l.Config().Operations
		}
		g.forget(m, e)
		m.Release()
		n++
	})
	if failed == nil {
		failed = g.Committer.Sync()
	}
	g.receipts.outgoing.leaveStored()
	if n > 0 {
		g.Log.Info().Int("messages", n).Msg("messages that had ended when the gateway was killed are not sent again")
	}
	return failed
}
