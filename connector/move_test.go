package connector

import (
	"fmt"
	"testing"

	"pmg/sms"
)

// twoDesks returns two out connectors. The second is up, and messages move from the first to
// the second.
func twoDesks(t testing.TB, more string) (from, to *desk) {
	from, to = newDesk(t, "static: true, "+more), newDesk(t, "static: true, window: 10000")
	from.elsewhere, from.others, to.others = to.Lane, true, true
	to.used, to.memory = from.used, from.used
	to.connect()
	return from, to
}

// move moves all messages that must move, and returns their number.
func (d *desk) move(to *desk) (n int) { return d.moveParts(to, func() {}) }

// moveParts calls after after each part.
func (d *desk) moveParts(to *desk, after func()) (n int) {
	for more := true; more; {
		more = d.Move(d.now, func(s *Share, m *sms.Message) {
			if s.Lane != to.Lane {
				d.t.Error("a message moves to a share of another lane")
			}
			to.Queues.Push(d.now, s, m)
			n++
		})
		after()
	}
	to.now = d.now
	return n
}

// wait advances the time by a number of seconds.
func (d *desk) wait(seconds int64) {
	d.Tick(d.now)
	d.now += seconds * second
	d.Tick(d.now)
}

// U3: messages that are queued for a lane which has been down for failover_after go to
// another in their order, with everything that is counted about them.
func TestMove(t *testing.T) {
	t.Parallel()
	d, to := twoDesks(t, "instances: 1, window: 10, failover_after: 30s")
	const many = 3 * moveAtATime
	l := d.connect()
	d.submit("a", many, nil)
	d.submit("b", 10, func(m *sms.Message) { m.Priority = uint8(m.ID % 3) })
	d.submit("c", 5, func(m *sms.Message) { m.DeliverAt = d.now + 3600*second })
	d.send()
	d.lose(l) // the messages under way return to the queue
	queued, used := d.Queued.Load(), d.used.Used()
	d.wait(29)
	if d.move(to) != 0 {
		t.Fatal("messages move before their time")
	}
	d.wait(1)
	if n := d.move(to); n != many+10 || d.moved != n || d.Stats.Moved.Load() != int64(n) {
		t.Fatalf("%d messages move, %d noted", n, d.moved)
	}
	if d.Queued.Load() != 0 || to.Queued.Load() != queued || d.used.Used() != used || d.Queues.Len() != 5 || to.Queues.Len() != many+10 {
		t.Errorf("%d and %d messages are counted, %d octets; %d and %d wait", d.Queued.Load(), to.Queued.Load(), d.used.Used(), d.Queues.Len(), to.Queues.Len())
	}
	last := map[string]uint64{}
	for to.send(); len(to.under) > 0; to.answer(sms.OK) {
		m := to.under[0].Message
		key := fmt.Sprint(m.Origin.Account, m.Priority)
		if last[key] >= m.ID {
			t.Fatalf("message %d of %s leaves behind %d", m.ID, key, last[key])
		}
		last[key] = m.ID
	}
	to.wantEmptyBut(d)

	// The scheduled ones follow when their time has come.
	d.wait(3600)
	if n := d.move(to); n != 5 {
		t.Errorf("%d scheduled messages move", n)
	}
	for to.send(); len(to.under) > 0; {
		to.answer(sms.OK)
	}
	to.wantEmpty()
	d.wantEmpty()
}

// wantEmptyBut checks that only messages in the other lane are counted.
func (d *desk) wantEmptyBut(other *desk) {
	d.t.Helper()
	d.Publish()
	if d.Queued.Load() != 0 || d.Queues.Len() != 0 || d.used.Used() != int64(other.Queues.Len())*(&sms.Message{}).Size() {
		d.t.Errorf("%d queued, %d wait, %d octets", d.Queued.Load(), d.Queues.Len(), d.used.Used())
	}
}

// A message that moves keeps its id, attempts and validity. A message that has expired, or
// has its outcome, does not move.
func TestMoveKeeps(t *testing.T) {
	t.Parallel()
	d, to := twoDesks(t, "instances: 1, window: 10")
	l := d.connect()
	d.submit("a", 3, func(m *sms.Message) { m.Expires = d.now + int64(m.ID)*25*second })
	d.send()
	d.answer(sms.TemporaryFailure)
	d.answer(sms.Timeout)
	d.AnsweredLate(l, Unanswered{ID: 2}, sms.Answer{Code: sms.OK})
	d.lose(l)
	d.wait(30) // message 1 has expired, 2 is settled
	if n := d.move(to); n != 1 {
		t.Fatalf("%d messages move", n)
	}
	to.send()
	if m := to.under[0].Message; m.ID != 3 || m.Losses != 1 || m.Expires != start+75*second {
		t.Errorf("message %d, %d losses, expires %d", m.ID, m.Losses, m.Expires)
	}
	to.answer(sms.OK)
	to.wantEmpty()
	d.wantEmpty()
	if d.Stats.Expired.Load() != 1 || d.Stats.Sent.Load() != 1 {
		t.Errorf("%d expired, %d sent", d.Stats.Expired.Load(), d.Stats.Sent.Load())
	}
}

// Messages stay if no other target is up, if their lane is up again, and with failover_after
// 0s. A stopping gateway does not wait for failover_after.
func TestMoveNot(t *testing.T) {
	t.Parallel()
	d, to := twoDesks(t, "instances: 1, window: 1")
	d.submit("a", 10, nil)
	to.lose(firstLink(to.Connector))
	d.wait(3600)
	if d.move(to) != 0 || to.Queued.Load() != 0 {
		t.Error("a message moves to a lane that is down")
	}
	d.draining = true
	if to.connect(); d.move(to) != 0 {
		t.Error("searched again immediately") // for a long backlog that costs time
	}
	d.draining = false
	d.now += second
	l := d.connect()
	if d.move(to) != 0 {
		t.Error("messages move, but the lane has a session")
	}
	d.lose(l)
	d.Tick(d.now)
	if d.move(to) != 0 {
		t.Error("a session that was there does not count")
	}
	cfg := *d.Config()
	cfg.FailoverAfter = 0
	d.Connector.SetConfig(&cfg)
	if d.wait(3600); d.move(to) != 0 {
		t.Error("messages move with failover_after 0s")
	}
	cfg.FailoverAfter = 3600e9
	d.Connector.SetConfig(&cfg)
	d.connect()
	d.lose(firstLink(d.Connector))
	d.draining = true
	if d.wait(1); d.move(to) != 10 {
		t.Error("a gateway that stops leaves messages where they are")
	}
}

func firstLink(c *Connector) (first *Link) {
	c.Links(func(l *Link) { first = l })
	return first
}

// Messages that cannot move do not delay others that can, however many they are. The search
// of a long backlog without a result is done in parts.
func TestMoveSome(t *testing.T) {
	t.Parallel()
	d, to := twoDesks(t, "instances: 1")
	const stay = 5 * moveAtATime
	d.stays = func(m *sms.Message) bool { return m.ID <= stay }
	d.submit("a", stay+10, nil)
	d.submit("b", 10, nil)
	d.wait(30)
	n := 0
	for range 2 * stay / moveAtATime {
		before := d.asked
		n += d.move(to)
		if d.asked-before > 2*moveAtATime {
			t.Errorf("%d messages were searched in one call", d.asked-before)
		}
		d.now += longestRest
	}
	if n != 20 || d.Queues.Len() != stay || d.Queued.Load() != stay {
		t.Errorf("%d messages move, %d stay", n, d.Queues.Len())
	}
	d.connect()
	if m, _, _ := d.send(); m != 10 || d.under[0].Message.ID != 1 {
		t.Errorf("%d messages leave", m)
	}
}

// A target that comes up while a long backlog is searched gets the backlog in order.
func TestMoveInOrder(t *testing.T) {
	t.Parallel()
	for parts := range 4 {
		d, to := twoDesks(t, "instances: 1")
		d.submit("a", 3*moveAtATime, nil)
		l := firstLink(to.Connector)
		to.lose(l)
		d.wait(30)
		for range parts {
			d.move(to)
			d.now += longestRest
		}
		to.connect()
		if n := d.moveParts(to, func() { to.send() }); n != 3*moveAtATime {
			t.Errorf("%d messages move after %d parts in vain", n, parts)
		}
		last := uint64(0)
		for to.send(); len(to.under) > 0; to.answer(sms.OK) {
			if id := to.under[0].Message.ID; id < last {
				t.Fatalf("message %d leaves behind %d", id, last)
			} else {
				last = id
			}
		}
	}
}

// A leaving lane sends the messages that are due. Its scheduled messages move to another
// lane, or end if they have no route. Then it is gone, and later messages do not stay in it.
func TestMoveLeaving(t *testing.T) {
	t.Parallel()
	for _, routed := range []bool{true, false} {
		d, to := twoDesks(t, "instances: 1, window: 10")
		to.lose(firstLink(to.Connector)) // it need not be up
		if !routed {
			d.elsewhere = nil
		}
		l := d.connect()
		d.submit("a", 5, func(m *sms.Message) { m.DeliverAt = d.now + 3600*second })
		d.submit("a", 1, nil)
		d.send()
		d.Leave()
		if d.Publish() {
			t.Fatal("gone with a message under way")
		}
		d.answer(sms.OK)
		if d.Publish() {
			t.Fatal("gone with scheduled messages")
		}
		late := func() { d.move(to); d.submit("a", 1, nil) }
		if late(); !d.Publish() {
			d.send() // it came before the lane was gone
			d.answer(sms.OK)
			if !d.Publish() {
				t.Fatal("not gone")
			}
		}
		d.lose(l)
		d.submit("a", 2, nil) // after it was gone
		d.now += 2 * second
		moved := d.move(to)
		if want := map[bool]int{true: 2, false: 0}[routed]; moved != want || d.Queues.Len() != 0 {
			t.Errorf("routed %t: %d messages move after the end, %d stay", routed, moved, d.Queues.Len())
		}
		if want := map[bool]int{true: 0, false: 7}[routed]; len(d.ended) != want || d.Stats.Failed.Load() != int64(want) {
			t.Errorf("routed %t: %d messages end, want %d", routed, len(d.ended), want)
		}
		if routed {
			to.connect()
			to.now += 3600 * second
			for to.send(); len(to.under) > 0; {
				to.answer(sms.OK)
			}
			if n := to.Stats.Sent.Load() + to.tally.sent; n != 7 {
				t.Errorf("%d messages leave by the other lane", n)
			}
			to.wantEmpty()
		}
		d.wantEmpty()
	}
}

// All messages of an account's lane move if it leaves while the account has no session.
func TestMoveHopeless(t *testing.T) {
	t.Parallel()
	d, to := twoDesks(t, "instances: 1")
	d.Lane = NewLane(d.Connector, "client", d.clerk.policy())
	d.submit("", 6, nil)
	d.Leave()
	d.Publish()
	if n := d.move(to); n != 6 || d.Queues.Len() != 0 || to.Queues.Len() != 6 {
		t.Errorf("%d messages move, %d stay", n, d.Queues.Len())
	}
}

// Suspects move as well, and stay suspects in the other lane.
func TestMoveSuspects(t *testing.T) {
	t.Parallel()
	d, l := suspected(t, "instances: 2, static: true, window: 3")
	other := d.connect()
	to := newDesk(t, "static: true, window: 10")
	to.used, to.memory = d.used, d.used
	d.elsewhere, d.others, to.others = to.Lane, true, true
	to.connect()
	d.send() // one is sent alone, the other waits
	d.lose(l)
	d.lose(other)
	if len(d.Queues.suspects) == 0 {
		t.Fatal("no suspect waits")
	}
	d.wait(40)
	if n := d.move(to); n != 2 || d.Queues.Len() != 0 {
		t.Errorf("%d messages move", n)
	}
	for to.send(); len(to.under) > 0; to.send() {
		if len(to.under) != 1 {
			t.Error("suspects are not sent alone")
		}
		to.answer(sms.OK)
	}
	to.wantEmpty()
	d.wantEmpty()
}

// A message that has expired, or that has ended while it waited, must not be sent any more.
func TestIsEnded(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "static: true")
	for _, c := range []struct {
		flags   sms.Flags
		expires int64
		want    bool
	}{{0, 0, false}, {0, 9, true}, {0, 10, false}, {0, 11, false}, {sms.Settled, 0, true}, {sms.Settled, 11, true}, {sms.Scheduled, 11, false}} {
		if got := d.isEnded(10, &sms.Message{Flags: c.flags, Expires: c.expires}); got != c.want {
			t.Errorf("%b, expires at %d: %t", c.flags, c.expires, got)
		}
	}
}
