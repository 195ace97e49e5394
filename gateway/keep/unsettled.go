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
	commits []unsettledCommit // in their order
	locks   int64             // how often mu was taken for messages
}

type unsettledCommit struct {
	at store.Position
	n  int64
}

// maxUnsettled leaves room in the notes for the messages that are under way when no more
// may leave.
const maxUnsettled = store.MaxOutcomes - config.MaxUnderWay

// Add counts a message that the store forgets with a commit.
func (u *Unsettled) Add(at store.Position) {
	u.N.Add(1)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.locks++
	if last := len(u.commits) - 1; last >= 0 && u.commits[last].at == at {
		u.commits[last].n++
		return
	}
	u.commits = append(u.commits, unsettledCommit{at, 1})
}

// Full reports whether no more messages may leave.
func (u *Unsettled) Full() bool {
	if u.N.Load() < maxUnsettled {
		return false
	}
	u.halted.Store(true)
	return u.N.Load() >= maxUnsettled // a commit that ended meanwhile may not have seen halted
}

// committed notes that all up to a position is committed.
func (u *Unsettled) committed(upTo store.Position) {
	u.mu.Lock()
	defer u.mu.Unlock()
	done := 0
	for done < len(u.commits) && !u.commits[done].at.After(upTo) {
		u.N.Add(-u.commits[done].n)
		done++
	}
	u.commits = u.commits[:copy(u.commits, u.commits[done:])]
}

// GoOn reports, once, that messages may leave again.
func (u *Unsettled) GoOn() bool {
	return u.halted.Load() && u.N.Load() < maxUnsettled && u.halted.Swap(false)
}
