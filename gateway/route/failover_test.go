package route

import (
	"fmt"
	"slices"
	"testing"

	"pmg/config"
	"pmg/connector"
	"pmg/sms"
)

// laneTo returns the lane of an out connector.
func laneTo(tb *Table, name string) *connector.Lane { return tb.LaneOf(tb.Connector(name)) }

// down takes lanes of out connectors down.
func down(tb *Table, names ...string) {
	for _, name := range names {
		tb.Connector(name).Stats.Failing.Store(1)
	}
}

// The answers after which a message goes to another target, when it would be sent again and when it
// would end.
func TestMayFailOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code         sms.Code
		onUnknown    string
		after        int // failover_attempts
		attempts     uint8
		again, ended bool // whether it may
	}{
		{sms.QueueFull, config.Resend, 0, 200, false, true},
		{sms.QueueFull, config.Resend, 3, 2, false, true},
		{sms.QueueFull, config.Resend, 3, 3, true, true},
		{sms.QueueFull, config.Resend, 3, 4, true, true},
		{sms.QueueFull, "fail", 1, 1, true, true},
		{sms.Throttled, config.Resend, 1, 1, true, true},
		{sms.Timeout, config.Resend, 1, 1, true, true},
		{sms.Timeout, "fail", 1, 1, false, false},
		{sms.Lost, config.Resend, 2, 1, false, true},
		{sms.Rejected, config.Resend, 1, 1, false, false},
	} {
		cfg := &config.Connector{OnUnknown: c.onUnknown, Times: config.Times{FailoverAttempts: c.after}}
		m := &sms.Message{Attempts: c.attempts}
		again, ended := MayFailOver(cfg, m, sms.Answer{Code: c.code}, true), MayFailOver(cfg, m, sms.Answer{Code: c.code}, false)
		if again != c.again || ended != c.ended {
			t.Errorf("%+v: %v where it would be sent again, %v where it would end", c, again, ended)
		}
	}
}

// A message goes to each target of its route that is up, once, and never back to the SMSC that it came from.
func TestFailOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to, down, from string
		want           []string // the lanes that have it, in any order behind the first if the route has weights
	}{
		{"[a, b, c]", "", "", []string{"a", "b", "c"}},
		{"[a, b, c]", "b", "", []string{"a", "c"}},
		{"[a, b, c]", "", "b", []string{"a", "c"}},
		{"[a, clients, c]", "", "", []string{"a", "c"}}, // its account has no session
		{"[a, b]", "", "", []string{"a", "b"}},
		{"[a]", "", "", []string{"a"}},
		{"[{connector: a, weight: 1}, {connector: b, weight: 5}, {connector: c, weight: 1}]", "", "", []string{"a", "b", "c"}},
	} {
		tb := trio(t, c.to)
		if c.down != "" {
			down(tb, c.down)
		}
		m, lane := submitted(tb), laneTo(tb, "a")
		if c.from != "" {
			m.Kind, m.Origin = sms.MO, tb.node.Origins.Of("", c.from)
		}
		m.Earlier = 250
		had, all := []string{"a"}, 250
		for n := uint8(1); len(had) < 5; n++ {
			m.Attempts, m.Throttles, m.NotBefore = n, 1, 1
			s := tb.FailOver(lane, m)
			if s == nil {
				break
			}
			if all = min(all+int(n), 255); int(m.Earlier) != all || m.Attempts != 0 || m.Throttles != 0 || m.NotBefore != 0 {
				t.Errorf("%s: %d attempts, %d earlier, throttled %d times, not before %d", c.to, m.Attempts, m.Earlier, m.Throttles, m.NotBefore)
			}
			if lane = s.Lane; !lane.Queues.MayBeUnfit(m.ID) {
				t.Errorf("%s: it may not fit %s, which is not known there", c.to, lane.Home().Name)
			}
			had = append(had, lane.Home().Name)
		}
		if slices.Sort(had[1:]); !slices.Equal(had, c.want) {
			t.Errorf("%s: %v, want %v", c.to, had, c.want)
		}
	}
}

// A reply to a mobile leaves by the connector that brought what it answers, or not at all.
func TestReplyHasNoOtherTarget(t *testing.T) {
	t.Parallel()
	tb := trio(t, "[a, b, c]")
	m, a := submitted(tb), laneTo(tb, "a")
	if tb.FailOver(a, m) == nil {
		t.Error("a message has no other target")
	}
	m = submitted(tb)
	m.Origin = tb.node.Origins.Of("", "a")
	if tb.FailOver(a, m) != nil || tb.Route(m) != a || tb.Choose(m) != nil {
		t.Error("it has another target")
	}
	down(tb, "a")
	if tb.Reroute(a, m, true) != nil {
		t.Error("it goes elsewhere when its lane is down")
	}
	if m.Origin = tb.node.Origins.Of("", "none"); tb.Route(m) != nil {
		t.Error("it goes elsewhere when its connector is gone")
	}
}

// A target whose clients receive nothing for the destination is passed over.
func TestFailOverToNobody(t *testing.T) {
	t.Parallel()
	tb := newTable(t, `
accounts:
  - {system_id: one, password: secret, receives: [71]}
  - {system_id: two, password: secret, receives: [72]}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: a, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}
  - {name: b, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}
routes: [{to: [a, clients, b]}]
`)
	if s := tb.FailOver(laneTo(tb, "a"), submitted(tb)); s == nil || s.Lane != laneTo(tb, "b") {
		t.Error("it does not go to b")
	}
}

// A message beside the targets that have failed takes another one, one of these if no other is up, and any where a
// reload has changed the route. A lane that is down is left only for one that is up, unless any will do.
func TestReroute(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to, had, down string // had: lanes that have failed to send it, one letter each
		from          string // the lane that it waits in
		some, any     string // the lane that it moves to: only to one that is up, and to any
	}{
		{"[a, b, c]", "", "a", "a", "b", "b"},
		{"[a, b, c]", "a", "b", "b", "c", "c"},
		{"[a, b, c]", "a", "bc", "b", "a", "a"},
		{"[a, b, c]", "", "abc", "b", "", "a"},
		{"[a, b, c]", "", "", "a", "", ""},
	} {
		tb := trio(t, c.to)
		m := submitted(tb)
		for _, lane := range c.had {
			tb.FailOver(laneTo(tb, string(lane)), m)
		}
		for _, lane := range c.down {
			down(tb, string(lane))
		}
		for _, always := range []bool{false, true} {
			want, got := c.some, ""
			if always {
				want = c.any
			}
			if s := tb.Reroute(laneTo(tb, c.from), m, always); s != nil {
				if got = s.Lane.Home().Name; !s.Lane.Queues.MayBeUnfit(m.ID) {
					t.Errorf("%+v: it may not fit %s, which is not known there", c, got)
				}
			}
			if got != want {
				t.Errorf("%+v: moves to %q, want %q", c, got, want)
			}
		}
		if other := trio(t, "[c, b, a]"); len(c.had) == 1 {
			if l := other.Route(m); l == nil || l.Home().Name != "c" {
				t.Error(fmt.Sprint(c, ": targets of another route are taken for those that have failed"))
			}
		}
	}
}
