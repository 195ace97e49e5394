package connector

import (
	"testing"

	"pmg/sms"
)

// H8: one message ends every session by which it is sent. It is found and sent alone. The
// other messages are delivered, and the ends of sessions are not counted against them.
func TestSuspects(t *testing.T) {
	t.Parallel()
	for _, window := range []string{"1", "2", "10"} {
		d := newDesk(t, "instances: 1, static: true, window: "+window)
		const poison = 4
		d.submit("a", 30, nil)
		sent, ended, alone := 0, 0, 0
		for range 1000 {
			for len(d.dialed) > 0 {
				d.connect()
			}
			d.send()
			if len(d.under) == 0 {
				break
			}
			bad := -1
			for i, slot := range d.under {
				if slot.Message.ID == poison {
					bad = i
				}
			}
			if bad < 0 {
				for len(d.under) > 0 {
					sent++
					d.answer(sms.OK)
				}
				continue
			}
			ended++
			if len(d.under) == 1 {
				alone++
			}
			if d.lose(d.under[bad].Link); alone == 3 {
				break
			}
		}
		if sent != 29 || d.blamed[poison] != alone || ended-alone > suspectAfter {
			t.Errorf("window %s: %d sent, %d sessions ended under the message, %d times alone, blamed %v", window, sent, ended, alone, d.blamed)
		}
		for id := range d.blamed {
			if id != poison {
				t.Errorf("window %s: message %d is blamed", window, id)
			}
		}
		d.now += 10 * second
		for len(d.dialed) > 0 {
			d.connect()
		}
		if d.send(); len(d.under) != 1 {
			t.Fatalf("window %s: the message does not leave again", window)
		}
		d.answer(sms.Rejected)
		d.wantEmpty()
	}
}

// suspected returns a desk with one suspect, and a session without messages under way.
func suspected(t *testing.T, more string) (d *desk, l *Link) {
	t.Helper()
	d = newDesk(t, more)
	d.submit("a", 1, nil)
	d.submit("a", 1, nil)
	for range suspectAfter {
		l := d.connect()
		d.send()
		d.lose(l)
	}
	return d, d.connect()
}

// The session of a suspect may end, or be logged out, at each point.
func TestSuspectSessionEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*desk, *Link){
		"over":       (*desk).lose,
		"logged out": func(d *desk, l *Link) { d.Window.LoggingOut(&l.Outlet); d.lose(l) },
		"answered after its logout": func(d *desk, l *Link) {
			d.Window.LoggingOut(&l.Outlet)
			for len(d.under) > 0 {
				d.answer(sms.OK)
			}
			d.lose(l)
		},
		"unsent": func(d *desk, l *Link) {
			for len(d.under) > 0 {
				d.Unsent(d.now, d.take(0))
			}
			d.lose(l)
		},
	} {
		for _, when := range []string{"held", "under way"} {
			d, l := suspected(t, "instances: 1, static: true, window: 3")
			if when == "held" { // behind another message
				d.Window.slots.Reserve(&l.Outlet)
				d.Window.suspects.outlets = []*Outlet{&l.Outlet}
			} else {
				d.send()
			}
			end(d, l)
			for n := 0; d.Queues.Len() > 0 || len(d.under) > 0; n++ {
				for len(d.dialed) > 0 {
					d.connect()
				}
				d.now += 10 * second
				for d.send(); len(d.under) > 0; {
					d.answer(sms.OK)
				}
				if n > 100 {
					t.Fatalf("%s, %s: %d messages stay", name, when, d.Queues.Len())
				}
			}
			d.wantEmpty()
		}
	}
}

// A suspect that expires, or whose late answer comes, is not sent, and its session is used
// for other messages again.
func TestSuspectEnds(t *testing.T) {
	t.Parallel()
	d, l := suspected(t, "instances: 2, static: true, window: 2")
	d.connect()
	d.send()
	if len(d.under) != 1 || len(d.Queues.suspects) != 1 {
		t.Fatalf("%d under way, %d suspects wait", len(d.under), len(d.Queues.suspects))
	}
	waits := d.Queues.suspects[0].message
	d.Queues.unknown.remember(timedOut{message: waits, left: waits})
	d.AnsweredLate(l, Unanswered{ID: waits.ID}, sms.Answer{Code: sms.OK, At: d.now})
	d.answer(sms.OK)
	d.want("it was answered", 0, 0, 0)
	d.wantEmpty()

	for _, tick := range []bool{false, true} {
		d, _ = suspected(t, "instances: 2, static: true, window: 2")
		d.connect()
		d.send()
		d.Queues.suspects[0].message.Expires = d.now + 1
		d.now += second
		if tick {
			d.Tick(d.now)
		}
		d.answer(sms.OK)
		d.want("it has expired", 0, 0, 0)
		if d.wantEmpty(); d.Stats.Expired.Load() != 1 {
			t.Errorf("%d expired", d.Stats.Expired.Load())
		}
		d.submit("a", 5, nil)
		d.want("the session is free for others", 4, 0, 0)
	}
}

// While a suspect is not answered in time, the rest of its session's window is used for other
// messages.
func TestSuspectTimeout(t *testing.T) {
	t.Parallel()
	d, _ := suspected(t, "instances: 1, static: true, window: 3")
	d.fail = true
	d.send()
	d.answer(sms.Timeout)
	d.send()
	d.answer(sms.Timeout)
	d.submit("a", 5, nil)
	if d.send(); len(d.under) != 1 {
		t.Errorf("%d leave, want 1: the peer has left two of a window of 3 unanswered", len(d.under))
	}
}

// Suspects are sent by a bound session even while other instances are being connected.
func TestSuspectWhileDialing(t *testing.T) {
	t.Parallel()
	d, _ := suspected(t, "instances: 1, static: true, window: 2")
	other := &Instance{Connector: d.Connector}
	d.Window.slots.Park(other)
	d.send()
	if len(d.under) != 1 || d.under[0].Message.Losses < suspectAfter {
		t.Fatalf("%d messages leave", len(d.under))
	}
	d.answer(sms.OK)
	d.send()
	if len(d.under) != 1 {
		t.Error("the second suspect waits for an instance that is being connected")
	}
}

// Suspects leave in several sessions at the same time, one in each, and one session stays for
// other messages. When the suspects are answered, all sessions are for all messages again.
func TestSuspectsInParallel(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 4, static: true, window: 5")
	sessions := len(d.dialed)
	const many = 8
	d.submit("a", many, nil)
	var links []*Link
	for n := range suspectAfter + 1 {
		links = links[:0]
		for len(d.dialed) > 0 {
			links = append(links, d.connect())
		}
		if n < suspectAfter {
			d.send()
			for _, l := range links {
				d.lose(l)
			}
		}
	}
	for left := many; left > 0; {
		d.send()
		d.submit("b", 1, nil)
		if m, _, _ := d.send(); m != min(sessions-1, 1) {
			t.Errorf("%d others leave beside suspects in %d sessions", m, sessions)
		}
		n, used := 0, map[*Link]int{}
		for _, slot := range d.under {
			used[slot.Link]++
			if slot.Message.Losses >= suspectAfter {
				n++
			}
		}
		if want := min(max(1, sessions-1), left); n != want {
			t.Fatalf("%d suspects are under way in %d sessions, want %d", n, sessions, want)
		}
		for _, slot := range d.under {
			if slot.Message.Losses >= suspectAfter && used[slot.Link] != 1 {
				t.Errorf("a suspect is not alone in its session")
			}
		}
		for len(d.under) > 0 {
			d.answer(sms.OK)
		}
		left -= n
	}
	for d.send(); len(d.under) > 0; d.send() {
		d.answer(sms.OK)
	}
	d.submit("a", 20, nil)
	d.want("all sessions are for all", 20, 0, 0)
	for len(d.under) > 0 {
		d.answer(sms.OK)
	}
	d.wantEmpty()
}
