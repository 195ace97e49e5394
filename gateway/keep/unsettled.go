package keep

import (
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/store"
)

// Unsettled is the messages that have ended and are still in the store. How they have
// ended is noted, so that a process that is killed sends none of them again; the notes
// bound how many there may be.
type Unsettled struct {
	// N is how many there are.
	N      atomic.Int64
	halted atomic.Bool // messages have been kept from leaving because there were too many

	// Outcomes are the notes; nil: there are none. The committer's lock guards them.
	Outcomes *store.Outcomes

	mu      sync.Mutex
	batches []unsettledBatch // in the order of their numbers
	locks   int64            // how often mu was taken for messages
}

type unsettledBatch struct {
	number uint64
	n      int64
}

// maxUnsettled leaves room in the notes for the messages that are under way when no more
// may leave.
const maxUnsettled = store.MaxOutcomes - config.MaxUnderWay

// Add counts a message that the store forgets in a batch.
func (u *Unsettled) Add(batch uint64) {
	u.N.Add(1)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.locks++
	if last := len(u.batches) - 1; last >= 0 && u.batches[last].number == batch {
		u.batches[last].n++
		return
	}
	u.batches = append(u.batches, unsettledBatch{batch, 1})
}

// Full reports whether no more messages may leave.
func (u *Unsettled) Full() bool {
	if u.N.Load() < maxUnsettled {
		return false
	}
	u.halted.Store(true)
	return u.N.Load() >= maxUnsettled // a commit that ended meanwhile may not have seen halted
}

// committed notes that the batches up to a number were committed.
func (u *Unsettled) committed(upTo uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	done := 0
	for done < len(u.batches) && u.batches[done].number <= upTo {
		u.N.Add(-u.batches[done].n)
		done++
	}
	u.batches = u.batches[:copy(u.batches, u.batches[done:])]
}

// GoOn reports, once, that messages may leave again.
func (u *Unsettled) GoOn() bool {
	return u.halted.Load() && u.N.Load() < maxUnsettled && u.halted.Swap(false)
}
