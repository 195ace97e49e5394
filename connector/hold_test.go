package connector

import (
	"testing"
	"time"
)

// O17: while a connector is held nothing leaves, and its messages move as where it is down. What
// is under way gets its answers, and the hold ends by its time.
func TestHold(t *testing.T) {
	d := newDesk(t, "window: 2, failover_after: 1s")
	d.connect()
	d.submit("acme", 3, nil)
	d.want("the window is full", 2, 0, 0)
	until := d.now + int64(time.Minute)
	d.Connector.SetHold(&Hold{Since: d.now, Until: until})
	if d.Up() {
		t.Error("a held connector is up")
	}
	d.answer(0)
	d.answer(0)
	d.want("it is held", 0, 0, until)
	d.now = until - 1
	d.Tick(d.now)
	d.want("it is still held", 0, 0, until)
	if d.Connector.Hold() == nil || d.holdsOver != 0 {
		t.Error("the hold has ended early")
	}
	d.now = until
	d.want("the hold is over", 1, 0, 0)
	if d.Connector.Hold() != nil || !d.Up() || d.holdsOver != 1 {
		t.Errorf("held %v, up %t, told %d times", d.Connector.Hold(), d.Up(), d.holdsOver)
	}
	d.answer(0)
	d.wantEmpty()
}
