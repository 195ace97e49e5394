package route

import (
	"testing"

	"pmg/config"
	"pmg/sms"
	"pmg/store"
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
  - {to: {account: two}, from: others, destination: 5}
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
		{"two", "others", "5", sms.Submit, "two", "others", 40}, // to a client on the connector that it came by
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
		m.Kind, m.Origin = c.kind, tb.node.Origins.Of(c.account, c.from)
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
		if got := tb.routes.Load().percent(c.account); got != c.share {
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
	m.Kind, m.Origin = sms.MO, tb.node.Origins.Of("", "a")
	if tb.Route(m) != nil {
		t.Error("one of a goes back")
	}
	if m.Origin = tb.node.Origins.Of("", "b"); tb.Route(m) == nil {
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
	cfg := tb.node.Config()
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
	tb.Connectors()[0].Removed.Store(false)
	if l := tb.AccountLane(cfg, "any"); l != any || l.Home().Name != "second" {
		t.Error("a lane moves although its connector is there")
	}
	if l := tb.AccountLane(cfg, "bound"); l == nil || l == bound {
		t.Error("a lane that was given up is used again")
	}
	tb.Connector("second").Removed.Store(true)
	tb.Apply(cfg, nil)
	if any.Home().Name != "first" || bound.Home().Name != "first" {
		t.Error("a reload does not move a lane to the connector that is left")
	}
	if tb.ClientLane("any", nil) != any || tb.ClientLane("sends", nil) != nil || tb.ClientLane("gone", nil) != nil {
		t.Error("the lanes of clients that receive are others")
	}
	for name, want := range map[store.Lane]string{
		{Account: "any"}: "first", {Connector: "a"}: "a", {Connector: "first"}: "", {Connector: "gone"}: "", {Account: "gone"}: "",
	} {
		got := ""
		if l := tb.LaneNamed(cfg, name); l != nil {
			got = l.Home().Name
		}
		if got != want {
			t.Errorf("the lane %+v of the store is that of %q, want %q", name, got, want)
		}
	}
}

// Messages for an account that may receive, but on no connector with sessions, go to its webhook, or wait to be fetched.
func TestAccountWithoutSessions(t *testing.T) {
	t.Parallel()
	tb := newTable(t, `
pdulog: {enabled: false}
accounts:
  - {system_id: hooked, password: secret, webhook: "http://127.0.0.1:1/", connectors: [api]}
  - {system_id: fetches, password: secret, pull: true, connectors: [api]}
  - {system_id: shared, password: secret, pull: true, connectors: [api], receives: ["3"]}
connectors:
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0"}
  - {name: a, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
routes:
  - {from: a, destination: "1", to: {account: hooked}}
  - {from: a, destination: "2", to: {account: fetches}}
  - {from: a, destination: "3", to: api}
  - {to: a}
`)
	for dest, account := range map[string]string{"1": "hooked", "2": "fetches", "3": "shared"} {
		m := &sms.Message{ID: 7, Kind: sms.MO, Origin: tb.node.Origins.Of("", "a")}
		m.Set(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte(dest)}, []byte("text"))
		l := tb.Route(m)
		if l == nil || l.Account != account || l.Endpoint == "" || tb.ClientLane(account, nil) != l {
			t.Errorf("a message for %s leaves by %v", account, l)
		}
	}
}

// An account alone may take a queue, one of several its part of it, which a reload changes.
func TestPercent(t *testing.T) {
	t.Parallel()
	parse := func(accounts string) *config.Config {
		cfg, _, err := config.Parse([]byte("accounts:\n"+accounts+`
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: a, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, max_queue: 1000}
routes: [{to: a}]
`), config.Options{Protocols: []string{"smpp"}})
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	tb := newTable(t, `
connectors: [{name: a, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, max_queue: 1000}]
`)
	share := tb.Share(laneTo(tb, "a"), tb.node.Origins.Of("one", "clients"))
	for _, c := range []struct {
		accounts string
		want     int64
	}{
		{"  - {system_id: one, password: secret, share: 30}", 1000},
		{"  - {system_id: one, password: secret, share: 30}\n  - {system_id: two, password: secret}", 300},
		{"  - {system_id: one, password: secret, share: 40}\n  - {system_id: two, password: secret}", 400},
		{"  - {system_id: two, password: secret}\n  - {system_id: three, password: secret}", 1000}, // it is gone
	} {
		if tb.Apply(parse(c.accounts), nil); share.Room() != c.want {
			t.Errorf("%s: room for %d messages, want %d", c.accounts, share.Room(), c.want)
		}
		if again := tb.Share(laneTo(tb, "a"), tb.node.Origins.Of("one", "clients")); again != share {
			t.Error("another share")
		}
	}
}

// The options by which the validity of messages matters.
func TestHasLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		account, connector string
		want               bool
	}{
		{"", "", false},
		{"validity: 1h", "", true},
		{"max_validity: 1h", "", true},
		{"", "validity: 1h", true},
		{"", "max_validity: 1h", true},
	} {
		tb := newTable(t, `
accounts: [{system_id: client, password: secret, `+c.account+`}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: a, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, `+c.connector+`}
routes: [{to: a}]
`)
		if got := tb.HasLimits(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
