package keep

import (
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

	// waiting are those whose commits have even and odd positions. There are never more than two: the open batch, and the one
	// that is being committed; what a failed commit leaves is in the next.
	waiting [2]atomic.Int64
}

// maxUnsettled leaves room in the notes for the messages that are under way when no more
// may leave.
const maxUnsettled = store.MaxOutcomes - config.MaxUnderWay

// Add counts a message that the store forgets with a commit. It is called while that is written, and so before it ends.
func (u *Unsettled) Add(at store.Position) {
	u.N.Add(1)
	u.waiting[at.Token()%2].Add(1)
}

// Full reports whether no more messages may leave.
func (u *Unsettled) Full() bool {
	if u.N.Load() < maxUnsettled {
		return false
	}
	u.halted.Store(true)
	return u.N.Load() >= maxUnsettled // a commit that ended meanwhile may not have seen halted
}

// committed notes that the commit of a position has ended.
func (u *Unsettled) committed(at store.Position, err error) {
	n := u.waiting[at.Token()%2].Swap(0)
	if err != nil {
		u.waiting[(at.Token()+1)%2].Add(n)
		return
	}
	u.N.Add(-n)
}

// GoOn reports, once, that messages may leave again.
func (u *Unsettled) GoOn() bool {
	return u.halted.Load() && u.N.Load() < maxUnsettled && u.halted.Swap(false)
}
