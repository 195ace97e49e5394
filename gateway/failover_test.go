package gateway

import (
	"fmt"
	"slices"
	"testing"

	"pmg/connector"
	"pmg/gateway/settle"
	"pmg/sms"
	"pmg/store"
)

// newTrio makes a gateway with the out connectors a, b and c, which are up, and one route.
func newTrio(t *testing.T, options, to string) *Gateway {
	yaml := "pdulog: {enabled: false}\naccounts: [{system_id: client, password: secret}]\nconnectors:\n" +
		"  - {name: clients, direction: in, address: \"127.0.0.1:0\"}\n"
	for _, name := range []string{"a", "b", "c"} {
		yaml += fmt.Sprintf("  - {name: %s, direction: out, address: \"127.0.0.1:1\", system_id: pmg, password: secret, static: false, %s}\n", name, options)
	}
	return startWith(t, yaml+"routes: [{to: "+to+"}]\n")
}

func (g *Gateway) laneTo(name string) *connector.Lane { return g.Table.LaneOf(g.Table.Connector(name)) }

// down takes a lane down.
func (g *Gateway) down(name string, down bool) {
	g.Table.Connector(name).Stats.Failing.Store(map[bool]int64{true: 1}[down])
}

// submitted returns a message that a client has submitted.
func (g *Gateway) submitted() *sms.Message {
	m := &sms.Message{ID: 7, Origin: g.Node.Origins.Of("client", "clients")}
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("text"))
	return m
}

// fail plays that a message is answered so on every attempt, and returns the lanes that had it,
// with the number of attempts.
func (g *Gateway) fail(lane *connector.Lane, m *sms.Message, code sms.Code) (had []string) {
	for n := 1; ; n++ {
		o := g.Settler.Settle(lane, m, sms.Answer{Code: code, At: now}, true)
		if o.Again && o.To == nil && n < 20 {
			continue
		}
		had = append(had, fmt.Sprint(lane.Home().Name, n))
		if o.To == nil {
			return had
		}
		lane, n = o.To.Lane, 0
	}
}

// A message that was refused for a while, or not answered, goes to each target of its route in
// turn, after as many attempts as there are to be; one that was refused for good to none.
func TestFailover(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options string
		code    sms.Code
		down    string
		want    []string
	}{
		{"retry: [1s, 2s]", sms.QueueFull, "", []string{"a3", "b3", "c3"}},
		{"retry: []", sms.TemporaryFailure, "", []string{"a1", "b1", "c1"}},
		{"retry: [1s, 2s], failover_attempts: 1", sms.SystemError, "", []string{"a1", "b1", "c3"}},
		{"retry: [1s, 2s], failover_attempts: 2", sms.Timeout, "", []string{"a2", "b2", "c3"}},
		{"retry: [1s, 2s], failover_attempts: 2", sms.Lost, "", []string{"a2", "b2", "c3"}},
		{"retry: [1s, 2s], failover_attempts: 1, on_unknown: fail", sms.Timeout, "", []string{"a1"}},
		{"retry: [1s, 2s], failover_attempts: 1, on_unknown: fail", sms.QueueFull, "", []string{"a1", "b1", "c3"}},
		{"retry: [1s, 2s], failover_attempts: 1", sms.QueueFull, "b", []string{"a1", "c3"}},
		{"retry: [1s, 2s], failover_attempts: 1", sms.QueueFull, "bc", []string{"a3"}},
		{"retry: {throttled: [1s]}", sms.Throttled, "", []string{"a5", "b5", "c5"}},
		{"failover_attempts: 1", sms.Throttled, "", []string{"a20"}}, // it keeps its place
		{"failover_attempts: 1", sms.BadDestination, "", []string{"a1"}},
		{"failover_attempts: 1", sms.Rejected, "", []string{"a1"}},
		{"failover_attempts: 1", sms.Faulty, "", []string{"a3"}}, // and is put aside then
	} {
		g := newTrio(t, c.options, "[a, b, c]")
		for _, name := range c.down {
			g.down(string(name), true)
		}
		m := g.submitted()
		if had := g.fail(g.laneTo("a"), m, c.code); !slices.Equal(had, c.want) {
			t.Errorf("%s, %s: %v, want %v", c.options, c.code, had, c.want)
		}
	}
}

// No code of an answer that ends a message makes it go to another target, and every other does.
func TestFailoverOfEveryCode(t *testing.T) {
	t.Parallel()
	g := newTrio(t, "retry: {throttled: [], temporary: [], lost: []}", "[a, b]")
	for _, code := range sms.Codes() {
		want := []string{"a1"}
		switch code.Failure() {
		case sms.Throttling:
			want = []string{"a4", "b4"}
		case sms.Temporary, sms.NoAnswer:
			want = []string{"a1", "b1"}
		}
		if code == sms.Faulty { // it is tried again, and put aside then
			want = []string{"a3"}
		}
		if had := g.fail(g.laneTo("a"), g.submitted(), code); !slices.Equal(had, want) {
			t.Errorf("%s: %v, want %v", code, had, want)
		}
	}
}

// The targets that have failed are stored with the message. Attempts at all of them count.
func TestFailoverIsStored(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"[a, b, c]", "[{connector: a, weight: 1}, {connector: b, weight: 5}, {connector: c, weight: 1}]"} {
		g := newTrio(t, "retry: [1s]", to)
		m := g.submitted()
		lane := g.laneTo("a")
		for range 2 {
			g.Settler.Settle(lane, m, sms.Answer{Code: sms.QueueFull, At: now}, true)
		}
		second := g.Table.FailOver(lane, m)
		if second == nil || second.Lane == lane || m.Attempts != 0 || m.Earlier != 2 || m.NotBefore != 0 {
			t.Fatalf("%+v", m)
		}
		s, err := store.DecodeState(store.AppendState(nil, m, store.State{}, 0))
		if err != nil {
			t.Fatal(err)
		}
		again := g.submitted()
		s.Restore(again, 0)
		third := g.Table.FailOver(second.Lane, again)
		if third == nil || third.Lane == lane || third.Lane == second.Lane {
			t.Fatalf("%s: %+v", to, again)
		}
		if last := g.Table.FailOver(third.Lane, again); last != nil {
			t.Errorf("%s: it goes to %s, which had it", to, last.Lane.Home().Name)
		}
		if n := settle.AttemptsOf(again, sms.OK, 1); n != 3 {
			t.Errorf("%d attempts", n)
		}
		if again.ForgetAttempts(); g.Table.FailOver(third.Lane, again) == nil {
			t.Error("an operator's retry does not forget the targets")
		}
	}
}

// A message whose target goes down moves to one that has not failed to send it, and to one that
// has only if no other is up. Targets of another route are not mixed up with those.
func TestRerouteUntried(t *testing.T) {
	t.Parallel()
	g := newTrio(t, "retry: []", "[a, b, c]")
	m := g.submitted()
	b := g.Table.FailOver(g.laneTo("a"), m)
	if b == nil || b.Lane != g.laneTo("b") {
		t.Fatal("it does not go to b")
	}
	g.down("b", true)
	if s := g.Table.Reroute(b.Lane, m, false); s == nil || s.Lane != g.laneTo("c") {
		t.Error("it does not move to c")
	}
	g.down("c", true)
	if s := g.Table.Reroute(b.Lane, m, false); s == nil || s.Lane != g.laneTo("a") {
		t.Error("it does not move back to a")
	}
	other := newTrio(t, "retry: []", "[b, a]")
	if s := other.Table.FailOver(other.laneTo("b"), m); s == nil || s.Lane != other.laneTo("a") {
		t.Error("another route's targets are taken for those that have failed")
	}
	m.Origin = g.Node.Origins.Of("", "b")
	m.ForgetAttempts()
	g.down("b", false)
	if s := g.Table.FailOver(g.laneTo("a"), m); s != nil {
		t.Errorf("a message from the SMSC b goes to %s", s.Lane.Home().Name)
	}
}
