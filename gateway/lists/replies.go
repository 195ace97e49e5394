package lists

import (
	"sync"
	"time"
)

const (
	replyPause  = int64(time.Minute) // between replies to a number for words of the same kind
	mostReplies = 10_000             // to different numbers in that time
)

// replies limits the replies to mobiles: gateways, and mobiles that answer by themselves, must not answer each other without an
// end. It is safe for concurrent use.
type replies struct {
	mu     sync.Mutex
	since  int64                  // when latest began
	latest map[replyKey]lastReply // of a minute at most
	before map[replyKey]lastReply // of the minute before that
}

type replyKey struct {
	number string
	stop   bool // to a word of stop; false: of start
}

type lastReply struct {
	at  int64
	due bool // its message was refused, so that it was not sent
}

// claim reports whether a reply may be sent: the list has changed, or it has changed for a message that was refused and
// has come again. From then on there is none to the same number, for a while.
func (r *replies) claim(now int64, k replyKey, changed bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.age(now)
	last, known := r.latest[k]
	if !known {
		last, known = r.before[k]
	}
	switch {
	case known && last.due:
	case !changed, known && now-last.at < replyPause, len(r.latest) >= mostReplies:
		return false
	}
	r.latest[k] = lastReply{at: now}
	return true
}

// giveBack notes that a reply was claimed and not sent.
func (r *replies) giveBack(now int64, k replyKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.age(now)
	if _, known := r.latest[k]; known || len(r.latest) < mostReplies {
		r.latest[k] = lastReply{now, true}
	}
}

// age forgets the replies of long ago. The caller holds the lock.
func (r *replies) age(now int64) {
	if r.latest != nil && now-r.since < replyPause {
		return
	}
	if r.before = r.latest; now-r.since >= 2*replyPause {
		r.before = nil
	}
	r.latest, r.since = map[replyKey]lastReply{}, now
}
