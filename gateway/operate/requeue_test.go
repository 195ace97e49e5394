package operate

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/connector/queue"
	"pmg/gateway/roomtest"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// Messages of each kind and state are moved, retried and deleted where that is possible, and the log says which, who has
// done it and where they are now.
func TestChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, to string
		results  [7]string // of the messages of fill, of which the queued ones are in lanes
		logged   []string
		lanes    [3]int // messages of the lanes operator, second and of the client
	}{
		{DeleteMessages, "", [7]string{ResultDeleted, ResultDeleted, ResultDeleted, ResultDeleted, ResultDeleted, ResultDeleted, ResultUnderWay}, []string{`"deleted":6`}, [3]int{}},
		{MoveMessages, "second", [7]string{ResultMoved, ResultMoved, ResultMoved, ResultMoved, ResultMoved, ResultMoved, ResultUnderWay},
			[]string{`"to":"second"`, `"moved":6`}, [3]int{0, 6, 0}},
		{RetryMessages, "", [7]string{ResultRetried, ResultRetried, ResultRetried, ResultNoRoute, ResultRetried, ResultUnknown, ResultUnderWay},
			[]string{`"retried":4`, `"no_route":1`, `"unmatched":1`}, [3]int{3, 0, 2}},
	} {
		r := newDurableRig(t)
		var log testutil.Log
		r.Operations.node.Log = zerolog.New(&log)
		r.fill()
		r.enterAll()
		if dry := r.tryOut(c.what, c.to); dry != [7]string{} {
			t.Errorf("%s: %q are the results of what was not done", c.what, dry)
		}
		p, err := r.ChangeStored(t.Context(), QueueChange{What: c.what, To: c.to, Operator: "192.0.2.1:9"}, Selection{}, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var got [7]string
		done := ""
		for i, m := range p.Messages {
			if got[i] = m.Result; m.Result == (&QueueChange{What: c.what}).past() {
				done += m.ID
			}
		}
		if got != c.results {
			t.Errorf("%s: %q, want %q", c.what, got, c.results)
		}
		for _, want := range append(c.logged, `"operator":"192.0.2.1:9"`, "an operator changes messages that wait: "+c.what) {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: the log has no %s: %s", c.what, want, log.String())
			}
		}
		for _, m := range p.Messages {
			if strings.Contains(done, m.ID) != strings.Contains(log.String(), m.ID) {
				t.Errorf("%s: message %s in the log: %s", c.what, m.ID, log.String())
			}
		}
		lanes := [3]int{r.share.Lane.Queues.Len(), r.Operations.table.LaneOf(r.Operations.table.Connector("second")).Queues.Len(), r.Operations.table.ClientLane("client", nil).Queues.Len()}
		if lanes != c.lanes {
			t.Errorf("%s: %d wait, want %d", c.what, lanes, c.lanes)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}

// tryOut does nothing with messages.
func (r *rig) tryOut(what, to string) (results [7]string) {
	r.t.Helper()
	p, err := r.ChangeStored(r.t.Context(), QueueChange{What: what, To: to, DryRun: true}, Selection{}, 0, 100)
	if err != nil || len(p.Messages) != len(results) {
		r.t.Fatal(p, err)
	}
	for i, m := range p.Messages {
		results[i] = m.Result
	}
	return results
}

// What is retried has all its attempts again.
func TestAttemptsForgotten(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	m := r.message(0, 1)
	m.Attempts, m.NotBefore = 2, now+second
	r.park(m)
	r.change(RetryMessages, Selection{})
	p, err := r.ListStored(Selection{}, 0, 100)
	if err != nil || len(p.Messages) != 1 || p.Messages[0].Attempts != 0 || p.Messages[0].NextAttempt != nil || p.Messages[0].State != StateQueued {
		t.Errorf("%+v, %v", p.Messages, err)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// An operator finds a message that has moved to another lane although the wall clock was set.
func TestRetryMoved(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	m := r.message(0, 1)
	r.store(m)
	there := r.Operations.table.Share(r.Operations.table.LaneOf(r.Operations.table.Connector("second")), m.Origin)
	there.Lane.Queues.Restore(now, there, waitingOf(&found{id: m.ID, message: m}, 0))
	r.Operations.node.Clock.SetAhead(3600 * second)
	if got := r.change(RetryMessages, Selection{}); !slices.Equal(got, []string{ResultRetried}) {
		t.Errorf("it is %q", got)
	}
	if there.Lane.Queues.Len() != 0 || r.share.Lane.Queues.Len() != 1 {
		t.Errorf("%d wait where it was, %d where it goes", there.Lane.Queues.Len(), r.share.Lane.Queues.Len())
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// A reply to a mobile that is retried goes to the connector that brought what it answers, whatever the routes are.
func TestRetryReply(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	m := r.message(0, 1)
	m.Origin, m.Notify = r.Operations.node.Origins.Of("", "second"), 0
	r.store(m)
	here := r.Operations.table.Share(r.share.Lane, m.Origin)
	here.Lane.Queues.Restore(now, here, waitingOf(&found{id: m.ID, message: m}, 0))
	if got := r.change(RetryMessages, Selection{}); !slices.Equal(got, []string{ResultRetried}) {
		t.Errorf("it is %q", got)
	}
	second := r.Operations.table.LaneOf(r.Operations.table.Connector("second"))
	if here.Lane.Queues.Len() != 0 || second.Queues.Len() != 1 {
		t.Errorf("%d wait where it was, %d where it goes", here.Lane.Queues.Len(), second.Queues.Len())
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// A message that is given back to its lane waits for no longer than before, also if the wall clock was set back since it
// was tried.
func TestGiveBack(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	m := r.message(0, 1)
	m.Arrived, m.NotBefore = now+3600*second, now+3600*second
	(&changer{Operations: r.Operations}).giveBack(r.share, &found{id: m.ID, message: m})
	r.share.Lane.Queues.EachWaiting(r.share, func(w queue.Waiting, _ *sms.Message) {
		if w.Arrived > now || w.NotBefore > now+1800*second {
			t.Errorf("it waits: %+v", w)
		}
	})
	if n := r.share.Lane.Queues.Len(); n != 1 {
		t.Errorf("%d messages wait", n)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// A receipt whose message cannot be looked up is left alone, and the log has why.
func TestRetryLost(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	var log testutil.Log
	r.Operations.node.Log = zerolog.New(&log)
	r.fill()
	for _, lost := range []bool{false, true} {
		r.disk.lost = lost
		got := r.change(RetryMessages, Selection{IDs: []uint64{6}})
		if said := strings.Contains(log.String(), errLost.Error()); !slices.Equal(got, []string{ResultUnknown}) || said != lost {
			t.Errorf("lost %v: %q, %s", lost, got, log.String())
		}
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// Whoever waits for a lane in vain gets an error only if the work has not been done, and will not be.
func TestWait(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	c := &changer{Operations: r.Operations}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		ran := false
		r.keep.Begin(roomtest.Engine(r.do))
		if err := c.wait(over, r.share.Lane, func(int64) { ran = true }); err != nil || !ran {
			t.Fatalf("it is done: %v, %v", ran, err)
		}
		var late func(int64)
		r.keep.Begin(roomtest.Engine(func(_ *connector.Lane, f func(int64)) bool { late = f; return true }))
		ran = false
		if err := c.wait(over, r.share.Lane, func(int64) { ran = true }); err == nil {
			t.Fatal("it was not done")
		}
		if late(now); ran {
			t.Fatal("it is done afterwards")
		}
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// Sums are of what waits for one peer together, the most first, and what was put aside comes last.
func TestQueueSums(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	wait := func(connector, account string, n int) {
		o := r.Operations.node.Origins.Of(account, "clients")
		if account == "" {
			o = r.Operations.node.Origins.Of("", "second")
		}
		lane := r.Operations.table.ClientLane("client", nil)
		if connector != "" {
			lane = r.Operations.table.LaneOf(r.Operations.table.Connector(connector))
		}
		s := r.Operations.table.Share(lane, o)
		for range n {
			m := r.message(0, 1)
			m.Origin = o
			s.Enter(m, now)
			lane.Queues.Push(now, s, m)
		}
	}
	wait("second", "client", 0)
	wait("second", "other", 1)
	wait("operator", "client", 1)
	wait("operator", "other", 2)
	wait("", "", 1)
	r.park(r.message(0, 1), r.message(0, 1))
	r.Operations.keep.CountAside(nil, store.Asked, 3)
	want := []QueueSum{
		{Receiver: "client", State: StateQueued, From: "second", Messages: 1},
		{Connector: "operator", State: StateQueued, Account: "other", Messages: 2},
		{Connector: "operator", State: StateQueued, Account: "client", Messages: 1},
		{Connector: "second", State: StateQueued, Account: "other", Messages: 1},
		{State: StateParked, Messages: 2},
		{State: StateAsked, Messages: 3},
	}
	if got := r.QueueSums(now); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}
