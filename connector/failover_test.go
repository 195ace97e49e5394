package connector

import (
	"testing"

	"pmg/sms"
)

// A message that another lane takes is counted there, and in no other, before it is pushed and
// afterwards. A late answer does not find it.
func TestHandOver(t *testing.T) {
	t.Parallel()
	d, to := twoDesks(t, "instances: 1, window: 10")
	link := d.connect()
	d.submit("a", 3, nil)
	d.send()
	d.failover = to.Lane
	id := d.under[0].Message.ID
	d.answer(sms.Timeout)
	d.answer(sms.QueueFull)
	d.failover = nil
	d.answer(sms.OK)
	if d.Queued.Load() != 1 || to.Queued.Load() != 2 || !d.HasHanded() || d.Queues.Len() != 0 || to.Queues.Len() != 0 {
		t.Errorf("%d and %d places, %t, %d and %d wait", d.Queued.Load(), to.Queued.Load(), d.HasHanded(), d.Queues.Len(), to.Queues.Len())
	}
	d.HandOver(func(s *Share, m *sms.Message) { s.Lane.Queues.Push(d.now, s, m) })
	if d.HasHanded() || to.Queues.Len() != 2 || d.Stats.FailedOver.Load() != 2 || d.Stats.Retried.Load() != 0 {
		t.Errorf("%t, %d wait, %d have failed over", d.HasHanded(), to.Queues.Len(), d.Stats.FailedOver.Load())
	}
	if len(d.tried) != 2 {
		t.Errorf("%v were tried", d.tried)
	}
	d.AnsweredLate(link, Unanswered{ID: id}, sms.Answer{Code: sms.OK})
	if n, _, _ := to.send(); n != 2 {
		t.Fatalf("%d are sent", n)
	}
	to.answer(sms.OK)
	to.answer(sms.OK)
	to.Publish()
	d.wantEmptyBut(to)
	to.wantEmpty()
}
