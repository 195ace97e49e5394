package connector

import (
	"pmg/connector/queue"
	"pmg/sms"
)

// Find calls f for the messages with these ids that wait in the lane, and says of each
// what Remove needs. It looks at every entry, so it is for the few whose times are not
// known, because the wall clock was set since they came.
func (l *Lane) Find(ids map[uint64]bool, f func(s *Share, w queue.Waiting)) {
	l.Shares(func(s *Share) {
		l.EachWaiting(s, func(w queue.Waiting, _ *sms.Message) {
			if ids[w.ID] {
				f(s, w)
			}
		})
	})
}

// EachWaiting calls f for every waiting message of a share: with the argument for Remove, and with
// the message, nil where its body is on disk alone. f must not change the lane.
func (l *Lane) EachWaiting(s *Share, f func(w queue.Waiting, m *sms.Message)) {
	s.queue.Each(func(e *queue.Entry) {
		f(queue.Waiting{ID: e.ID, Priority: e.Priority, Arrived: e.Due, NotBefore: e.Wakes, Expires: e.Expires}, e.Message)
	})
	for _, suspect := range l.suspects.waiting {
		if suspect.share == s {
			f(queue.Waiting{ID: suspect.message.ID}, suspect.message)
		}
	}
}

// EachUnderWay calls f for every message of an out connector's lane that was sent and is not
// answered. f must not change the lane.
func (l *Lane) EachUnderWay(f func(m *sms.Message)) {
	if l.ToClient() {
		return
	}
	l.Home().Links(func(link *Link) {
		for _, slot := range link.slots {
			if slot.Message != nil && slot.Inquiry == nil {
				f(slot.Message)
			}
		}
	})
}

// Return takes back a message that Remove has taken out, and that may have been changed
// since. It stays in memory, because what is being read from disk may be the message as it was.
func (l *Lane) Return(now int64, s *Share, m *sms.Message) {
	s.Enter(m, now)
	s.push(m, now)
}
