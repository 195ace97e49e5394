package route

import (
	"testing"

	"pmg/sms"
)

// A table with accounts that receive, and where messages go: by their origin and destination.
func TestRoute(t *testing.T) {
	t.Parallel()
	tb := newTable(t, `
pdulog: {enabled: false}
accounts:
  - {system_id: one, password: secret, receives: [71], share: 30}
  - {system_id: two, password: secret, receives: [72], connectors: [others], share: 40}
  - {system_id: three, password: secret, receives: [73], connectors: [clients]}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: others, direction: in, address: "127.0.0.1:0"}
  - {name: a, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}
  - {name: b, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}
routes:
  - {to: {account: two}, from: a, destination: 9}
  - {to: clients, from: a}
  - {to: others, from: b, destination: 7}
  - {to: a}
`)
	for _, c := range []struct {
		account, from, dest string
		kind                sms.Kind
		to, home            string // the account or the out connector; its lane's home
		share               int
	}{
		{"one", "clients", "71", sms.Submit, "", "a", 30},
		{"two", "others", "71", sms.Submit, "", "a", 40},
		{"gone", "others", "71", sms.Submit, "", "a", 100},
		{"", "a", "71", sms.MO, "one", "clients", 100},
		{"", "a", "72", sms.MO, "none", "", 0}, // its account may not log in there
		{"", "a", "73", sms.MO, "three", "clients", 100},
		{"", "a", "74", sms.MO, "none", "", 0}, // nobody receives it
		{"", "a", "9", sms.MO, "two", "others", 100},
		{"", "b", "72", sms.MO, "two", "others", 100},
		{"", "b", "71", sms.MO, "one", "clients", 100},
		{"", "b", "8", sms.MO, "", "a", 100},
		{"", "a", "71", sms.Receipt, "none", "", 0},
	} {
		m := submitted(tb)
		m.Kind, m.Origin = c.kind, tb.Origins.Of(c.account, c.from)
		m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte(c.dest)}, nil)
		lane := tb.Route(m)
		if lane == nil {
			if c.to != "none" {
				t.Errorf("%+v: no lane", c)
			}
			continue
		}
		if lane.Account != c.to || lane.Home().Name != c.home {
			t.Errorf("%+v: goes to %q on %q", c, lane.Account, lane.Home().Name)
		}
		if got := tb.percent(tb.routes.Load(), c.account); got != c.share {
			t.Errorf("%+v: may take %d %%", c, got)
		}
	}
}

// A message that no other route takes does not go back to the SMSC that it came from; a client's does.
func TestRouteBack(t *testing.T) {
	t.Parallel()
	tb := trio(t, "[a]")
	m := submitted(tb)
	if l := tb.Route(m); l == nil || l.Home().Name != "a" {
		t.Error("a client's message does not go to a")
	}
	m.Kind, m.Origin = sms.MO, tb.Origins.Of("", "a")
	if tb.Route(m) != nil {
		t.Error("one of a goes back")
	}
	if m.Origin = tb.Origins.Of("", "b"); tb.Route(m) == nil {
		t.Error("one of b does not go to a")
	}
}

// An account's lane moves to another connector that the account may use when its own is removed, and is not used for new
// messages when there is none.
func TestAccountLane(t *testing.T) {
	t.Parallel()
	tb := newTable(t, `
pdulog: {enabled: false}
accounts:
  - {system_id: any, password: secret}
  - {system_id: bound, password: secret, connectors: [first]}
  - {system_id: sends, password: secret, bind: transmitter}
connectors:
  - {name: first, direction: in, address: "127.0.0.1:0"}
  - {name: second, direction: in, address: "127.0.0.1:0"}
  - {name: a, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
routes: [{to: a}]
`)
	cfg := tb.Config()
	any, bound := tb.AccountLane(cfg, "any"), tb.AccountLane(cfg, "bound")
	if any == nil || bound == nil || any == bound || any.Home().Name != "first" || bound.Home().Name != "first" || tb.AccountLane(cfg, "gone") != nil {
		t.Fatal("the lanes are others")
	}
	tb.Connector("first").Removed.Store(true)
	if l := tb.AccountLane(cfg, "any"); l != any || l.Home().Name != "second" {
		t.Error("a lane does not move to the connector that is left")
	}
	if l := tb.AccountLane(cfg, "bound"); l != nil {
		t.Errorf("a lane without a connector is used: %s", l.Home().Name)
	}
}
