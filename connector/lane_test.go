package connector

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"pmg/sms"
)

// As many sessions are opened on demand as the waiting messages can use. Each gets its window
// of messages, and the others wait.
func TestLaneOnDemand(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 4, window: 10, static: false")
	d.want("nothing waits", 0, 0, 0)
	d.submit("a", 11, nil)
	d.want("eleven messages", 0, 2, 0)
	d.want("that will do", 0, 0, 0)
	d.connect()
	d.want("a window", 10, 0, 0)
	d.submit("a", 30, nil)
	d.want("more wait than those under way can take", 0, 2, 0)
	d.connect()
	d.want("another window", 10, 0, 0)
	d.answer(sms.OK)
	d.want("a slot is free", 1, 0, 0)
	d.Publish()
	if q, s := d.Queued.Load(), d.Stats.Sent.Load(); q != 40 || s != 1 {
		t.Errorf("%d queued, %d sent", q, s)
	}
}

// Static sessions are opened immediately, and again when they are lost. Sessions on demand
// are opened only when a message is due.
func TestLaneClosed(t *testing.T) {
	t.Parallel()
	for _, static := range []bool{true, false} {
		d := newDesk(t, fmt.Sprintf("instances: 2, window: 10, static: %t", static))
		if static != (len(d.dialed) == 2) {
			t.Errorf("static %t: %d dials at the start", static, len(d.dialed))
		}
		d.submit("a", 1, nil)
		d.submit("a", 100, func(m *sms.Message) { m.DeliverAt = d.now + 3600*second })
		if d.send(); len(d.dialed) != map[bool]int{true: 2, false: 1}[static] {
			t.Errorf("static %t: %d dials for one message that is due", static, len(d.dialed))
		}
		l := d.connect()
		d.send()
		d.answer(sms.OK)
		d.Window.Over(&l.Outlet)
		if dial := d.Window.Closed(d.now, l); dial != static || l.Instance.Link() != nil {
			t.Errorf("static %t: dial %t", static, dial)
		}
		if d.Window.Online() != 0 {
			t.Errorf("%d online", d.Window.Online())
		}
	}
}

// F16, F19: while the gateway stops, a lost session is connected again if accepted messages
// are left, even if they are still on their way to the lane. It is not connected for
// messages that wait for their time.
func TestLaneClosedDraining(t *testing.T) {
	t.Parallel()
	for _, static := range []bool{true, false} {
		d := newDesk(t, fmt.Sprintf("instances: 1, static: %t", static))
		d.submit("a", 1, nil)
		d.send()
		l := d.connect()
		d.send()
		d.submit("a", 1, func(m *sms.Message) { m.DeliverAt = d.now + 3600*second })
		d.draining = true
		s, m := d.accept("a", nil) // on its way
		d.answer(sms.OK)
		d.Window.Over(&l.Outlet)
		if d.Window.Closed(d.now, l) {
			d.dialed = append(d.dialed, l.Instance)
		}
		d.Queues.Push(d.now, s, m)
		d.send()
		if len(d.dialed) != 1 {
			t.Fatalf("static %t: %d dials, a message on its way here stays behind", static, len(d.dialed))
		}
		l = d.connect()
		d.send()
		d.answer(sms.OK)
		d.Window.Over(&l.Outlet)
		if d.Window.Closed(d.now, l) {
			t.Errorf("static %t: connected again for a scheduled message", static)
		}
		if _, dials, _ := d.send(); dials != 0 {
			t.Errorf("static %t: %d dials", static, dials)
		}
	}
}

// A5: while the gateway stops and has a store, no session is connected, whatever waits, and an
// instance that was being connected is taken back.
func TestLaneClosedDrainingStore(t *testing.T) {
	t.Parallel()
	for _, static := range []bool{true, false} {
		d := newDesk(t, fmt.Sprintf("instances: 2, static: %t", static))
		d.addDisk(1 << 40)
		d.submit("a", 40, nil)
		d.send()
		l := d.connect()
		second := d.dialed[0]
		d.send()
		d.draining, d.halted = true, true
		d.Window.Over(&l.Outlet)
		if d.Window.Closed(d.now, l) {
			t.Errorf("static %t: connected again for messages that are stored", static)
		}
		if d.Window.Park(second) {
			t.Errorf("static %t: an instance that was being connected is connected", static)
		}
	}
}

// The messages of a session that is over return to the queue, and leave again in their old
// order.
func TestLaneOver(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 2, window: 3, static: true")
	d.submit("a", 6, nil)
	first := d.connect()
	d.want("a window", 3, 0, 0)
	d.Window.Over(&first.Outlet)
	for range 3 {
		d.answer(sms.Lost)
	}
	d.connect()
	var last uint64
	for range 6 {
		if d.send(); len(d.under) == 0 {
			t.Fatal("nothing leaves")
		}
		if id := d.under[0].Message.ID; id <= last {
			t.Errorf("message %d leaves behind %d", id, last)
		} else {
			last = id
		}
		d.answer(sms.OK)
	}
	if d.wantEmpty(); d.Stats.Retried.Load() != 3 || len(d.tried) != 3 || len(d.blamed) > 0 {
		t.Errorf("%d retried, %v tried, %v blamed", d.Stats.Retried.Load(), d.tried, d.blamed)
	}
}

// Each code of an answer has its consequence for the message and the lane.
func TestLaneAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "window: 2, static: true")
	d.fail = true
	d.connect()
	d.submit("a", 1, nil)
	d.want("sent", 1, 0, 0)
	d.answer(sms.Throttled)
	d.want("paused", 0, 0, d.now+2*second)
	d.now += 2 * second
	d.want("again after the pause", 1, 0, 0)
	d.answer(sms.TemporaryFailure)
	d.want("to be retried", 0, 0, d.now+5*second)
	d.submit("a", 1, nil)
	d.want("no other message waits for that", 1, 0, d.now+5*second)
	d.answer(sms.Timeout)
	d.now += 5 * second
	d.want("retried", 1, 0, 0)
	d.answer(sms.Rejected)
	d.want("given up", 0, 0, 0)
	d.wantEmpty()
	if !slices.Equal(d.ended, []sms.Code{sms.Timeout, sms.Rejected}) || d.Stats.Failed.Load() != 2 {
		t.Errorf("ended %v, %d failed", d.ended, d.Stats.Failed.Load())
	}
}

// The lane keeps its rate, and a change of the rate takes effect.
func TestLaneRate(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "window: 100, static: true, rate: 10")
	d.connect()
	d.submit("a", 20, nil)
	d.want("one", 1, 0, d.now+second/10)
	d.now += second / 10
	d.want("another", 1, 0, d.now+second/10)
	cfg := *d.Config()
	cfg.Rate = 0
	d.Connector.SetConfig(&cfg)
	d.want("without limit", 18, 0, 0)
}

// A lane that is removed is gone when all its messages are sent, including those on their
// way to the queue and those that wait for room in it.
func TestLaneLeaves(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "window: 5, static: true")
	l := d.connect()
	gone := func(why string, want bool) {
		t.Helper()
		if got := d.Publish(); got != want {
			t.Errorf("%s: gone %t, want %t", why, got, want)
		}
	}
	d.submit("a", 1, nil)
	d.send()
	d.Leave()
	gone("one is under way", false)
	s, m := d.accept("a", nil) // by the builder
	d.answer(sms.OK)
	gone("one is on its way here", false)
	d.Queues.Push(d.now, s, m)
	s.WaitForRoom(1)
	d.send()
	d.answer(sms.OK)
	gone("one waits for room", false)
	s.WaitForRoom(-1)
	gone("all is sent", true)
	gone("told before", false)
	d.Window.Over(&l.Outlet)
	if d.Window.Closed(d.now, l) {
		t.Error("it dials, but is gone")
	}
}

// H13: shares take turns, so that many urgent messages of one account do not delay a normal
// message of another.
func TestLaneTurns(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "window: 1, static: true")
	d.connect()
	d.submit("flood", 1000, func(m *sms.Message) { m.Priority = 255 })
	d.submit("plain", 3, nil)
	d.submit("other", 1, nil)
	var order []string
	for range 8 {
		if m, _, _ := d.send(); m != 1 {
			t.Fatalf("%d messages leave", m)
		}
		order = append(order, d.under[0].Message.Origin.Account)
		d.submit("flood", 2, func(m *sms.Message) { m.Priority = 255 })
		d.answer(sms.OK)
	}
	if want := []string{"flood", "plain", "other", "flood", "plain", "flood", "plain", "flood"}; !slices.Equal(order, want) {
		t.Errorf("leave %q, want %q", order, want)
	}
}

// An account takes at most its percent of the room that the others leave free. A full queue
// has no room for any account.
func TestShareRoom(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "max_queue: 100")
	a, b := d.share("a"), d.share("b")
	a.SetPercent(50)
	b.SetPercent(50)
	want := func(why string, wantA, wantB int64) {
		t.Helper()
		if a.Room() != wantA || b.Room() != wantB {
			t.Errorf("%s: room %d and %d, want %d and %d", why, a.Room(), b.Room(), wantA, wantB)
		}
	}
	want("empty", 50, 50)
	a.add(50)
	want("a has its half", 0, 25)
	b.add(25)
	want("b has half of the rest", -13, 0)
	b.SetPercent(100)
	want("b may take all", -13, 25)
	b.add(25)
	want("full", -25, 0)
	a.add(-50)
	b.add(-50)
	want("empty again", 50, 100)
	if d.Queued.Load() != 0 {
		t.Errorf("%d queued", d.Queued.Load())
	}
}

// A lane that is up is likely to send messages soon. A connector that connects on demand is
// up until a connection fails.
func TestLaneUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "static: false")
	want := func(why string, want bool) {
		t.Helper()
		if d.Up() != want {
			t.Errorf("%s: up %t", why, d.Up())
		}
	}
	want("nothing tried", true)
	d.Stats.Failing.Store(1)
	want("failed", false)
	d.submit("a", 1, nil)
	d.send()
	l := d.connect()
	want("one is there", true)
	d.Connector.Removed.Store(true)
	want("removed", false)
	d.Connector.Removed.Store(false)
	d.Window.LoggingOut(&l.Outlet)
	if d.Window.Online() != 0 || d.Connector.Online() != 0 {
		t.Errorf("%d and %d online", d.Window.Online(), d.Connector.Online())
	}
}

// F9, F12: a session that logs out is given no more messages. Quiet is called for it once,
// when its last request has its outcome, and not if the session has ended before.
func TestQuiet(t *testing.T) {
	t.Parallel()
	quiet := func(d *desk) int {
		d.hand.quiets = 0
		d.Window.Quiet(d.now)
		return d.hand.quiets
	}
	d := newDesk(t, "instances: 1, static: true, window: 3")
	l := d.connect()
	d.submit("a", 5, nil)
	d.send()
	d.Window.LoggingOut(&l.Outlet)
	for left := 3; left > 0; left-- {
		if quiet(d) != 0 {
			t.Errorf("quiet with %d requests under way", left)
		}
		d.answer([]sms.Code{sms.OK, sms.Timeout, sms.Rejected}[left-1])
	}
	if quiet(d) != 1 || quiet(d) != 0 {
		t.Error("not quiet once")
	}
	d.want("no more messages", 0, 0, 0)
	d.Window.LoggingOut(&l.Outlet) // without any under way
	if quiet(d) != 1 {
		t.Error("not quiet, but nothing is under way")
	}
	d.lose(l)

	l = d.connect()
	d.send()
	d.Window.LoggingOut(&l.Outlet)
	d.lose(l)
	if quiet(d) != 0 {
		t.Error("a session that has ended is quiet")
	}
}

// F4: the messages of a client account are balanced over its sessions. They wait while it
// has none, but a lane that is removed does not wait for them.
func TestLaneOfAccount(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "window: 5")
	c := d.Connector
	d.Lane = NewLane(c, "client", d.clerk.policy())
	d.submit("", 6, nil)
	if d.want("nobody is there", 0, 0, 0); d.Up() {
		t.Error("up without a session")
	}
	var links [2]*Link
	for i := range links {
		links[i] = &Link{}
		links[i].Open(&Instance{Connector: c, Number: i + 1}, netip.AddrPort{}, d.now, nil)
		d.Window.Bound(links[i], true)
	}
	d.want("two sessions", 6, 0, 0)
	for _, l := range links {
		if l.used != 3 {
			t.Errorf("session %d is given %d of 6 messages", l.Instance.Number, l.used)
		}
	}
	if d.Window.Online() != 2 || c.Online() != 2 || !d.Up() {
		t.Errorf("%d and %d online", d.Window.Online(), c.Online())
	}
	d.Leave()
	for _, l := range links {
		if d.Publish() {
			t.Error("gone with messages under way")
		}
		d.Window.Over(&l.Outlet)
	}
	for len(d.under) > 0 {
		d.answer(sms.Lost)
	}
	if !d.Publish() || d.Queues.Len() != 6 {
		t.Errorf("not gone though the client is, %d messages wait", d.Queues.Len())
	}
}
