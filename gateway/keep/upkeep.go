package keep

import (
	"fmt"
	"sync/atomic"
	"time"

	"pmg/gateway/node"
	"pmg/store"
)

// upkeep looks after the store. What may wait for the disk is done on goroutines of its
// own.
type upkeep struct {
	next atomic.Int64 // when the upkeep is next due, by the engine's clock
	tidy node.Single
	last atomic.Pointer[store.Stats] // the latest statistics of the store

	failed atomic.Pointer[string] // why the store accepts nothing any more; nil: the store works
}

// A StoreStatus is the status of the store.
type StoreStatus struct {
	store.Stats     // the latest statistics, up to a few seconds old
	Journal         store.LogStats
	CommitFor       time.Duration // how long the commit under way has taken; 0: no commit is under way
	Storing         int64         // submits that wait for their commit
	Unsettled       int64         // messages that have ended and are still in the store
	Recovered       bool          // the messages of earlier runs are in their queues
	Space           Space         // zero if the space is not watched
	MinFree         int64         // octets of Space that must stay free
	Refuses, Failed string        // why no messages are accepted; why the store accepts nothing any more
}

const (
	slowCommit  = 2 * time.Second  // a commit that takes longer is logged
	stuckCommit = 10 * time.Second // a commit that takes longer makes the gateway not ready
	upkeepEvery = int64(time.Second)
)

// StoreFailed records that the store takes nothing any more. The process is to end: what the
// store has committed is there when it has been opened again.
func (k *Keeper) StoreFailed(err error) {
	why := err.Error()
	k.Unsettled.failed.Store(true)
	if k.upkeep.failed.Swap(&why) == nil {
		k.node.Log.Error().Err(err).Msg(
			"the store has failed: no message is confirmed any more, and the gateway must be restarted; what was " +
				"confirmed is in the store",
		)
	}
}

// Upkeep looks after the store, and calls the function others for the other parts of the gateway, about once a second.
func (k *Keeper) Upkeep(now int64, others func(now int64)) {
	u := &k.upkeep
	next := u.next.Load()
	if now < next || !u.next.CompareAndSwap(next, now+upkeepEvery*9/10) {
		return
	}
	k.Batches.Commit() // commits the changes that a failed commit has left
	if took := commitFor(k.Batches, k.node.Clock.Now()); took > slowCommit && k.node.Repeats.First("slow commit") {
		k.node.Log.Error().Stringer("since", took.Round(time.Millisecond)).
			Msg("the store does not answer: messages are not confirmed until it does; look at the disk")
	}
	others(now)
	k.space.probing.Begin(k.CheckSpace)
	u.tidy.Begin(func() { u.tidyStore(k.store) })
}

// tidyStore tidies the store, and keeps what it says of itself.
func (u *upkeep) tidyStore(all store.Store) {
	all.Tidy()
	s := all.Stats()
	u.last.Store(&s)
}

// commitFor returns how long the commit under way has taken at a time, 0 if there is none.
func commitFor(j store.Log, now int64) time.Duration {
	since := j.Stats().Since
	if since == 0 {
		return 0
	}
	return time.Duration(now - since)
}

// StoreStatus returns what is known of the store.
func (k *Keeper) StoreStatus() (s StoreStatus) {
	if last := k.upkeep.last.Load(); last != nil {
		s.Stats = *last
	}
	s.Journal = k.Batches.Stats()
	s.CommitFor = commitFor(k.Batches, k.node.Clock.Now())
	s.Storing, s.Unsettled = k.Storing.Load(), k.Unsettled.N.Load()
	s.Recovered = k.Recovered()
	if room := k.space.last.Load(); room != nil {
		s.Space = *room
		s.MinFree = leastSpace(int64(k.node.Config().Store.MinFree), room.Total)
	}
	if why := k.space.low.Load(); why != nil {
		s.Refuses = *why
	}
	if why := k.upkeep.failed.Load(); why != nil {
		s.Failed = *why
	}
	return s
}

// Trouble returns why the store takes no messages, or "".
func (k *Keeper) Trouble() string {
	s := k.StoreStatus()
	switch {
	case s.Failed != "":
		return "no message is accepted: the store has failed, and the gateway must be restarted: " + s.Failed
	case s.Refuses != "":
		return "no message is accepted: " + s.Refuses
	case s.CommitFor >= stuckCommit:
		return fmt.Sprintf(
			"no message is confirmed: the store has not answered for %s; look at its disk", s.CommitFor.Round(time.Second),
		)
	}
	return ""
}
