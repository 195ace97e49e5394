package connector

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

// F18, H9, U2: an answer that comes after its request was given up cancels the copy of the
// message, whether that is due, waits for its time or is under way. It is counted once.
func TestAnsweredLate(t *testing.T) {
	t.Parallel()
	for _, code := range []sms.Code{sms.OK, sms.Rejected} {
		for _, where := range []string{"changed", "changed, twice", "changed, under way", "waits", "under way", "under way, then lost", "under way, then not answered", "unsent", "expired"} {
			d := newDesk(t, "instances: 1, static: true, window: 2")
			d.endedAs = []string{}
			changed := strings.HasPrefix(where, "changed")
			if changed {
				d.passage = func(s *Slot) Passage {
					m := d.pool.Copy(s.Message)
					m.SetAddresses(m.Source(), sms.Address{Addr: []byte("99")})
					return Passage{Message: m}
				}
			}
			l := d.connect()
			d.submit("a", 1, func(m *sms.Message) { m.Expires = d.now + 10*second })
			d.send()
			id := d.under[0].Message.ID
			d.answer(sms.Timeout)
			late := func() { d.AnsweredLate(l, Unanswered{ID: id}, sms.Answer{Code: code, At: d.now}) }
			switch where {
			case "changed, twice":
				d.send()
				d.answer(sms.Timeout)
			case "changed, under way":
				d.send()
				late()
				d.answer(sms.OK)
			}
			if where == "waits" || where == "expired" || changed {
				late()
				if where == "expired" {
					d.now += 11 * second
					d.Tick(d.now)
				}
			} else {
				d.send()
				late()
				switch where {
				case "under way":
					d.answer(sms.OK)
					if len(d.doubled) != 1 || d.doubled[0] != sms.OK {
						t.Errorf("%v, %s: the answers to copies are %v", code, where, d.doubled)
					}
				case "under way, then lost":
					d.lose(l)
				case "under way, then not answered":
					d.answer(sms.Timeout)
				default:
					d.Unsent(d.now, d.take(0))
				}
			}
			to, attempts, sends := "", 1, 2
			if changed && code == sms.OK {
				to = "99"
			}
			if where == "changed, twice" {
				attempts = 2
			}
			if where == "changed" || where == "waits" || where == "expired" {
				sends = 1
			}
			if want := fmt.Sprintf("%s %d true %d", to, attempts, sends); !slices.Equal(d.endedAs, []string{want}) {
				t.Errorf("%v, %s: it has ended as %q, want %s", code, where, d.endedAs, want)
			}
			late() // the same answer again
			d.now += 60 * second
			if n, _, _ := d.send(); n != 0 {
				t.Errorf("%v, %s: the message is sent again", code, where)
			}
			d.wantEmpty()
			sent, failed := d.Stats.Sent.Load(), d.Stats.Failed.Load()
			if sent+failed != 1 || (sent == 1) != (code == sms.OK) || d.Stats.Late.Load() != 1 || d.Stats.Expired.Load() != 0 {
				t.Errorf("%v, %s: %d sent, %d failed, %d late, %d expired", code, where, sent, failed, d.Stats.Late.Load(), d.Stats.Expired.Load())
			}
		}
	}
}

// A late answer with a temporary failure does not cancel the copy.
func TestAnsweredLateRetryable(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, static: true, window: 2")
	l := d.connect()
	d.submit("a", 1, nil)
	d.send()
	d.answer(sms.Timeout)
	d.AnsweredLate(l, Unanswered{ID: 1}, sms.Answer{Code: sms.Throttled, At: d.now})
	d.want("the copy", 1, 0, 0)
	d.answer(sms.OK)
	d.AnsweredLate(l, Unanswered{ID: 1}, sms.Answer{Code: sms.OK, At: d.now}) // of a message that has ended
	if d.wantEmpty(); d.Stats.Sent.Load() != 1 {
		t.Errorf("%d sent", d.Stats.Sent.Load())
	}
}

// H26: a peer that does not answer is given its window, and then one more message each time
// that one is given up. Otherwise a peer that has lost a window would get no request that it
// can answer. When it answers, it has its window again.
func TestFreeze(t *testing.T) {
	t.Parallel()
	for _, wake := range []string{"answer", "late answer"} {
		d := newDesk(t, "instances: 1, static: true, window: 4")
		l := d.connect()
		d.submit("a", 20, nil)
		d.want("a window", 4, 0, 0)
		id := d.under[0].Message.ID
		for range 3 {
			d.answer(sms.Timeout)
		}
		d.want("three are not answered", 0, 0, 0)
		for range 3 {
			d.answer(sms.Timeout)
			d.want("one at a time", 1, 0, 0)
		}
		if wake == "answer" {
			d.answer(sms.OK)
			d.want("it answers again", 4, 0, 0)
		} else {
			d.AnsweredLate(l, Unanswered{ID: id}, sms.Answer{Code: sms.OK, At: d.now})
			d.want("it answers again", 3, 0, 0)
		}
		if n := windowOf(l); n != 4 {
			t.Errorf("%d slots in a window of 4", n)
		}
	}
}

// A message that was never written does not thaw the session's slots.
func TestUnsentDoesNotThaw(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, static: true, window: 3")
	l := d.connect()
	d.submit("a", 9, nil)
	d.send()
	d.answer(sms.Timeout)
	d.Unsent(d.now, d.take(0))
	if len(l.frozen) != 1 {
		t.Errorf("%d slots are frozen, want 1", len(l.frozen))
	}
}

// A session remembers the latest requests that it has given up.
func TestLate(t *testing.T) {
	t.Parallel()
	l := newLink(newConnector(1, 2))
	for n := range uint32(20) {
		l.GiveUp(&Slot{Sequence: n, Message: &sms.Message{ID: uint64(n) + 100}, Sent: start - 1}, nil)
	}
	if u, ok := l.Late(start, 19); !ok || u.ID != 119 || u.Sent != start-1 {
		t.Errorf("request 19 is %v, %t", u, ok)
	}
	if _, ok := l.Late(start, 19); ok {
		t.Error("answered late twice")
	}
	if _, ok := l.Late(start, 0); ok || len(l.late.requests) != 2*maxLate-1 {
		t.Errorf("%d are remembered", len(l.late.requests))
	}
}

// U2: a session whose answers always come late waits longer for them, up to a limit. When
// they have come in time for long enough, response_timeout applies again.
func TestPatience(t *testing.T) {
	t.Parallel()
	const window = 2
	l := newLink(New(0, options(t, fmt.Sprint("response_timeout: 2s, window: ", window)), toy.New(), &Memory{}))
	option := int64(l.Connector.Config().ResponseTimeout)
	want := func(why string, timeout int64) {
		t.Helper()
		if got := l.ResponseTimeout(); got != timeout {
			t.Errorf("%s: answers may take %d, want %d", why, got, timeout)
		}
	}
	late := func(took int64) {
		t.Helper()
		l.GiveUp(&Slot{Sequence: 1, Message: &sms.Message{ID: 1}, Sent: start}, nil)
		if _, ok := l.Late(start+took, 1); !ok {
			t.Fatal("not remembered")
		}
	}
	l.Awaited(option)
	want("nothing was late", option)
	late(2 * option)
	want("late", 4*option)
	late(3 * option / 2)
	want("less late", 4*option)
	for range 10 * window {
		l.Awaited(3 * option)
	}
	want("still slow", 4*option)
	late(100 * option)
	want("the most", maxPatience*option)
	for range inTimeAfter*window - 1 {
		l.Awaited(option)
	}
	l.Awaited(option + 1)
	for range inTimeAfter*window - 1 {
		l.Awaited(option)
	}
	want("not yet in time", maxPatience*option)
	l.Awaited(option)
	want("in time again", option)
}
