package keep

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pmg/store"
)

// Unsettled is the messages that have ended since the last commit. A power cut would bring them back, so there may not be any
// number of them while a disk hangs.
type Unsettled struct {
	// N is how many there are.
	N       atomic.Int64
	watched store.Log   // set before the engine starts; nil: no other node has it
	failed  atomic.Bool // the store takes nothing any more
	halted  atomic.Bool // messages have been kept from leaving because there were too many, or a commit was late

	// count is that of the batch with the highest position in which one has ended, last.
	count, last atomic.Uint64

	mu     sync.Mutex
	before []unsettledIn // of earlier batches whose commits have not ended
}

// An unsettledIn is how many messages a commit makes the store forget.
type unsettledIn struct{ position, count uint64 }

// maxUnsettled is how many there are when no more may leave.
const maxUnsettled = 1 << 15

// Add counts a message that the store forgets with a commit. It is called while that is written, and so before it ends.
func (u *Unsettled) Add(at store.Position) {
	u.N.Add(1)
	if at.Token() != u.last.Load() {
		u.begin(at.Token())
	}
	u.count.Add(1)
}

// begin begins to count those of a batch. The committer's lock is held.
func (u *Unsettled) begin(position uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if n := u.count.Swap(0); n > 0 {
		u.before = append(u.before, unsettledIn{u.last.Load(), n})
	}
	u.last.Store(position)
}

// lateCommit is how long a commit may take until no more messages leave. The servers of a cluster commit in some milliseconds,
// and a disk that is busy delays that by some hundred. What takes longer is an election, which lasts for seconds.
const lateCommit = int64(500 * time.Millisecond)

// Watch makes a commit that is late halt what leaves, where other nodes have the journal: if this one ends before the commit, the
// next one sends again what has ended meanwhile. It is called before an engine starts.
func (u *Unsettled) Watch(j store.Log) { u.watched = j }

// Full reports whether no more messages may leave.
func (u *Unsettled) Full(now int64) bool {
	if !u.isLate(now) {
		return u.isFull()
	}
	u.halted.Store(true)
	return u.isLate(now) // a commit that ended meanwhile may not have seen halted
}

// isLate reports whether the commit under way takes too long.
func (u *Unsettled) isLate(now int64) bool {
	if u.watched == nil {
		return false
	}
	since := u.watched.Since()
	return since != 0 && now-since > lateCommit
}

// isFull reports whether there are too many for more to leave.
func (u *Unsettled) isFull() bool {
	if u.failed.Load() {
		return true // the next start would send again what is sent now
	}
	if u.N.Load() < maxUnsettled {
		return false
	}
	u.halted.Store(true)
	return u.N.Load() >= maxUnsettled // a commit that ended meanwhile may not have seen halted
}

// committed records that the commit of a position has ended. What a failed one leaves is in the next.
func (u *Unsettled) committed(at store.Position, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := uint64(0)
	if u.last.Load() <= at.Token() {
		n = u.count.Swap(0)
	}
	u.before = slices.DeleteFunc(u.before, func(one unsettledIn) bool {
		if one.position <= at.Token() {
			n += one.count
		}
		return one.position <= at.Token()
	})
	if err == nil {
		u.N.Add(-int64(n))
	} else if n > 0 {
		u.before = append(u.before, unsettledIn{at.Token() + 1, n})
	}
}

// GoOn reports, once, that messages may leave again.
func (u *Unsettled) GoOn() bool {
	return u.halted.Load() && u.N.Load() < maxUnsettled && u.halted.Swap(false)
}
