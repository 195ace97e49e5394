package connector

import "pmg/sms"

// A tried is a message that came back to its share, and is to be on disk alone when the store
// has it as it is now.
type tried struct {
	share                       *Share
	key                         entry // without the message, which may be gone
	batch                       uint64
	attempts, losses, throttles uint8
}

func triedOf(s *Share, m *sms.Message, batch uint64) tried {
	t := tried{share: s, key: entryOf(m), batch: batch, attempts: m.Attempts, losses: m.Losses, throttles: m.Throttles}
	t.key.message = nil
	return t
}

// pageTried takes the bodies of messages out of memory that were tried, and will not leave soon.
// An SMSC that is bound and refuses whatever it is sent would have all of them in memory.
func (l *Lane) pageTried(now int64) {
	waiting, n := l.paging.tried, 0
	for ; n < len(waiting) && l.policy.IsNoted(waiting[n].batch); n++ {
		l.pageOutTried(now, &waiting[n])
	}
	l.paging.tried = waiting[n:]
	if len(l.paging.tried) == 0 {
		l.paging.tried = nil
	}
}

// pageOutTried does so for one, unless it has left, or was tried again meanwhile.
func (l *Lane) pageOutTried(now int64, t *tried) {
	t.share.queue.change(&t.key, func(e *entry) bool {
		m := e.message
		switch {
		case m == nil, m.Flags&sms.Settled != 0, l.unknown[m.ID] != nil:
			return false
		case m.Attempts != t.attempts || m.Losses != t.losses || m.Throttles != t.throttles:
			return false
		case e.wakes-now < l.paging.limits.after && !l.isLarge(t.share, m):
			return false
		}
		e.scheduled = m.Flags&sms.Scheduled != 0
		l.unload(t.share, e)
		return true
	})
}
