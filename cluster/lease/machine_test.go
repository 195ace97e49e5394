package lease

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A rig is a machine of node a with a clock. Times are in milliseconds: the lease is 3000, dead 4000, a beat 500.
type rig struct {
	t   *testing.T
	m   *machine
	now int64
}

func newRig(t *testing.T) *rig {
	o := Options{Node: "a", Lease: 3 * time.Second, Dead: 4 * time.Second, Beat: 500 * time.Millisecond, Eligible: true}
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, m: newMachine(o, 7, 0)}
}

// next waits for the next call, and returns it.
func (r *rig) next() call {
	r.now = max(r.now, r.m.due)
	r.m.tick(r.now)
	return r.m.begin(r.now)
}

// reads waits for a read, and answers it after took.
func (r *rig) reads(took int64, v Value, version uint64, err error) {
	r.t.Helper()
	c, left := r.next(), r.now
	if c.update {
		r.t.Fatalf("at %d ms: an update to %+v, want a read", r.now/ms, c.value)
	}
	r.now += took * ms
	a := answer{left: left, version: version, err: err}
	if v.Epoch > 0 {
		a.octets = v.Append(nil)
	}
	r.m.end(c, a, r.now)
}

// updates waits for an update, and answers it after took.
func (r *rig) updates(took int64, want Value, last, version uint64, err error) {
	r.t.Helper()
	c, left := r.next(), r.now
	if !c.update || c.value != want || c.last != last {
		r.t.Fatalf("at %d ms: call %+v, want an update of version %d to %+v", r.now/ms, c, last, want)
	}
	r.now += took * ms
	r.m.end(c, answer{left: left, version: version, err: err}, r.now)
}

// want checks the status and the end of the lease.
func (r *rig) want(s State, until int64, why string) {
	r.t.Helper()
	if got := r.m.status; got.State != s || !strings.Contains(got.Why, why) || r.m.until != until*ms {
		r.t.Fatalf("at %d ms: %+v, lease until %d ms; want %s, %d ms, %q", r.now/ms, got, r.m.until/ms, s, until, why)
	}
}

var (
	errGone = errors.New("cannot reach the engine")
	mine    = Value{Epoch: 5, Run: 7, Node: "a"}
	theirs  = Value{Epoch: 4, Run: 9, Node: "b"}
)

// takeOver brings the node to own the work since 4000 ms, with version 11.
func (r *rig) takeOver() {
	r.t.Helper()
	for range 9 {
		r.reads(0, theirs, 10, nil)
	}
	r.updates(0, mine, 10, 11, nil)
	r.want(Owner, 7000, "no heartbeat of node b was seen for 4s")
}

func TestTakeOver(t *testing.T) {
	r := newRig(t)
	r.takeOver()
	if r.now != 4000*ms || !r.m.status.Holding || r.m.status.Epoch != 5 || r.m.status.Owner != "a" {
		t.Errorf("at %d ms: %+v", r.now/ms, r.m.status)
	}
}

// A cell without a value has no owner that could be asked, but its deletion may be the reason.
func TestTakeOverEmptyCell(t *testing.T) {
	r := newRig(t)
	for range 9 {
		r.reads(0, Value{}, 0, nil)
	}
	r.updates(0, Value{Epoch: 1, Run: 7, Node: "a"}, 0, 1, nil)
	r.want(Owner, 7000, "no node has owned it before")
}

// If it is known that no node has ever owned the work, the first node waits for nothing. Others see its update.
func TestFirstOwner(t *testing.T) {
	first := Value{Epoch: 1, Run: 7, Node: "a"}
	r := newRig(t)
	r.reads(0, Value{}, 0, nil)
	r.m.unowned = true
	r.updates(0, first, 0, 1, nil)
	r.want(Owner, 3500, "no node has owned it before") // a beat behind the read

	r = newRig(t)
	r.m.unowned = true
	r.reads(0, Value{}, 0, errGone)
	r.reads(0, Value{}, 0, nil)
	r.updates(0, first, 0, 0, ErrChanged)
	for range 20 {
		r.reads(0, Value{}, 0, nil) // stale
	}
	r.reads(0, theirs, 1, nil)
	r.reads(0, theirs, 1, nil)
	r.want(Standby, 0, "node b is the owner")
}

// A cell that was deleted gets an epoch that the journal does not have yet, after the usual time.
func TestDeletedCell(t *testing.T) {
	r := newRig(t)
	r.m.begun = 6
	for range 9 {
		r.reads(0, Value{}, 0, nil)
	}
	r.updates(0, Value{Epoch: 7, Run: 7, Node: "a"}, 0, 1, nil)
	r.want(Owner, 7000, "no node has owned it before")
}

// The time begins anew with each heartbeat of the owner.
func TestHeartbeatsAreSeen(t *testing.T) {
	r := newRig(t)
	for i := range 40 {
		r.reads(0, theirs, 10+uint64(i)/8, nil) // one heartbeat in 4 s
	}
	r.want(Standby, 0, "node b is the owner, with epoch 4")
}

// A time in which the cell cannot be reached counts, if its version is the same behind it: then no heartbeat has come meanwhile.
func TestOutageCounts(t *testing.T) {
	r := newRig(t)
	r.reads(0, theirs, 10, nil)
	for range 3 {
		r.reads(1000, Value{}, 0, errGone)
	}
	r.reads(0, theirs, 11, nil) // the owner has gone on
	r.want(Standby, 0, "node b")
	for range 3 {
		r.reads(1000, Value{}, 0, errGone)
	}
	r.reads(0, theirs, 11, nil)
	r.want(Standby, 0, "node b")
	r.reads(1000, Value{}, 0, errGone)
	r.reads(0, theirs, 11, nil)
	r.updates(0, mine, 11, 12, nil)
}

// Stale reads are no reason, and a time in which the process was stopped is none if the owner has gone on.
func TestPausesAndStaleReadsAreNoReason(t *testing.T) {
	r := newRig(t)
	r.reads(0, theirs, 10, nil)
	r.now += 30_000 * ms
	r.reads(0, theirs, 20, nil)
	for range 20 {
		r.reads(0, theirs, 19, nil)
	}
	r.want(Standby, 0, "node b")
	if got := r.m.begin(r.now); got.update {
		t.Errorf("a call %+v after %d ms", got, r.m.quiet/ms)
	}
	r.reads(0, theirs, 21, nil)
	r.want(Standby, 0, "node b")
}

// A standby that lost the comparison does not believe that version again.
func TestLostComparison(t *testing.T) {
	r := newRig(t)
	for range 9 {
		r.reads(0, theirs, 10, nil)
	}
	r.updates(0, mine, 10, 0, fmt.Errorf("cell: %w", ErrChanged))
	for range 20 {
		r.reads(0, theirs, 10, nil)
	}
	r.want(Standby, 0, "node b")
	for range 9 {
		r.reads(0, theirs, 11, nil)
	}
	r.updates(0, mine, 11, 12, nil)
}

// The lease runs from before the heartbeat left, whenever its answer comes.
func TestLateAnswers(t *testing.T) {
	r := newRig(t)
	r.takeOver()
	r.updates(900, mine, 11, 12, nil) // left at 4500
	r.want(Owner, 7500, "")
	r.updates(900, mine, 12, 13, nil) // left at 5400
	r.want(Owner, 8400, "")
	r.updates(10_000, mine, 13, 14, nil) // left at 6300
	r.next()
	r.want(Owner, 8400, "no heartbeat was acknowledged for 3s")
	if r.m.status.Holding {
		t.Error("it still holds the lease")
	}
	r.updates(10, mine, 14, 15, nil) // left at 16300
	r.want(Owner, 19300, "a heartbeat was acknowledged again")
	if !r.m.status.Holding || r.m.status.Epoch != 5 {
		t.Errorf("%+v", r.m.status)
	}
}

// A take-over whose answer comes after the end of its lease makes no owner. The next update does.
func TestLateTakeOver(t *testing.T) {
	r := newRig(t)
	for range 9 {
		r.reads(0, theirs, 10, nil)
	}
	r.updates(3000, mine, 10, 11, nil)
	r.want(Standby, 0, "node b is the owner")
	r.updates(0, mine, 11, 12, nil) // leaves at 7000
	r.want(Owner, 10_000, "an earlier try to take over had succeeded")
}

// A heartbeat whose outcome is unknown is looked for, and a read alone does not renew the lease.
func TestUnknownHeartbeat(t *testing.T) {
	r := newRig(t)
	r.takeOver()
	r.updates(100, mine, 11, 0, errGone)
	r.reads(100, mine, 11, nil) // stale, or it has not happened
	r.updates(100, mine, 11, 0, ErrChanged)
	r.reads(100, mine, 11, nil) // stale, and known to be
	r.want(Owner, 7000, "")
	r.reads(100, mine, 12, nil)
	r.want(Owner, 7000, "")
	r.updates(100, mine, 12, 13, nil)
	r.want(Owner, 9200, "")
}

// A take-over whose outcome is unknown is found, and makes an owner by its next update.
func TestUnknownTakeOver(t *testing.T) {
	r := newRig(t)
	for range 9 {
		r.reads(0, theirs, 10, nil)
	}
	r.updates(100, mine, 10, 0, errGone)
	r.reads(100, mine, 11, nil) // leaves at 4500
	r.want(Standby, 0, "node a is the owner")
	r.updates(100, mine, 11, 12, nil) // leaves at 4600
	r.want(Owner, 7600, "an earlier try to take over had succeeded")
}

// An owner that sees another one is deposed, also if it cannot read which.
func TestDeposed(t *testing.T) {
	for why, octets := range map[string][]byte{
		"node b is the owner, with epoch 6": Value{Epoch: 6, Run: 9, Node: "b"}.Append(nil),
		"a later version":                   {2},
		"damaged":                           {1, 2, 3},
		"node a is the owner, with epoch 6": Value{Epoch: 6, Run: 8, Node: "a"}.Append(nil), // another process
	} {
		r := newRig(t)
		r.takeOver()
		r.updates(0, mine, 11, 0, ErrChanged)
		c := r.next()
		r.m.end(c, answer{left: r.now, version: 13, octets: octets}, r.now)
		r.want(Deposed, 0, why)
		if r.m.status.Holding || !r.m.status.State.Ended() {
			t.Errorf("%+v", r.m.status)
		}
	}
}

// A cell that cannot be read is not taken over, and it is said once why.
func TestUnreadableCell(t *testing.T) {
	r := newRig(t)
	for range 40 {
		c := r.next()
		r.m.end(c, answer{left: r.now, version: 13, octets: []byte{9, 9}}, r.now)
	}
	r.want(Standby, 0, "cannot read who the owner is: the cell was written by a later version of PMG: upgrade this node")
	if r.m.status.Number != 2 {
		t.Errorf("it was said in %d changes", r.m.status.Number)
	}
	r.reads(0, Value{Epoch: MaxEpoch, Run: 9, Node: "b"}, 14, nil)
	for range 40 {
		r.reads(0, Value{Epoch: MaxEpoch, Run: 9, Node: "b"}, 14, nil)
	}
	r.want(Standby, 0, "node b is the owner")
}

func TestVacant(t *testing.T) {
	for _, test := range []struct {
		what  string
		value Value
		may   bool
	}{
		{"any may follow", Value{Epoch: 4, Run: 9, Node: "b", Vacant: true}, true},
		{"this one is to follow", Value{Epoch: 4, Run: 9, Node: "b", Vacant: true, Next: "a"}, true},
		{"another one is to follow", Value{Epoch: 4, Run: 9, Node: "b", Vacant: true, Next: "c"}, false},
		{"this node has handed over", Value{Epoch: 4, Run: 9, Node: "a", Vacant: true}, false},
		{"this node had it before", Value{Epoch: 4, Run: 9, Node: "a"}, false},
	} {
		t.Run(test.what, func(t *testing.T) {
			r := newRig(t)
			if r.reads(0, test.value, 10, nil); !test.may {
				for range 8 {
					r.reads(0, test.value, 10, nil)
				}
			}
			r.updates(0, mine, 10, 11, nil)
			if r.want(Owner, r.now/ms+3000, ""); test.may && r.now != 0 {
				t.Errorf("it has waited for %d ms", r.now/ms)
			}
		})
	}
}

// A node that is excluded watches, and takes over when it is eligible again.
func TestExcluded(t *testing.T) {
	r := newRig(t)
	r.m.eligible = false
	for range 40 {
		r.reads(0, Value{Epoch: 4, Run: 9, Node: "b", Vacant: true}, 10, nil)
	}
	r.want(Standby, 0, "node b has handed over")
	r.m.eligible = true
	r.updates(0, mine, 10, 11, nil)
	r.m.eligible = false // it goes on until it is released
	r.updates(0, mine, 11, 12, nil)
	r.want(Owner, r.now/ms+3000, "node b had handed over")
}

func TestRelease(t *testing.T) {
	vacated := Value{Epoch: 5, Run: 7, Node: "a", Vacant: true, Next: "c"}
	t.Run("simple", func(t *testing.T) {
		r := newRig(t)
		r.takeOver()
		r.m.release("c", r.now)
		r.want(Releasing, 0, "asked to hand over")
		r.m.release("b", r.now)
		r.updates(0, vacated, 11, 12, nil)
		r.want(Released, 0, "handed over")
		if r.now != 4000*ms || r.m.status.Owner != "" {
			t.Errorf("at %d ms: %+v", r.now/ms, r.m.status)
		}
	})
	t.Run("while a heartbeat is under way", func(t *testing.T) {
		r := newRig(t)
		r.takeOver()
		c := r.next()
		r.m.release("c", r.now)
		r.m.end(c, answer{left: r.now, version: 12}, r.now)
		r.want(Releasing, 0, "")
		r.updates(0, vacated, 12, 13, nil)
		r.want(Released, 0, "")
	})
	t.Run("while a take-over is under way", func(t *testing.T) {
		r := newRig(t)
		for range 9 {
			r.reads(0, theirs, 10, nil)
		}
		c := r.next()
		r.m.release("c", r.now)
		r.m.end(c, answer{left: r.now, version: 11}, r.now)
		r.want(Releasing, 0, "")
		r.updates(0, vacated, 11, 12, nil)
		r.want(Released, 0, "")
	})
	t.Run("after an unknown take-over", func(t *testing.T) {
		r := newRig(t)
		for range 9 {
			r.reads(0, theirs, 10, nil)
		}
		r.updates(0, mine, 10, 0, errGone)
		r.m.release("c", r.now)
		r.reads(0, mine, 11, nil)
		r.updates(0, vacated, 11, 12, nil)
		r.want(Released, 0, "")
	})
	t.Run("standby", func(t *testing.T) {
		r := newRig(t)
		for range 9 {
			r.reads(0, theirs, 10, nil)
		}
		r.m.release("", r.now)
		r.reads(0, theirs, 10, nil)
		r.want(Released, 0, "does not name this node")
	})
	t.Run("unknown", func(t *testing.T) {
		r := newRig(t)
		r.takeOver()
		r.m.release("c", r.now)
		r.updates(0, vacated, 11, 0, errGone)
		r.reads(0, Value{}, 0, errGone)
		r.reads(0, mine, 11, nil)
		r.updates(0, vacated, 11, 0, ErrChanged)
		r.reads(0, vacated, 12, nil)
		r.want(Released, 0, "does not name this node")
	})
}

// The end of a lease is noticed when it comes, with the reason.
func TestLapse(t *testing.T) {
	r := newRig(t)
	r.takeOver()
	r.updates(1000, mine, 11, 0, errGone) // left at 4500
	r.reads(1000, Value{}, 0, errGone)
	if c := r.next(); c.timeout != 500*ms {
		t.Errorf("at %d ms a call may take %d ms", r.now/ms, c.timeout/ms)
	}
	r.m.due = 7100 * ms
	if got := r.m.wake(); got != 7000*ms {
		t.Errorf("it wakes at %d ms", got/ms)
	}
	r.m.tick(7000*ms - 1)
	r.want(Owner, 7000, "no heartbeat of node b")
	r.m.tick(7000 * ms)
	r.want(Owner, 7000, "no heartbeat was acknowledged for 3s: cannot reach the engine")
	if got := r.m.wake(); got != 7100*ms || r.m.status.Holding {
		t.Errorf("it wakes at %d ms, holding %t", got/ms, r.m.status.Holding)
	}
	if c := r.m.begin(7100 * ms); c.timeout != 1000*ms {
		t.Errorf("a call may take %d ms", c.timeout/ms)
	}
}

func TestOptions(t *testing.T) {
	good := Options{Node: "a", Lease: 4 * time.Second, Dead: 4400 * time.Millisecond, Beat: time.Second}
	for _, o := range []Options{
		good,
		{Node: "a", Lease: 4 * time.Millisecond, Dead: 5 * time.Millisecond, Beat: time.Millisecond},
		{Node: "a", Lease: time.Minute, Dead: time.Hour, Beat: time.Second},
	} {
		if err := o.Check(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for what, change := range map[string]func(o *Options){
		"no name":      func(o *Options) { o.Node = "" },
		"name":         func(o *Options) { o.Node = "a b" },
		"beat":         func(o *Options) { o.Beat++ },
		"small beat":   func(o *Options) { o.Beat = time.Millisecond - 1 },
		"dead":         func(o *Options) { o.Dead-- },
		"dead is long": func(o *Options) { o.Dead = time.Hour + 1 },
		"no times":     func(o *Options) { o.Lease, o.Dead, o.Beat = 0, 0, 0 },
		"negative":     func(o *Options) { o.Lease, o.Dead, o.Beat = -8, -4, -4 },
	} {
		o := good
		if change(&o); o.Check() == nil {
			t.Errorf("%s: %+v is accepted", what, o)
		}
		if _, err := New(nil, o); err == nil {
			t.Errorf("%s: New accepts %+v", what, o)
		}
	}
}
