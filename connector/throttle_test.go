package connector

import (
	"testing"
	"time"
)

// A throttle needs neither messages nor sessions: it waits for its rate and for the end of a pause, whichever is later.
func TestThrottle(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "rate: 10")
	tr := &d.Throttle
	if wait := tr.wait(d.now); wait > 0 {
		t.Errorf("at first: %d ns to wait", wait)
	}
	tr.limiter.Reserve(d.now)
	if wait := tr.wait(d.now); wait != int64(100*time.Millisecond) {
		t.Errorf("behind a message: %d ns to wait", wait)
	}
	tr.Pause(d.now + int64(time.Minute))
	tr.Pause(d.now + int64(time.Second)) // a shorter one ends no longer one
	if wait := tr.wait(d.now); wait != int64(time.Minute) {
		t.Errorf("during a pause: %d ns to wait", wait)
	}
	d.now += int64(time.Minute)
	if wait := tr.wait(d.now); wait > 0 {
		t.Errorf("behind the pause: %d ns to wait", wait)
	}
	if held, _ := tr.holds(d.now); held {
		t.Error("nobody holds it")
	}
	d.Connector.SetHold(&Hold{Since: d.now})
	if held, until := tr.holds(d.now); !held || until != 0 {
		t.Errorf("held %t, until %d", held, until)
	}
}
