package gateway

import (
	"fmt"
	"sync/atomic"
	"time"

	"pmg/store"
)

// upkeep looks after the store. What may wait for the disk is done on goroutines of its
// own.
type upkeep struct {
	next    atomic.Int64 // when it is done again, by the engine's clock
	tidy    lone
	orphans atomic.Int64                // octets that are counted for them
	last    atomic.Pointer[store.Stats] // what the store said of itself last

	failed atomic.Pointer[string] // why the store takes nothing any more; nil: it does
}

// A StoreStatus is what is known of the store.
type StoreStatus struct {
	store.Stats     // what it said last, up to a few seconds ago
	Committer       store.CommitterStats
	CommitFor       time.Duration // how long the commit under way has taken so far
	Storing         int64         // submits that wait for their commit
	Unsettled       int64         // messages that have ended and are still in the store
	Recovered       bool          // the messages of earlier runs are in their queues
	Space           Space         // zero where nothing is watched
	MinFree         int64         // octets of it that stay free
	Refuses, Failed string        // why no message is accepted; why the store takes nothing any more
}

const (
	slowCommit  = 2 * time.Second  // how long a commit may take until the operator is told
	stuckCommit = 10 * time.Second // until the gateway is not ready any more
	upkeepEvery = int64(time.Second)
)

// StoreFailed notes that the store takes nothing any more. The process is to end: what the
// store has committed is there when it has been opened again.
func (g *Gateway) StoreFailed(err error) {
	why := err.Error()
	if g.upkeep.failed.Swap(&why) == nil {
		g.Log.Error().Err(err).Msg("the store has failed: no message is confirmed any more, and the gateway must be restarted; what was confirmed is in the store")
	}
}

// checkStore looks after the store, about once a second.
func (g *Gateway) checkStore(now int64) {
	u := &g.upkeep
	next := u.next.Load()
	if g.store == nil || now < next || !u.next.CompareAndSwap(next, now+upkeepEvery*9/10) {
		return
	}
	g.Committer.Commit() // what a commit that failed has left
	if took, slow := g.Committer.Slow(slowCommit); slow && g.News.Is("slow commit") {
		g.Log.Error().Stringer("since", took.Round(time.Millisecond)).
			Msg("the store does not answer: messages are not confirmed until it does; look at the disk")
	}
	g.checkEvents()
	g.tidyReceipts(now)
	g.countOrphans()
	g.lookAtHeld()
	g.checkWaits(now)
	g.space.probing.begin(g.checkSpace)
	u.tidy.begin(g.tidyStore)
}

// orphanSize is about how many octets the keys of an orphan take in memory.
const orphanSize = 1300

// countOrphans counts what the keys of orphans take as memory that is in use.
func (g *Gateway) countOrphans() {
	size := g.receipts.orphans.n.Load() * orphanSize
	g.Memory.Add(size - g.upkeep.orphans.Swap(size))
}

// tidyStore has the store tidy up, and keeps what it says of itself.
func (g *Gateway) tidyStore() {
	g.store.Tidy()
	s := g.store.Stats()
	g.upkeep.last.Store(&s)
}

// StoreStatus returns what is known of the store. It reports false if there is none.
func (g *Gateway) StoreStatus() (s StoreStatus, ok bool) {
	if g.store == nil {
		return s, false
	}
	if last := g.upkeep.last.Load(); last != nil {
		s.Stats = *last
	}
	s.Committer = g.Committer.Stats()
	s.CommitFor, _ = g.Committer.Slow(0)
	s.Storing, s.Unsettled = g.storing.Load(), g.unsettled.n.Load()
	s.Recovered = g.Recovered()
	if room := g.space.last.Load(); room != nil {
		s.Space = *room
		s.MinFree = leastSpace(int64(g.Config().Store.MinFree), room.Total)
	}
	if why := g.space.low.Load(); why != nil {
		s.Refuses = *why
	}
	if why := g.upkeep.failed.Load(); why != nil {
		s.Failed = *why
	}
	return s, true
}

// storeTrouble returns why the store takes no messages, or "".
func (g *Gateway) storeTrouble() string {
	s, ok := g.StoreStatus()
	switch {
	case !ok:
		return ""
	case s.Failed != "":
		return "no message is accepted: the store has failed, and the gateway must be restarted: " + s.Failed
	case s.Refuses != "":
		return "no message is accepted: " + s.Refuses
	case s.CommitFor >= stuckCommit:
		return fmt.Sprintf("no message is confirmed: the store has not answered for %s; look at its disk", s.CommitFor.Round(time.Second))
	}
	return ""
}
