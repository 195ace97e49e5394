package connector

import (
	"testing"

	"pmg/sms"
)

// Queues need no session: shares take turns, a share whose queue is empty has none, and what waits for its time has none
// until then.
func TestQueues(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	q := &d.Queues
	if q.ready(d.now) || q.Len() != 0 {
		t.Error("a message waits at first")
	}
	one, two := d.share("one"), d.share("two")
	later := d.now + 5
	for id, s := range []*Share{one, one, one, two} {
		m := &sms.Message{ID: uint64(id + 1), Arrived: d.now, Origin: s.Origin}
		if id == 2 {
			m.DeliverAt = later
		}
		s.Enter(m, d.now)
		q.Push(d.now, s, m)
	}
	for _, want := range []uint64{1, 4, 2} {
		if !q.ready(d.now) {
			t.Fatal("no share has a turn")
		}
		if _, m, _ := q.pop(d.now); m == nil || m.ID != want {
			t.Fatalf("%v comes, not message %d", m, want)
		}
	}
	if q.ready(later-1) || q.Len() != 1 || q.nextDue != later {
		t.Errorf("before its time: %d wait, the next until %d", q.Len(), q.nextDue)
	}
	if !q.ready(later) {
		t.Fatal("its time has come")
	}
	if s, m, _ := q.pop(later); s != one || m.ID != 3 || q.Len() != 0 {
		t.Errorf("message %d comes, %d wait", m.ID, q.Len())
	}
}
