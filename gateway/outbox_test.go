package gateway

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"pmg/connector"
	"pmg/sms"
)

// A desk is an outbox with its sessions, played by the test.
type desk struct {
	*Outbox
	t      testing.TB
	g      *Gateway
	from   *connector.Connector
	now    int64
	dialed []*connector.Instance
	under  []*connector.Slot // under way
}

func newDesk(t testing.TB, options string) *desk {
	g, from, to := start(t, options)
	d := &desk{Outbox: g.NewOutbox(to), t: t, g: g, from: from, now: now}
	d.dialed = d.Attach()
	return d
}

// connect logs in the instance that was dialed first.
func (d *desk) connect() *connector.Link {
	l := &connector.Link{}
	l.Open(d.dialed[0], netip.AddrPort{}, d.now, nil)
	l.Bound = true
	l.Instance.SetLink(l)
	d.dialed = d.dialed[1:]
	d.Bound(l, true)
	return l
}

// submit adds messages.
func (d *desk) submit(n int) {
	for range n {
		d.Push(d.now, accept(d.g, d.from, d.Connector, d.now))
	}
}

// send lets leave what may, and tells how many messages and dials that were and
// when to look again.
func (d *desk) send() (messages, dials int, again int64) {
	for {
		slot, at := d.Next(d.now)
		switch {
		case slot == nil:
			return messages, dials, at
		case slot.Link == nil:
			dials++
			d.dialed = append(d.dialed, slot.Instance)
		default:
			messages++
			d.under = append(d.under, slot)
		}
	}
}

// answer answers the oldest message that is under way.
func (d *desk) answer(code sms.Code) {
	slot := d.under[0]
	d.under = d.under[1:]
	d.Answered(d.now, slot, code)
}

func (d *desk) want(why string, messages, dials int, again int64) {
	d.t.Helper()
	if m, n, at := d.send(); m != messages || n != dials || at != again {
		d.t.Errorf("%s: %d messages leave, %d dials, again at now+%d; want %d, %d, now+%d", why, m, n, at-d.now, messages, dials, again-d.now)
	}
}

// As many sessions are opened on demand as what waits can use, each is given its
// window, and what cannot leave waits.
func TestOutboxOnDemand(t *testing.T) {
	d := newDesk(t, "instances: 4, window: 10, static: false")
	d.want("nothing waits", 0, 0, 0)
	d.submit(11)
	d.want("eleven messages", 0, 2, 0)
	d.want("that will do", 0, 0, 0)
	d.connect()
	d.want("a window", 10, 0, 0)
	d.submit(30)
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

// Sessions that are kept are opened at once, and again when they are lost; those
// opened on demand only when something waits.
func TestOutboxClosed(t *testing.T) {
	for _, static := range []bool{true, false} {
		d := newDesk(t, fmt.Sprintf("instances: 2, window: 10, static: %t", static))
		if static != (len(d.dialed) == 2) {
			t.Errorf("static %t: %d dials at the start", static, len(d.dialed))
		}
		d.submit(1)
		d.send()
		l := d.connect()
		d.send()
		d.answer(sms.OK)
		d.Over(l)
		if dial, code := d.Closed(l); dial != static || code != sms.OK || l.Instance.Link() != nil {
			t.Errorf("static %t: dial %t, %v", static, dial, code)
		}
		if d.Online() != 0 {
			t.Errorf("%d online", d.Online())
		}
	}
}

// The slots of a session that is over come back with their messages, which leave
// again in their old order.
func TestOutboxOver(t *testing.T) {
	d := newDesk(t, "instances: 2, window: 3, static: true")
	d.submit(6)
	first := d.connect()
	d.want("a window", 3, 0, 0)
	d.Over(first)
	for range 3 {
		d.answer(sms.Timeout)
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
	d.Publish()
	if d.Queued.Load() != 0 || d.Stats.Retried.Load() != 3 {
		t.Errorf("%d queued, %d retried", d.Queued.Load(), d.Stats.Retried.Load())
	}
}

// What an answer leads to.
func TestOutboxAnswers(t *testing.T) {
	d := newDesk(t, "window: 1, static: true, throttle_pause: 2s, retry_delay: 5s, max_attempts: 2, on_unknown: fail")
	d.connect()
	d.submit(1)
	d.want("sent", 1, 0, 0)
	d.answer(sms.Throttled)
	d.want("paused", 0, 0, d.now+2*second)
	d.now += 2 * second
	d.want("again after the pause", 1, 0, 0)
	d.answer(sms.TemporaryFailure)
	d.want("to be retried", 0, 0, d.now+5*second)
	d.submit(1)
	d.want("nobody else waits for that", 1, 0, d.now+5*second)
	d.answer(sms.Timeout)
	d.now += 5 * second
	d.want("retried", 1, 0, 0)
	d.answer(sms.SystemError)
	d.want("given up", 0, 0, 0)
	d.Publish()
	if q, f := d.Queued.Load(), d.Stats.Failed.Load(); q != 0 || f != 2 {
		t.Errorf("%d queued, %d failed, want none and 2", q, f)
	}
}

// A message whose validity ran out does not leave, nor take anybody's place.
func TestOutboxExpired(t *testing.T) {
	d := newDesk(t, "window: 5, static: true")
	d.connect()
	for n := range 4 {
		m := accept(d.g, d.from, d.Connector, d.now)
		m.Expires = d.now + int64(n)*second
		d.Push(d.now, m)
	}
	d.now += second + 1
	d.want("two have expired", 2, 0, 0)
	d.Publish()
	if e := d.Stats.Expired.Load(); e != 2 || d.Queued.Load() != 2 {
		t.Errorf("%d expired, %d queued", e, d.Queued.Load())
	}
}

// The rate is kept, and a change of it too.
func TestOutboxRate(t *testing.T) {
	d := newDesk(t, "window: 100, static: true, rate: 10")
	d.connect()
	d.submit(20)
	d.want("one", 1, 0, d.now+second/10)
	d.now += second / 10
	d.want("another", 1, 0, d.now+second/10)
	cfg := *d.Config()
	cfg.Rate = 0
	d.SetConfig(&cfg)
	d.want("without limit", 18, 0, 0)
}

// A connector that is removed goes when everything it was given is sent: what is
// still on its way to the queue too, and what waits for room in it.
func TestOutboxLeaves(t *testing.T) {
	d := newDesk(t, "window: 5, static: true, max_queue: 3")
	l := d.connect()
	gone := func(why string, want bool) {
		t.Helper()
		if got := d.Publish(); got != want {
			t.Errorf("%s: gone %t, want %t", why, got, want)
		}
	}
	d.submit(1)
	d.send()
	d.Leave()
	gone("one is under way", false)
	m := accept(d.g, d.from, d.Connector, d.now) // by the builder
	d.answer(sms.OK)
	gone("one is on its way here", false)
	d.Push(d.now, m)
	d.Starved.Store(true)
	d.send()
	d.answer(sms.OK)
	gone("one waits for room", false)
	d.Starved.Store(false)
	gone("all is sent", true)
	gone("told before", false)
	d.Over(l)
	if dial, _ := d.Closed(l); dial {
		t.Error("dials though gone")
	}
}

// Whatever happens, a session has no more than its window under way, each message
// is in one place, and what is pushed comes out.
func TestOutboxRandom(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		const instances, window = 3, 4
		d := newDesk(t, fmt.Sprintf("instances: %d, window: %d, static: %t, throttle_pause: 1s, retry_delay: 2s, rate: %d", instances, window, seed%2 == 0, seed%3*100))
		var sessions []*connector.Link
		codes := []sms.Code{sms.OK, sms.OK, sms.Throttled, sms.TemporaryFailure, sms.Timeout, sms.Rejected}
		submitted := 0
		for range 2000 {
			d.now += random.Int64N(second / 10)
			switch random.IntN(6) {
			case 0, 1:
				n := random.IntN(10)
				d.submit(n)
				submitted += n
			case 2:
				if len(d.dialed) > 0 {
					sessions = append(sessions, d.connect())
				}
			case 3:
				if len(sessions) > 0 && random.IntN(5) == 0 {
					i := random.IntN(len(sessions))
					d.lose(sessions[i])
					sessions = append(sessions[:i], sessions[i+1:]...)
				}
			default:
				for n := random.IntN(8); n > 0 && len(d.under) > 0; n-- {
					i := random.IntN(len(d.under))
					d.under[0], d.under[i] = d.under[i], d.under[0]
					d.answer(codes[random.IntN(len(codes))])
				}
			}
			d.send()
			d.check(window)
		}
		d.Publish()
		for n := 0; d.Queued.Load() > 0; n++ {
			for len(d.dialed) > 0 {
				d.connect()
			}
			for len(d.under) > 0 {
				d.answer(sms.OK)
			}
			d.now += second
			d.send()
			if d.Publish(); n > 10_000 {
				t.Fatalf("seed %d: %d messages never leave", seed, d.Queued.Load())
			}
		}
		if n := d.Stats.Sent.Load() + d.Stats.Failed.Load(); n != int64(submitted) {
			t.Errorf("seed %d: %d messages sent or failed of %d", seed, n, submitted)
		}
	}
}

// lose ends a session: its slots go, then its messages come back, then its socket.
func (d *desk) lose(l *connector.Link) {
	d.Over(l)
	kept := d.under[:0]
	for _, slot := range d.under {
		if slot.Link == l {
			d.Answered(d.now, slot, sms.Timeout)
		} else {
			kept = append(kept, slot)
		}
	}
	d.under = kept
	if dial, _ := d.Closed(l); dial {
		d.dialed = append(d.dialed, l.Instance)
	}
}

// check compares what there is with what must be.
func (d *desk) check(window int) {
	d.t.Helper()
	d.Publish()
	used := map[*connector.Link]int{}
	for _, slot := range d.under {
		if used[slot.Link]++; used[slot.Link] > window {
			d.t.Fatalf("%d messages under way in a window of %d", used[slot.Link], window)
		}
	}
	queued, length, under := d.Queued.Load(), d.Stats.QueueLength.Load(), d.Stats.InFlight.Load()
	if queued != length+under || under != int64(len(d.under)) {
		d.t.Fatalf("%d messages, but %d wait and %d (%d) are under way", queued, length, under, len(d.under))
	}
}
