package connector

import (
	"pmg/connector/queue"
	"pmg/sms"
)

// Find calls f for the messages with these ids that wait in the lane, and says of each
// what Remove needs. It looks at every entry, so it is for the few whose times are not
// known, because the wall clock was set since they came.
func (q *Queues) Find(ids map[uint64]bool, f func(s *Share, w queue.Waiting)) {
	q.Shares(func(s *Share) {
		q.EachWaiting(s, func(w queue.Waiting, _ *sms.Message) {
			if ids[w.ID] {
				f(s, w)
			}
		})
	})
}

// EachWaiting calls f for every waiting message of a share: with the argument for Remove, and with
// the message, nil where its body is on disk alone. f must not change the lane.
func (q *Queues) EachWaiting(s *Share, f func(w queue.Waiting, m *sms.Message)) {
	s.queue.Each(func(e *queue.Entry) {
		f(queue.Waiting{ID: e.ID, Priority: e.Priority, Arrived: e.Due, NotBefore: e.Wakes, Expires: e.Expires}, e.Message)
	})
	for _, suspect := range q.suspects {
		if suspect.share == s {
			f(queue.Waiting{ID: suspect.message.ID}, suspect.message)
		}
	}
}

// Return takes back a message that Remove has taken out, and that may have been changed
// since. It stays in memory, because what is being read from disk may be the message as it was.
func (q *Queues) Return(now int64, s *Share, m *sms.Message) {
	s.Enter(m, now)
	s.push(m, now)
}
