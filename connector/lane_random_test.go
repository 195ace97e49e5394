package connector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pmg/sms"
)

// In random sequences of all events of a lane no message is lost, none is sent by two slots
// or after its end, and the counters are right.
func TestLaneRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		runLane(t, seed)
	}
}

// An actor is a desk with the test's own record of its messages.
type actor struct {
	*desk
	random   *rand.Rand
	seed     uint64
	sessions []*Link
	late     []lateSlot
	ended    map[uint64]bool // whether the message has ended, by id
}

type lateSlot struct {
	link *Link
	id   uint64
}

func runLane(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	a := &actor{
		desk:   newDesk(t, fmt.Sprintf("instances: 3, window: %d, static: %t, rate: %d", 1+seed%4, seed%2 == 0, seed%3*100)),
		random: random, seed: seed, ended: map[uint64]bool{},
	}
	for range 1500 {
		a.now += random.Int64N(second / 5)
		a.step()
		a.leave()
		a.check()
	}
	for n := 0; len(a.under) > 0 || a.Queues.Len() > 0; n++ {
		for len(a.dialed) > 0 {
			a.sessions = append(a.sessions, a.connect())
		}
		for len(a.under) > 0 {
			a.settle(0, sms.OK)
		}
		if n%2 == 1 && len(a.sessions) > 0 { // frozen windows do not thaw by themselves
			a.end(0)
		}
		a.now += second
		a.Tick(a.now)
		a.leave()
		if n > 10_000 {
			t.Fatalf("seed %d: %d messages never leave", seed, a.Queues.Len())
		}
	}
	a.Publish()
	if n := a.Stats.Sent.Load() + a.Stats.Failed.Load() + a.Stats.Expired.Load(); n != int64(a.lastID) {
		t.Errorf("seed %d: %d messages sent, failed or expired of %d", seed, n, a.lastID)
	}
	a.wantEmpty()
}

// leave sends messages until none can leave, and checks that each one may.
func (a *actor) leave() {
	a.t.Helper()
	before := len(a.under)
	a.send()
	for i, slot := range a.under {
		m := slot.Message
		if i >= before && (a.ended[m.ID] || m.Due() > a.now || m.Expires != 0 && m.Expires < a.now) {
			a.t.Fatalf("seed %d: message %d leaves, ended %t, due in %d, expires in %d", a.seed, m.ID, a.ended[m.ID], m.Due()-a.now, m.Expires-a.now)
		}
		for _, other := range a.under[:i] {
			if i >= before && other.Message == m {
				a.t.Fatalf("seed %d: message %d leaves by two slots", a.seed, m.ID)
			}
		}
	}
}

func (a *actor) step() {
	random := a.random
	switch n := random.IntN(12); {
	case n < 3:
		a.submit(string(rune('a'+random.IntN(3))), random.IntN(6), func(m *sms.Message) {
			m.Priority = uint8(random.IntN(6))
			if random.IntN(5) == 0 {
				m.Expires = a.now + random.Int64N(3*second)
			}
			if random.IntN(6) == 0 {
				m.DeliverAt = a.now + random.Int64N(5*second)
			}
		})
	case n < 5:
		if len(a.dialed) > 0 {
			a.sessions = append(a.sessions, a.connect())
		}
	case n == 5:
		if len(a.sessions) > 0 && random.IntN(2) == 0 {
			a.end(random.IntN(len(a.sessions)))
		}
	case n == 6:
		if len(a.sessions) > 0 && random.IntN(3) == 0 {
			a.Window.LoggingOut(&a.sessions[random.IntN(len(a.sessions))].Outlet)
		}
	case n == 7:
		if len(a.under) > 0 {
			a.Unsent(a.now, a.take(random.IntN(len(a.under))))
		}
	case n == 8:
		a.Tick(a.now)
	case n == 9:
		a.answerLate()
	default:
		codes := []sms.Code{sms.OK, sms.OK, sms.Throttled, sms.TemporaryFailure, sms.Timeout, sms.Rejected}
		for n := random.IntN(6); n > 0 && len(a.under) > 0; n-- {
			a.settle(random.IntN(len(a.under)), codes[random.IntN(len(codes))])
		}
	}
}

// settle answers a slot.
func (a *actor) settle(i int, code sms.Code) {
	slot := a.under[i]
	link, id := slot.Link, slot.Message.ID
	a.answerSlot(i, code)
	switch {
	case code == sms.Timeout:
		a.late = append(a.late, lateSlot{link, id})
	case code == sms.OK || !code.Retryable():
		a.ended[id] = true
	}
}

// end ends a session.
func (a *actor) end(i int) {
	l := a.sessions[i]
	a.sessions = slices.Delete(a.sessions, i, i+1)
	a.late = slices.DeleteFunc(a.late, func(s lateSlot) bool { return s.link == l })
	a.lose(l)
}

func (a *actor) answerLate() {
	if len(a.late) == 0 {
		return
	}
	i := a.random.IntN(len(a.late))
	s := a.late[i]
	a.late = slices.Delete(a.late, i, i+1)
	code := []sms.Code{sms.OK, sms.Rejected, sms.Throttled}[a.random.IntN(3)]
	a.AnsweredLate(s.link, Unanswered{ID: s.id}, sms.Answer{Code: code, At: a.now})
	if code != sms.Throttled {
		a.ended[s.id] = true
	}
}

// check compares the lane with the record.
func (a *actor) check() {
	a.t.Helper()
	a.Publish()
	var waiting, scheduled int64
	a.Queues.Shares(func(s *Share) {
		waiting += int64(s.queue.Len())
		scheduled += s.Origin.Tally.Scheduled.Load()
	})
	waiting += int64(len(a.Queues.suspects))
	under := int64(len(a.under))
	if length := a.Stats.Queued.Load(); length != waiting || a.Stats.InFlight.Load() != under {
		a.t.Fatalf("seed %d: %d wait and %d are under way, shown are %d and %d", a.seed, waiting, under, length, a.Stats.InFlight.Load())
	}
	if queued := a.Queued.Load(); queued != waiting+under-scheduled {
		a.t.Fatalf("seed %d: %d queued, but %d wait, %d of them scheduled, and %d are under way", a.seed, queued, waiting, scheduled, under)
	}
	for _, l := range a.sessions {
		if n := windowOf(l); l.takesMore() && n != l.Connector.Config().MostRequests() {
			a.t.Fatalf("seed %d: %d slots in a window of %d", a.seed, n, l.Connector.Config().Window)
		}
	}
}

// windowOf returns the number of a session's slots in all states.
func windowOf(l *Link) int {
	n := l.used + l.unused + len(l.aside) + len(l.frozen)
	for _, slot := range l.slots {
		if slot.next != nil {
			n++
		}
	}
	return n
}
