package accept

import (
	"errors"
	"slices"
	"testing"

	"pmg/gateway/receipts"
	"pmg/gateway/roomtest"
	"pmg/sms"
)

// join makes the rigs' acceptors take turns.
func join(all ...*rig) {
	turns := NewTurns()
	for _, r := range all {
		r.turns, r.member, r.storing = turns, turns.join(), map[uint64]*claim{}
	}
}

// stored ends the oldest commit with a code.
func (r *rig) stored(code sms.Code) {
	p := r.x.stores[0]
	r.x.stores = r.x.stores[1:]
	r.Ended(1, p, code)
}

// handled reports how many receipts the acceptor has begun to handle.
func (r *rig) handled() int { return len(r.m.read) + len(r.x.works) }

// A receipt of another acceptor waits until the one before it has ended, in whatever way, and until what that has queued was
// passed on. A third one of the first acceptor waits for the second one.
func TestTurns(t *testing.T) {
	t.Parallel()
	then := func(v ...receipts.Verdict) []receipts.Verdict { return v }
	fault := errors.New("cannot read")
	for _, c := range []struct {
		why     string
		durable bool
		matcher matcher
		full    bool
		ends    func(r *rig)
	}{
		{"in memory", false, matcher{recent: true, verdicts: then(passOn)}, false, func(*rig) {}},
		{"stored", true, matcher{recent: true, verdicts: then(passOn)}, false, func(r *rig) { r.stored(sms.OK) }},
		{"not stored", true, matcher{recent: true, verdicts: then(passOn)}, false, func(r *rig) { r.stored(sms.SystemError) }},
		{"undecided", true, matcher{recent: true, verdicts: then(passOn)}, false, func(r *rig) { r.stored(sms.Undecided) }},
		{"looked up", true, matcher{known: true, verdicts: then(passOn)}, false, func(r *rig) { r.x.work(); r.stored(sms.OK) }},
		{"of parts", false, matcher{recent: true, parts: 2, verdicts: then(receipts.Unread, passOn)}, false, func(r *rig) { r.x.work() }},
		{"unknown", false, matcher{}, false, func(r *rig) { r.x.work(); r.end() }},
		{"cannot be looked up", false, matcher{fault: fault}, false, func(r *rig) { r.x.work() }},
		{"gone", false, matcher{}, false, func(r *rig) { r.x.gone = true; r.x.work() }},
		{"dropped", false, matcher{recent: true, verdicts: then(receipts.Dropped)}, false, func(*rig) {}},
		{"recorded", false, matcher{recent: true, verdicts: then(receipts.Recorded)}, false, func(r *rig) { r.x.works = nil }},
		{"no room", false, matcher{recent: true, verdicts: then(passOn)}, true, func(*rig) {}},
	} {
		one, two := newRig(t, c.durable), newRig(t, false)
		join(one, two)
		c.matcher.share, c.matcher.smsc = one.m.share, one.m.smsc
		*one.m = c.matcher
		two.m.recent, two.m.verdicts = true, then(passOn)
		if c.full {
			roomtest.Occupy(one.m.share, 1_000_000)
		}
		one.receipt("first")
		two.receipt("second")
		one.receipt("third")
		two.Tick(2)
		before := len(one.m.read)
		c.ends(one)
		two.Tick(2)
		if two.handled() != 0 || two.x.held != 1 || one.x.held != 1 {
			t.Errorf("%s: %d are handled before it has ended, %d and %d are held", c.why, two.handled(), one.x.held, two.x.held)
		}
		one.m.verdicts, one.m.recent, one.x.gone = then(passOn), true, false
		one.Tick(3)
		if before = len(one.m.read) - before; before > 1 {
			t.Errorf("%s: the third is handled before the second", c.why)
		}
		two.Tick(3)
		if o, is := two.x.answered("second"); !is || o.Code != sms.OK || len(two.x.queued) != 1 || two.x.held != 0 {
			t.Errorf("%s: the second is answered %t, %+v", c.why, is, o)
		}
		one.Tick(4)
		if one.x.held != 1 {
			t.Errorf("%s: the third is handled before what was queued is passed on", c.why)
		}
		two.Tick(5)
		one.Tick(6)
		if one.x.held != 0 || two.Turns() != 0 || len(one.waiting) != 0 {
			t.Errorf("%s: %d and %d turns are left", c.why, one.Turns(), two.Turns())
		}
	}
}

// Receipts of one acceptor share the turn, those of other ids have turns of their own, and receipts behind another acceptor's wait for
// it. A receipt whose session is over leaves the line, or gives its turn back.
func TestTurnsOfSessions(t *testing.T) {
	t.Parallel()
	a, b, c := newRig(t, false), newRig(t, false), newRig(t, false)
	join(a, b, c)
	a.receipt("a1")
	a.receipt("a2") // behind the first
	b.receipt("b1")
	c.receipt("c1")
	b.receipt("b2")
	b.receiptOf("8", "other")
	if len(a.x.works) != 1 || len(b.x.works) != 1 || a.Turns() != 0 || b.Turns() != 2 || c.Turns() != 1 {
		t.Fatalf("%d and %d works, %d, %d and %d turns", len(a.x.works), len(b.x.works), a.Turns(), b.Turns(), c.Turns())
	}
	forget := func(r *rig, by string) {
		r.Forget(func(other string) bool {
			if other == by {
				r.x.held--
			}
			return other == by
		})
	}
	forget(b, "b1") // now c is the next one, although b came before
	forget(a, "a2")
	a.x.gone = true
	a.x.work()
	a.Tick(2)
	b.Tick(2)
	c.Tick(2)
	if len(c.x.works) != 1 || len(b.x.works) != 1 {
		t.Fatalf("%d and %d works", len(b.x.works), len(c.x.works))
	}
	c.x.gone = true
	c.x.work()
	c.Tick(3)
	forget(b, "b2") // which has the turn, and does not know it
	a.x.gone = false
	a.receipt("a3")
	a.Tick(4)
	if len(a.x.works) != 1 || a.x.held != 0 || b.x.held != 0 || c.x.held != 0 || b.Turns() != 0 {
		t.Errorf("%d works; %d, %d, %d are held", len(a.x.works), a.x.held, b.x.held, c.x.held)
	}
}

// A receipt does not wait forever for one whose handling has ended in a fault.
func TestTurnsAfterFault(t *testing.T) {
	t.Parallel()
	a, b := newRig(t, false), newRig(t, false)
	join(a, b)
	a.receipt("lost")
	b.receipt("next")
	b.Tick(turnPatience)
	if len(b.x.works) != 0 {
		t.Error("it has not waited")
	}
	b.Tick(turnPatience + 1)
	if len(b.x.works) != 1 || b.x.held != 0 {
		t.Errorf("%d works, %d are held", len(b.x.works), b.x.held)
	}
}

// Receipts that follow each other have rising times, whatever time their acceptors have, because a lane orders them by these.
func TestTimesOfTurns(t *testing.T) {
	t.Parallel()
	turns := NewTurns()
	var times []int64
	for _, now := range []int64{10, 10, 5, 20, 7} {
		has, waits, at := turns.take(now, 1, uint32(now))
		if waits != nil {
			t.Fatal("it waits for nobody")
		}
		turns.end(at, has)
		times = append(times, at)
	}
	turns.take(30, 1, 1)
	_, waits, _ := turns.take(8, 1, 2)
	turns.end(40, turns.stripe(1).of[1])
	if turns.check(waits) == nil {
		t.Error("it waits although nobody is in front of it")
	}
	if times = append(times, turns.goOn(9, 1, waits.has)); !slices.Equal(times, []int64{10, 11, 12, 20, 21, 41}) {
		t.Errorf("%d", times)
	}
}

// A receipt that waits for nobody costs no allocation.
func TestTurnsAllocate(t *testing.T) {
	turns, key := NewTurns(), uint32(0)
	if n := testing.AllocsPerRun(1000, func() {
		key++
		has, _, at := turns.take(1, key, 1)
		turns.end(at, has)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A receipt that comes when others of its acceptor have got the turn, and are not gone on with yet, is behind them.
func TestTurnsBehindCalled(t *testing.T) {
	t.Parallel()
	a, b := newRig(t, false), newRig(t, false)
	join(a, b)
	b.m.recent, b.m.verdicts = true, make([]receipts.Verdict, 3)
	a.receipt("a")
	b.receipt("first")
	a.x.gone = true
	a.x.work()
	a.Tick(2)
	b.receipt("second")
	if b.handled() != 0 || b.Turns() != 2 {
		t.Fatalf("%d are handled, %d turns", b.handled(), b.Turns())
	}
	b.Tick(3)
	if len(b.x.queued) != 2 || b.x.answers["first"].ID > b.x.answers["second"].ID || b.x.held != 0 {
		t.Errorf("%d are queued, %v", len(b.x.queued), b.x.answers)
	}
	b.receipt("third") // shares the turn until that ends
	b.Tick(4)
	if len(b.x.queued) != 3 || b.Turns() != 0 {
		t.Errorf("%d are queued, %d turns", len(b.x.queued), b.Turns())
	}
}
