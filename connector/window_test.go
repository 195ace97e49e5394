package connector

import (
	"testing"

	"pmg/sms"
)

// A window needs no queues: a slot that is taken comes back with the answer, is frozen without one, and an outlet that logs out
// is quiet when the last has come back.
func TestWindow(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	w := &d.Window
	quiet := quietCourier(0)
	o := NewOutlet(d.Connector, &quiet, 2)
	w.Open(o)
	take := func() *Slot {
		t.Helper()
		if front := w.slots.Front(); front == nil || front.Outlet != o {
			t.Fatal("no slot is free")
		}
		w.inFlight++
		return w.slots.Take()
	}
	first, second := take(), take()
	if w.slots.Front() != nil || w.Online() != 1 {
		t.Errorf("a third slot is free, or %d are online", w.Online())
	}
	w.putBack(first, sms.Timeout)
	if w.slots.Front() != nil {
		t.Error("a slot without an answer is free")
	}
	w.putBack(second, sms.OK) // which thaws the other
	first, second = take(), take()
	w.LoggingOut(o)
	w.putBack(first, sms.OK)
	if w.Quiet(d.now); quiet != 0 || w.Online() != 0 {
		t.Errorf("quiet %d times with a request under way, %d online", quiet, w.Online())
	}
	w.putBack(second, sms.OK)
	if w.Quiet(d.now); quiet != 1 || w.inFlight != 0 {
		t.Errorf("quiet %d times, %d in flight", quiet, w.inFlight)
	}
}

// A quietCourier counts how often it is quiet.
type quietCourier int

func (c *quietCourier) Give(int64, *Slot) {}

func (c *quietCourier) Quiet(int64) { *c++ }
