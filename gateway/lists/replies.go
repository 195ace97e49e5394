package lists

import (
	"sync"
	"time"
)

const (
	replyPause  = int64(time.Minute) // pause between replies to one number for words of the same kind
	mostReplies = 10_000             // maximum number of different numbers that get replies in that time
)

// replies limits the replies to mobiles: gateways, and mobiles that answer by themselves, must not answer each other without an
// end. It is safe for concurrent use.
type replies struct {
	mu     sync.Mutex
	since  int64                  // when latest began to be filled
	latest map[replyKey]lastReply // replies of the present minute
	before map[replyKey]lastReply // replies of the previous minute
}

type replyKey struct {
	number string
	stop   bool // the word was one of stop; false: one of start
}

type lastReply struct {
	at  int64
	due bool // the reply was not sent, because the mobile's message was refused
}

// claim reports whether a reply may be sent. It may if the message has changed the list, or if an
// earlier copy of the message has changed the list and was refused. For a while no other reply to the
// same number is allowed.
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

// giveBack records that a claimed reply was not sent.
func (r *replies) giveBack(now int64, k replyKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.age(now)
	if _, known := r.latest[k]; known || len(r.latest) < mostReplies {
		r.latest[k] = lastReply{now, true}
	}
}

// age drops old entries. The caller holds the lock.
func (r *replies) age(now int64) {
	if r.latest != nil && now-r.since < replyPause {
		return
	}
	if r.before = r.latest; now-r.since >= 2*replyPause {
		r.before = nil
	}
	r.latest, r.since = map[replyKey]lastReply{}, now
}
