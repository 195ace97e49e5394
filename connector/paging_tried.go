package connector

import (
	"pmg/connector/queue"
	"pmg/sms"
)

// A tried is a message that came back to its share, and will be on disk alone when the store
// has it as it is now.
type tried struct {
	share                       *Share
	key                         queue.Entry // without the message, which may be gone
	batch                       uint64
	attempts, losses, throttles uint8
}

func triedOf(s *Share, m *sms.Message, batch uint64) tried {
	t := tried{share: s, key: queue.EntryOf(m), batch: batch, attempts: m.Attempts, losses: m.Losses, throttles: m.Throttles}
	t.key.Message = nil
	return t
}

// pageTried takes the bodies of messages out of memory that were tried, and will not leave soon.
// An SMSC that is bound and refuses whatever it is sent would have all of them in memory.
func (l *Lane) pageTried(now int64) {
	waiting, n := l.paging.tried, 0
	for ; n < len(waiting) && l.policy.Notes.IsNoted(waiting[n].batch); n++ {
		l.pageOutTried(now, &waiting[n])
	}
	l.paging.tried = waiting[n:]
	if len(l.paging.tried) == 0 {
		l.paging.tried = nil
	}
}

// pageOutTried takes the body of one message out of memory, unless the message has left or was tried
// again meanwhile.
func (l *Lane) pageOutTried(now int64, t *tried) {
	t.share.queue.Change(&t.key, func(e *queue.Entry) bool {
		m := e.Message
		switch {
		case m == nil, m.Flags&sms.Settled != 0, l.unknown[m.ID] != nil:
			return false
		case m.Attempts != t.attempts || m.Losses != t.losses || m.Throttles != t.throttles:
			return false
		case e.Wakes-now < l.paging.limits.after && !l.isLarge(t.share, m):
			return false
		}
		e.Scheduled = m.Flags&sms.Scheduled != 0
		l.unload(t.share, e)
		return true
	})
}
