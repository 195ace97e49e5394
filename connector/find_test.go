package connector

import (
	"testing"

	"pmg/connector/queue"
	"pmg/sms"
)

// Find says of messages what Remove needs, wherever in the queue they are and whatever
// is known of their times.
func TestFind(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 1, static: true, max_queue: 100")
	d.addDisk(0)
	d.submit("a", 2, nil)
	d.submit("b", 2, func(m *sms.Message) { m.Priority = 3 })
	d.submit("a", 1, func(m *sms.Message) { m.DeliverAt = d.now + 60*second })
	d.submit("b", 1, func(m *sms.Message) { m.DeliverAt, m.Expires = d.now+60*second, d.now+30*second })
	d.restore("a", 2, nil)
	d.restore("b", 1, func(m *sms.Message) { m.DeliverAt = d.now + 60*second })
	d.connect()
	if n, _, _ := d.send(); n != 1 {
		t.Fatalf("%d are under way", n)
	}
	under := d.under[0].Message.ID
	ids := map[uint64]bool{100: true}
	for id := uint64(1); id <= d.lastID; id++ {
		ids[id] = true
	}
	found := map[uint64]int{}
	type place struct {
		share   *Share
		waiting queue.Waiting
	}
	var places []place
	d.Queues.Find(ids, func(s *Share, w queue.Waiting) { places = append(places, place{s, w}) })
	for _, p := range places {
		m, ok := d.Queues.Remove(d.now, p.share, p.waiting)
		if !ok {
			t.Errorf("message %d is found and cannot be removed", p.waiting.ID)
		}
		if m != nil {
			m.Release()
		}
		found[p.waiting.ID]++
	}
	for id := uint64(1); id <= d.lastID; id++ {
		if want := map[bool]int{true: 0, false: 1}[id == under]; found[id] != want {
			t.Errorf("message %d is found %d times", id, found[id])
		}
	}
	if n := d.Queues.Len(); n != 0 || d.Queued.Load() != 1 {
		t.Errorf("%d wait, %d are counted", n, d.Queued.Load())
	}
}
