package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/operate"
	"pmg/internal/testutil"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// change changes messages as pmg queue does, and returns what was done to them, in order.
func (g *gw) change(what, to string, s operate.Selection) (results []string) {
	g.t.Helper()
	for from, more := uint64(0), true; more; {
		p, err := g.Operate.ChangeStored(g.t.Context(), g.engine.Do, operate.QueueChange{What: what, To: to, Operator: "127.0.0.1:9"}, s, from, 3)
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
	broken := site{operator: operator, out: "retry: [100ms, 200ms]", store: vfs.NewMem(), driver: func(d protocols.Driver) protocols.Driver { return faulty{d} }}
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
