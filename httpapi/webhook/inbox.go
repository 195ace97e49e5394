package webhook

import (
	"pmg/connector"
	"pmg/connector/worker"
	"pmg/sms"
)

// inboxBatch is how many messages a lane gives to an inbox at a time.
const inboxBatch = 100

// deliverToInbox delivers the messages of a lane whose account gets them by its inbox alone.
func deliverToInbox(s *Service, l *connector.Lane) *worker.Worker {
	var w *worker.Worker
	w = worker.New(s.engine, l, worker.Options{
		Group: s.group, Most: 1, Batch: func() int { return inboxBatch }, Log: s.rooms.Node.Log,
		Work: func(slots []*connector.Slot) {
			all := make([]worker.Answer, 0, len(slots))
			for _, slot := range slots {
				code := sms.OK
				if !s.rooms.Inbox.Take(slot.Message, l) { // the account has no inbox any more; a reload may bring it back
					code = sms.TemporaryFailure
				}
				all = append(all, worker.Answer{Slot: slot, Answer: sms.Answer{Code: code}})
			}
			w.Report(all...)
		},
	})
	s.engine.Do(l, func(int64) { w.Open(w, inboxBatch) })
	return w
}
