package keep

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pmg/store"
)

// Unsettled counts the messages that have ended since the last commit. After a power cut these
// messages would be sent again, so their number is limited while a disk hangs.
type Unsettled struct {
	// N is the number of messages.
	N       atomic.Int64
	watched store.Log   // the log to watch, set before the engine starts; nil: no other node has the journal
	failed  atomic.Bool // the store accepts nothing any more
	halted  atomic.Bool // messages were kept from leaving, because too many were unsettled or a commit was late

	// count is the number of messages in the latest batch that ends messages. last is the position of
	// this batch.
	count, last atomic.Uint64

	mu     sync.Mutex
	before []unsettledIn // counts of earlier batches whose commits have not ended
}

// An unsettledIn is how many messages a commit makes the store forget.
type unsettledIn struct{ position, count uint64 }

// maxUnsettled is the number of messages at which no more messages may leave.
const maxUnsettled = 1 << 15

// Add counts a message that ended in the batch at a position. It is called while the batch is
// written, and so before its commit ends.
func (u *Unsettled) Add(at store.Position) {
	u.N.Add(1)
	if at.Token() != u.last.Load() {
		u.begin(at.Token())
	}
	u.count.Add(1)
}

// begin begins to count the messages of a batch. The committer's lock is held.
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

// Watch stops messages from leaving while a commit is late. It is for a journal that other nodes have: if this node ends before
// the commit, the next owner sends the messages again that have ended since. Watch is called before an engine starts.
func (u *Unsettled) Watch(j store.Log) { u.watched = j }

// Full reports whether no more messages may leave, because too many are unsettled or a commit is
// late.
func (u *Unsettled) Full(now int64) bool {
	if !u.isLate(now) {
		return u.isFull()
	}
	u.halted.Store(true)
	return u.isLate(now) // checked again, because a commit that ended meanwhile may have missed halted
}

// isLate reports whether the commit under way takes too long.
func (u *Unsettled) isLate(now int64) bool {
	if u.watched == nil {
		return false
	}
	since := u.watched.Since()
	return since != 0 && now-since > lateCommit
}

// isFull reports whether too many messages are unsettled.
func (u *Unsettled) isFull() bool {
	if u.failed.Load() {
		return true // a message that is sent now would be sent again after the next start
	}
	if u.N.Load() < maxUnsettled {
		return false
	}
	u.halted.Store(true)
	return u.N.Load() >= maxUnsettled // checked again, because a commit that ended meanwhile may have missed halted
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

// GoOn reports whether messages may leave again. It returns true once.
func (u *Unsettled) GoOn() bool {
	return u.halted.Load() && u.N.Load() < maxUnsettled && u.halted.Swap(false)
}
