package connector

import "testing"

// U13: instances that are surplus after a reload are returned in each state: parked, being
// connected, or with a session that is over. They are used again when the number rises.
func TestSurplus(t *testing.T) {
	t.Parallel()
	const static, onDemand = "static: true, instances: 3", "static: false, instances: 3"
	used := func(d *desk) int { return len(d.Home().instances.all) - len(d.Home().instances.free) }

	d := newDesk(t, onDemand) // all are parked
	d.Home().SetSockets(1)
	if !d.Home().HasSurplus() || len(d.Window.Attach()) != 0 || used(d) != 1 || d.Home().HasSurplus() {
		t.Errorf("parked: %d instances are left", used(d))
	}
	d.Home().SetSockets(2)
	if d.Window.Attach(); used(d) != 2 {
		t.Errorf("more again: there are %d instances", used(d))
	}

	d = newDesk(t, static) // all are being connected
	d.Home().SetSockets(2)
	if dial := d.Window.Attach(); len(dial) != 0 || !d.Home().HasSurplus() {
		t.Errorf("an instance that is being connected was given back: %v", dial)
	}
	if d.Window.Park(d.dialed[2]) || d.Window.dialing != 2 || d.Home().HasSurplus() {
		t.Errorf("%d instances are being connected", d.Window.dialing)
	}
	if !d.Window.Park(d.dialed[1]) || d.Window.dialing != 2 {
		t.Error("an instance that is needed was given back")
	}
	d.dialed = d.dialed[:2]
	l := d.connect()
	d.Home().SetSockets(1)
	l.LoggedOut = true
	d.Window.Over(&l.Outlet)
	if d.Window.Closed(d.now, l) || d.Home().HasSurplus() || d.Window.dialing != 1 {
		t.Errorf("a session's instance was not given back: %d are being connected", d.Window.dialing)
	}
	d.Home().SetSockets(3)
	if dial := d.Window.Attach(); len(dial) != 2 || d.Window.dialing != 3 {
		t.Errorf("%d instances must be connected, %d are being connected", len(dial), d.Window.dialing)
	}
}

// U13: the window of a session is the one that was configured when it began.
func TestWindowOfASession(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "static: true, instances: 1, window: 2")
	i := d.dialed[0]
	l := &Link{}
	l.Open(i, l.Remote, d.now, nil)
	i.SetLink(l)
	larger := *d.Config()
	larger.Window = 50
	d.Home().SetConfig(&larger)
	l.BoundAt = d.now
	d.Window.Bound(l, true)
	if n := l.unused + len(l.slots); n != 2 {
		t.Errorf("it has %d slots, not 2", n)
	}
}
