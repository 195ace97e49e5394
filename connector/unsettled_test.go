package connector

import (
	"testing"

	"pmg/sms"
)

// Messages that are under way, and those that the store has not forgotten, are together
// at most as many as the windows: so many may be sent twice after a crash.
func TestUnsettled(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 2, window: 3")
	d.connect()
	d.connect()
	d.submit("acme", 20, nil)
	d.batch = 7
	d.want("by two windows of 3", 6, 0, 0)
	for range 4 {
		d.answer(sms.OK)
	}
	d.want("before the store has forgotten any", 0, 0, 0)
	if d.Committed(6) || d.Unsettled() != 4 {
		t.Errorf("%d are unsettled after another batch", d.Unsettled())
	}
	d.batch = 8
	d.answer(sms.OK)
	if !d.Committed(7) || d.Unsettled() != 1 {
		t.Errorf("%d are unsettled after their batch", d.Unsettled())
	}
	d.want("after the commit", 4, 0, 0)
	d.batch = 0
	d.Committed(8)
	d.answer(sms.OK)
	d.want("where no store is to forget", 2, 0, 0)
}

// Nothing leaves a lane when the gateway is stopping and what waits is stored.
func TestHalted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.connect()
	d.submit("acme", 1, nil)
	d.halted = true
	d.want("while it is halted", 0, 0, 0)
	d.halted = false
	d.want("afterwards", 1, 0, 0)
}
