package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// change changes messages as pmg queue does, and returns what was done to them, in order.
func (g *gw) change(what, to string, s operate.Selection) (results []string) {
	g.t.Helper()
	for from, more := uint64(0), true; more; {
		p, err := g.Operate.ChangeStored(g.t.Context(), operate.QueueChange{What: what, To: to, Operator: "127.0.0.1:9"}, s, from, 3)
		if err != nil {
			g.t.Fatal(err)
		}
		for _, m := range p.Messages {
			results = append(results, m.Result)
		}
		from, more, s.UpTo = p.Next, p.Next != 0, p.UpTo
	}
	return results
}

// stored returns the states of the messages in the store.
func (g *gw) stored() (states []string) {
	g.t.Helper()
	p, err := g.Operate.ListStored(operate.Selection{}, 0, 1000)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, m := range p.Messages {
		states = append(states, m.State)
	}
	return states
}

func (g *gw) wantStored(states ...string) {
	g.t.Helper()
	testutil.Eventually(g.t, fmt.Sprint("the store has ", states), func() bool { return slices.Equal(g.stored(), states) })
}

func (g *gw) wantChange(what, to string, s operate.Selection, results ...string) {
	g.t.Helper()
	if got := g.change(what, to, s); !slices.Equal(got, results) {
		g.t.Errorf("%s %s: got %q, want %q", what, to, got, results)
	}
}

// A message without a route is accepted and put aside, over a restart too. When a reload
// has added a route, a retry sends it.
func TestParked(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	nowhere := site{operator: operator, store: vfs.NewMem(), top: "no_route: park\n", routes: "{to: operator, destination: \"99\"}"}
	g := start(t, nowhere)
	c := g.bind("transmitter")
	c.put(1, 3)
	s := operator.session()
	operator.down() // so that it is not connected again
	s.conn.Close()
	if n := g.Gateway.Keeper.Aside(store.Parked); n != 3 || g.Pending() != 0 {
		t.Errorf("%d are parked, %d wait", n, g.Pending())
	}
	c.conn.Close()
	g.stop()

	operator.up()
	g = start(t, nowhere)
	parked := operate.StateParked
	g.wantStored(parked, parked, parked)
	equal(t, "are parked after a restart", g.Gateway.Keeper.Aside(store.Parked), 3)
	no := operate.ResultNoRoute
	g.wantChange(operate.RetryMessages, "", operate.Selection{State: parked}, no, no, no)
	g.wantChange(operate.DeleteMessages, "", operate.Selection{Account: "other"})
	everywhere := nowhere
	everywhere.routes = "{to: operator}"
	g.mustReload(everywhere)
	first, err := g.Operate.ListStored(operate.Selection{}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	id, _ := sms.ParseID(first.Messages[0].ID)
	g.wantChange(operate.DeleteMessages, "", operate.Selection{IDs: []uint64{id, 5}}, operate.ResultDeleted)
	done := operate.ResultRetried
	g.wantChange(operate.RetryMessages, "", operate.Selection{State: parked}, done, done)
	if g.log.count("an operator changes messages that wait: retry", `"operator":"127.0.0.1:9"`, `"retried":2`, first.Messages[0].ID) != 0 ||
		g.log.count("an operator changes messages that wait: retry", `"operator":"127.0.0.1:9"`, `"retried":2`) != 1 ||
		g.log.count("an operator changes messages that wait: delete", `"operator":"127.0.0.1:9"`, first.Messages[0].ID) != 1 { // T19
		t.Error("the log does not say who changed which messages")
	}
	operator.session().serve(2, 3)
	g.wantStored()
	testutil.Eventually(t, "nothing is counted any more", func() bool { return g.Gateway.Keeper.Aside(store.Parked) == 0 && g.Pending() == 0 })
}

// A message at which a part of the gateway fails is tried three times and then put aside,
// over a restart too. Others go on.
func TestQuarantined(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	broken := site{operator: operator, out: "retry: [100ms, 200ms]", store: vfs.NewMem(), driver: func(d protocols.SessionDriver) protocols.SessionDriver { return faulty{d} }}
	g := start(t, broken)
	g.faulty = true
	s, c := operator.session(), g.bind("transmitter")
	c.send(faultyLine(1, "encode"))
	c.accepted(1, 1)
	c.put(2, 2)
	s.serve(2, 2)
	testutil.Eventually(t, "it is quarantined", func() bool { return g.Gateway.Keeper.Aside(store.Quarantined) == 1 && g.Pending() == 0 })
	g.wantStored(operate.StateQuarantined)
	equal(t, "have failed, but it has not ended", g.stats("operator").Failed.Load(), 0)
	g.wantChange(operate.RetryMessages, "", operate.Selection{}, operate.ResultRetried)
	testutil.Eventually(t, "it is quarantined again", func() bool { return g.Gateway.Keeper.Aside(store.Quarantined) == 1 && g.Pending() == 0 })
	c.conn.Close()
	operator.down()
	s.conn.Close()
	g.stop()

	operator.up()
	mended := broken
	mended.driver = nil
	g = start(t, mended)
	equal(t, "are quarantined after a restart", g.Gateway.Keeper.Aside(store.Quarantined), 1)
	g.wantStored(operate.StateQuarantined)
	g.wantChange(operate.RetryMessages, "", operate.Selection{State: operate.StateQuarantined}, operate.ResultRetried)
	s = operator.session()
	s.answer(0, field(s.want("submit_sm", `short_message="fault:encode"`), "seq"))
	g.wantStored()
}

// An operator deletes and moves messages that wait in a lane. What is under way is left
// alone, and nothing is sent twice.
func TestChangeQueued(t *testing.T) {
	parallel(t)
	operator, second := newSMSC(t), newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 1", store: vfs.NewMem(), more: row("second", second, "")})
	s, s2, c := operator.session(), second.session(), g.bind("transmitter")
	g.online("second", 1)
	c.submit(1, 10)
	c.accepted(1, 10)
	under := s.take(1, 1)
	testutil.Eventually(t, "the others wait", func() bool { return len(g.stored()) == 10 })
	var all []uint64
	p, err := g.Operate.ListStored(operate.Selection{Connector: "operator", Text: true}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.Messages {
		id, _ := sms.ParseID(m.ID)
		all = append(all, id)
	}
	if len(all) != 10 || *p.Messages[3].Text != "4" || p.Messages[3].Account != "acme" {
		t.Errorf("got %+v", p.Messages)
	}
	way := operate.ResultUnderWay
	deleted, moved := operate.ResultDeleted, operate.ResultMoved
	g.wantChange(operate.DeleteMessages, "", operate.Selection{IDs: all[:3]}, way, deleted, deleted)
	if n := g.stats("operator").Cancelled.Load(); n != 2 {
		t.Errorf("%d are cancelled", n)
	}
	g.wantChange(operate.MoveMessages, "second", operate.Selection{IDs: all[2:6]}, moved, moved, moved)
	s2.serve(4, 6)
	queued := operate.StateQueued
	g.wantStored(queued, queued, queued, queued, queued)
	retried := operate.ResultRetried
	g.SeeClock(g.engine.Counters().Now - int64(time.Hour)) // the wall clock was set
	g.wantChange(operate.RetryMessages, "", operate.Selection{}, way, retried, retried, retried, retried)
	s.answer(0, under...)
	s.serve(7, 10)
	g.wantStored()
	testutil.Eventually(t, "nothing waits", func() bool { return g.Pending() == 0 })
	if _, err := g.Operate.ChangeStored(t.Context(), operate.QueueChange{What: operate.MoveMessages, To: "clients"}, operate.Selection{}, 0, 10); err == nil ||
		err.Error() != `cannot move messages: there is no out connector "clients"; the out connectors are: operator, second` {
		t.Errorf("got %v", err)
	}
}

// Messages that are named are listed in the order of their ids, a page at a time, and each once. A
// gateway without a store says that it has none.
func TestListByIDs(t *testing.T) {
	parallel(t)
	g := start(t, site{store: vfs.NewMem(), more: downRow(t, "operator", "static: false"), routes: "{to: operator}"})
	c := g.bind("transmitter")
	c.submit(1, 4)
	ids := c.ids(1, 4)
	var named []uint64
	for _, n := range []int{4, 2, 1, 4} {
		id, err := sms.ParseID(ids[n])
		if err != nil {
			t.Fatal(err)
		}
		named = append(named, id)
	}
	for account, want := range map[string][]string{"": {ids[1], ids[2], ids[4]}, "other": nil} {
		var got []string
		looked := 0
		for from, more := uint64(0), true; more; {
			p, err := g.Operate.ListStored(operate.Selection{IDs: append(named, named[0]+100), Account: account}, from, 2)
			if err != nil || len(p.Messages) > 2 {
				t.Fatal(p, err)
			}
			for _, m := range p.Messages {
				got = append(got, m.ID)
			}
			from, more = p.Next, p.Next != 0
			looked += p.Looked
		}
		if !slices.Equal(got, want) || looked != 3 {
			t.Errorf("%q: got %q of %d, want %q", account, got, looked, want)
		}
	}
}

// Deleting messages makes room for submits that wait for it.
func TestDeleteMakesRoom(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	operator.down()
	g := start(t, site{operator: operator, out: "max_queue: 5, window: 1", store: vfs.NewMem()})
	c := g.bind("transmitter")
	c.submit(1, 6)
	c.accepted(1, 5)
	c.fence()
	deleted := operate.ResultDeleted
	g.wantChange(operate.DeleteMessages, "", operate.Selection{Connector: "operator"}, deleted, deleted, deleted, deleted, deleted)
	c.accepted(6, 6)
	g.wantStored(operate.StateQueued)
}
