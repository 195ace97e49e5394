package gateway

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/credit"
	"pmg/gateway/lists"
	"pmg/gateway/roomtest"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

// When many goroutines ask at the same time, all get the same lane of an account and of a
// connector, and the same origin, tally and share.
func TestLanesConcurrent(t *testing.T) {
	t.Parallel()
	g, clients, operator := start(t, "")
	const askers = 8
	var lanes [askers][3]*connector.Lane
	var shares [askers]*connector.Share
	var origins [askers]*sms.Origin
	var wg sync.WaitGroup
	for i := range askers {
		wg.Go(func() {
			lanes[i] = [3]*connector.Lane{g.Table.AccountLane(g.Node.Config(), "client"), g.Table.AccountLane(g.Node.Config(), "other"), g.Table.LaneOf(operator)}
			for n := range 50 {
				g.Node.Origins.Of(fmt.Sprint("account", n), "clients")
				g.Table.Lanes()
			}
			origins[i] = g.Node.Origins.Of("client", "clients")
			shares[i] = g.Table.Share(lanes[i][2], origins[i])
		})
	}
	wg.Wait()
	for i := range askers {
		if lanes[i] != lanes[0] || origins[i] != origins[0] || shares[i] != shares[0] {
			t.Fatalf("asker %d has lanes, an origin or a share of its own", i)
		}
	}
	if n := len(g.Table.Lanes()); n != 3 || lanes[0][0] == lanes[0][1] {
		t.Errorf("%d lanes", n)
	}
	other := g.Node.Origins.Of("client", "elsewhere")
	if other == origins[0] || other.Tally != origins[0].Tally {
		t.Error("an account's origins do not have their tally in common")
	}
	if g.Table.Share(lanes[0][2], other) != shares[0] {
		t.Error("an account has two shares of a lane")
	}
	if g.Table.Share(lanes[0][2], g.Node.Origins.Of("", "one")) == g.Table.Share(lanes[0][2], g.Node.Origins.Of("", "two")) {
		t.Error("the messages of two SMSCs have one share")
	}
	if g.Table.AccountLane(g.Node.Config(), "nobody") != nil {
		t.Error("an account that does not exist has a lane")
	}

	// A reload has removed the connector, and not put the configuration in force yet.
	clients.Removed.Store(true)
	if g.Table.AccountLane(g.Node.Config(), "client") != nil {
		t.Error("an account that can log in nowhere has a new lane")
	}
}

// A single account may take all of a queue. With several accounts each has its percent,
// which a reload changes.
func TestPercent(t *testing.T) {
	t.Parallel()
	g, _, operator := start(t, "max_queue: 100")
	s := g.Table.Share(g.Table.LaneOf(operator), g.Node.Origins.Of("client", "clients"))
	if s.Room() != 50 {
		t.Errorf("room for %d of 100, want half", s.Room())
	}
	cfg := *g.Node.Config()
	cfg.Accounts = append(cfg.Accounts[:0:0], cfg.Accounts...)
	cfg.Accounts[0].Share = 20
	g.apply(&cfg, &opened{lists: &lists.Opened{}, prices: &credit.Opened{}})
	if s.Room() != 20 {
		t.Errorf("room for %d of 100 after a reload, want 20", s.Room())
	}
	cfg.Accounts = cfg.Accounts[:1]
	g.apply(&cfg, &opened{lists: &lists.Opened{}, prices: &credit.Opened{}})
	if s.Room() != 100 {
		t.Errorf("room for %d of 100, though the account is alone", s.Room())
	}
}

// An account's lane whose connector is removed moves to another connector that the account
// may use: it takes that one's options and is counted there. If there is none, the lane
// empties by itself, and the account's next lane is a new one.
func TestLaneFindsHome(t *testing.T) {
	t.Parallel()
	g, clients, _ := start(t, "")
	lane := g.Table.AccountLane(g.Node.Config(), "client")
	s := g.Table.Share(lane, g.Node.Origins.Of("", "operator"))
	roomtest.Occupy(s, 2)
	for range 2 {
		m := g.Node.Messages.Get()
		m.Origin = s.Origin
		lane.Queues.Push(now, s, m)
	}
	lane.Publish()
	reload := func(new string) *connector.Connector {
		t.Helper()
		cfg := *g.Node.Config()
		cfg.Connectors = append(cfg.Connectors[:0:0], cfg.Connectors...)
		cfg.Connectors[0].Name, cfg.Connectors[0].MaxQueue = new, 7
		if _, err := g.Reload(&cfg, idle{}); err != nil {
			t.Fatal(err)
		}
		return g.Table.Connector(new)
	}
	more := reload("more")
	if lane.Home() != more || g.Table.AccountLane(g.Node.Config(), "client") != lane || lane.Config().MaxQueue != 7 {
		t.Fatalf("the lane's home is %s", lane.Home().Name)
	}
	lane.Publish()
	if more.Queued() != 2 || more.Stats.Queued.Load() != 2 || clients.Queued() != 0 || clients.Stats.Queued.Load() != 0 {
		t.Errorf("%d and %d messages wait at the new home, %d and %d at the old one",
			more.Queued(), more.Stats.Queued.Load(), clients.Queued(), clients.Stats.Queued.Load())
	}
	cfg := *g.Node.Config()
	cfg.Connectors = cfg.Connectors[1:]
	if _, err := g.Reload(&cfg, idle{}); err != nil {
		t.Fatal(err)
	}
	if lane.Home() != more || g.Table.AccountLane(g.Node.Config(), "client") != nil {
		t.Error("an account that can log in nowhere has a lane")
	}
	cfg.Connectors = append([]config.Connector{*clients.Config()}, cfg.Connectors...)
	if _, err := g.Reload(&cfg, idle{}); err != nil {
		t.Fatal(err)
	}
	if next := g.Table.AccountLane(g.Node.Config(), "client"); next == nil || next == lane {
		t.Error("an account that may log in again has no lane of its own")
	}
}

// U3: a message whose lane is down moves to the lane that a new message would take, if
// that is another one and up. An SMSC's own messages do not go back to it.
func TestReroute(t *testing.T) {
	t.Parallel()
	g, err := New(parse(t, `
pdulog: {enabled: false}
accounts:
  - {system_id: one, password: secret, receives: ["1"]}
  - {system_id: two, password: secret, receives: ["2"]}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: a, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
  - {name: b, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
routes:
  - {to: [{account: one}, {account: two}], from: a, destination: "9"}
  - {to: clients, from: a}
  - {to: [a, b]}
`), zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) { return toy.New(), nil })
	if err != nil {
		t.Fatal(err)
	}
	a, b := g.Table.LaneOf(g.Table.Connector("a")), g.Table.LaneOf(g.Table.Connector("b"))
	one, two := g.Table.AccountLane(g.Node.Config(), "one"), g.Table.AccountLane(g.Node.Config(), "two")
	message := func(account, from, dest string) *sms.Message {
		m := g.Node.Messages.Get()
		if m.Origin = g.Node.Origins.Of(account, from); account == "" {
			m.Kind = sms.MO
		}
		m.Set(sms.Address{}, sms.Address{Addr: []byte(dest)}, nil)
		return m
	}
	up := func(l *connector.Lane) {
		link := &connector.Link{}
		link.Open(l.Home().Acquire(), netip.AddrPort{}, now, nil)
		l.Window.Bound(link, true)
	}
	want := func(why string, from *connector.Lane, m *sms.Message, always bool, to *connector.Lane) {
		t.Helper()
		var got *connector.Lane
		if s := g.Table.Reroute(from, m, always); s != nil {
			got = s.Lane
		}
		if got != to {
			t.Errorf("%s: goes to %v", why, got)
		}
	}
	mt, mo, routed := message("one", "clients", "2"), message("", "a", "2"), message("", "a", "9")
	want("none is up", b, mt, false, nil)
	want("none is up, but the lane goes", b, mt, true, a)
	want("the lane itself is the only target", a, mt, true, nil)
	want("the client is not there", one, mo, false, nil)
	want("no client is there", one, routed, false, nil)
	up(b)
	want("another is up", a, mt, false, b)
	want("the lane itself is up", b, mt, false, nil)
	up(one)
	want("another client is there", two, mo, false, nil)
	want("the first client is there", two, routed, false, one)
	up(two)
	want("the client is there", one, mo, false, two)
	want("where it came from", one, message("", "b", "5"), true, nil)
}
