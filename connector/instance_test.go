package connector

import (
	"testing"
	"time"

	"pmg/sms"
)

// lives plays a session of an instance: bound after a second, and over after a time.
func lives(d *desk, lived time.Duration, loggedOut bool) (rest time.Duration) {
	l := d.connect()
	d.now += int64(lived)
	l.LoggedOut = loggedOut
	d.lose(l)
	return l.Instance.Wait(d.now)
}

func within(t *testing.T, what string, got, least time.Duration) {
	t.Helper()
	if got < least || got > least*6/5 {
		t.Errorf("%s: the instance rests %v, want %v and a little", what, got, least)
	}
}

// Rests grow to a limit, and differ a little.
func TestRest(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "reconnect_delay: 1s")
	i := d.dialed[0]
	for n, least := range []time.Duration{1, 2, 4, 6, 6, 6} {
		rest := i.Rest(d.now)
		within(t, "failure", rest, least*time.Second)
		if i.Address != n+1 || i.Wait(d.now) != rest || i.Wait(d.now+int64(rest)) != 0 || i.Wait(d.now+int64(rest)+1) != 0 {
			t.Errorf("address %d; of %v it rests %v now", i.Address, rest, i.Wait(d.now))
		}
	}
}

// F13, H7: the rests grow with each session that is lost soon after its login, until one has
// lived long enough. A session that we logged out is no failure.
func TestBackoff(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, static: true, reconnect_delay: 1s")
	within(t, "first", lives(d, 0, false), time.Second)
	within(t, "second", lives(d, 0, false), 2*time.Second)
	within(t, "third, after 5 s", lives(d, 5*time.Second, false), 4*time.Second)
	if n := d.Stats.Failing.Load(); n == 0 {
		t.Error("a session that the peer ends soon does not count as failing")
	}
	if rest := lives(d, 6*time.Second, false); rest != 0 {
		t.Errorf("a session that lived a while is followed by a rest of %v", rest)
	}
	within(t, "first again", lives(d, 0, false), time.Second)
	if rest := lives(d, 0, true); rest != 0 {
		t.Errorf("a session that we logged out is followed by a rest of %v", rest)
	}
	within(t, "not forgotten by that", lives(d, 0, false), 2*time.Second)

	l := d.connect() // this one does not end
	d.now += 7 * second
	d.Tick(d.now)
	if l.Instance.Failures != 0 {
		t.Error("a session that has lived long enough does not clear the failures")
	}
}

// A session that never logged in makes its instance rest, and counts as connecting
// until it is closed.
func TestNeverBound(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, static: false, reconnect_delay: 1s")
	d.submit("a", 1, nil)
	d.send()
	l := &Link{}
	l.Open(d.dialed[0], l.Remote, d.now, nil)
	l.Instance.SetLink(l)
	d.dialed = nil
	d.Tick(d.now + 3600*second)
	d.Window.Over(&l.Outlet)
	if !d.Window.Closed(d.now, l) || d.Window.dialing != 1 {
		t.Errorf("%d instances are being connected", d.Window.dialing)
	}
	within(t, "never bound", l.Instance.Wait(d.now), time.Second)
	d.want("one instance does for what waits", 0, 0, 0)
}

// A connector that connects on demand and has failed is connected even without a message,
// because new messages go elsewhere until it works again. A session that logged in and ended
// soon is no failure, because the peer may end idle sessions.
func TestOnDemandFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, static: false, reconnect_delay: 1s")
	d.submit("a", 1, nil)
	d.send()
	l := d.connect()
	d.send()
	d.answer(sms.OK)
	d.lose(l)
	if len(d.dialed) != 0 || !d.Up() || d.Connector.IsWanted() {
		t.Errorf("%d dials after a session that worked, up %t", len(d.dialed), d.Up())
	}
	d.submit("a", 1, func(m *sms.Message) { m.Expires = d.now + second })
	d.send()
	d.Stats.Failing.Add(1) // as ConnectFailed
	d.now += 2 * second
	d.Tick(d.now)
	if d.Queues.Len() != 0 || d.Up() || !d.Connector.IsWanted() {
		t.Errorf("%d messages wait, up %t, wanted %t", d.Queues.Len(), d.Up(), d.Connector.IsWanted())
	}
	if d.connect(); !d.Up() || d.Connector.IsWanted() {
		t.Error("not up, but it has a session")
	}
}
