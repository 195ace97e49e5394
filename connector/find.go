package connector

import (
	"pmg/connector/queue"
	"pmg/sms"
)

// Find searches the lane's waiting messages for these ids. It calls f for each message that it
// finds; Remove needs the argument w. It looks at every entry, so it is only for the few messages
// whose times are not known because the wall clock was set after they arrived.
func (q *Queues) Find(ids map[uint64]bool, f func(s *Share, w queue.Waiting)) {
	q.Shares(func(s *Share) {
		q.EachWaiting(s, func(w queue.Waiting, _ *sms.Message) {
			if ids[w.ID] {
				f(s, w)
			}
		})
	})
}

// EachWaiting calls f for every waiting message of a share. w is the argument for Remove. m is nil
// if the body is only on disk. f must not change the lane.
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

// Return puts back a message that Remove took out and that the caller may have changed. The message
// stays in memory, because a read from disk that is under way may return the old state.
func (q *Queues) Return(now int64, s *Share, m *sms.Message) {
	s.Enter(m, now)
	s.push(m, now)
}
