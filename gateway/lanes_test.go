package gateway

import (
	"fmt"
	"sync"
	"testing"

	"pmg/config"
	"pmg/connector"
	"pmg/sms"
)

// Whichever of many goroutines asks first, there is one lane for an account and one
// for a connector, one origin, one tally and one share.
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
			lanes[i] = [3]*connector.Lane{g.accountLane(g.Config(), "client"), g.accountLane(g.Config(), "other"), g.LaneOf(operator)}
			for n := range 50 {
				g.origins.of(fmt.Sprint("account", n), "clients")
				g.Lanes()
			}
			origins[i] = g.origins.of("client", "clients")
			shares[i] = g.share(lanes[i][2], origins[i])
		})
	}
	wg.Wait()
	for i := range askers {
		if lanes[i] != lanes[0] || origins[i] != origins[0] || shares[i] != shares[0] {
			t.Fatalf("asker %d has lanes, an origin or a share of its own", i)
		}
	}
	if n := len(g.Lanes()); n != 3 || lanes[0][0] == lanes[0][1] {
		t.Errorf("%d lanes", n)
	}
	other := g.origins.of("client", "elsewhere")
	if other == origins[0] || other.Tally != origins[0].Tally {
		t.Error("an account's origins do not have their tally in common")
	}
	if g.share(lanes[0][2], other) != shares[0] {
		t.Error("an account has two shares of a lane")
	}
	if g.share(lanes[0][2], g.origins.of("", "one")) == g.share(lanes[0][2], g.origins.of("", "two")) {
		t.Error("the messages of two SMSCs have one share")
	}
	if g.accountLane(g.Config(), "nobody") != nil {
		t.Error("an account that does not exist has a lane")
	}

	// A reload has removed the connector, and not put the configuration in force yet.
	clients.Removed.Store(true)
	if g.accountLane(g.Config(), "client") != nil {
		t.Error("an account that can log in nowhere has a new lane")
	}
}

// An account that is alone may take all of a queue; others have their percent, which
// a reload changes.
func TestPercent(t *testing.T) {
	t.Parallel()
	g, _, operator := start(t, "max_queue: 100")
	s := g.share(g.LaneOf(operator), g.origins.of("client", "clients"))
	if s.Room() != 50 {
		t.Errorf("room for %d of 100, want half", s.Room())
	}
	cfg := *g.Config()
	cfg.Accounts = append(cfg.Accounts[:0:0], cfg.Accounts...)
	cfg.Accounts[0].Share = 20
	g.apply(&cfg)
	if s.Room() != 20 {
		t.Errorf("room for %d of 100 after a reload, want 20", s.Room())
	}
	cfg.Accounts = cfg.Accounts[:1]
	g.apply(&cfg)
	if s.Room() != 100 {
		t.Errorf("room for %d of 100, though the account is alone", s.Room())
	}
}

// An account's lane whose connector is removed hangs on another that the account may
// use, and takes its options and counts there. Only when there is none does the lane
// empty by itself, and a later one is another.
func TestLaneFindsHome(t *testing.T) {
	t.Parallel()
	g, clients, _ := start(t, "")
	lane := g.accountLane(g.Config(), "client")
	s := g.share(lane, g.origins.of("", "operator"))
	s.Add(2)
	for range 2 {
		m := g.Messages.Get()
		m.Origin = s.Origin
		lane.Push(now, s, m)
	}
	lane.Publish()
	reload := func(new string) *connector.Connector {
		t.Helper()
		cfg := *g.Config()
		cfg.Connectors = append(cfg.Connectors[:0:0], cfg.Connectors...)
		cfg.Connectors[0].Name, cfg.Connectors[0].MaxQueue = new, 7
		if _, err := g.Reload(&cfg, idle{}); err != nil {
			t.Fatal(err)
		}
		return g.Connector(new)
	}
	more := reload("more")
	if lane.Home() != more || g.accountLane(g.Config(), "client") != lane || lane.Config().MaxQueue != 7 {
		t.Fatalf("the lane's home is %s", lane.Home().Name)
	}
	lane.Publish()
	if more.Queued() != 2 || more.Stats.QueueLength.Load() != 2 || clients.Queued() != 0 || clients.Stats.QueueLength.Load() != 0 {
		t.Errorf("%d and %d messages wait at the new home, %d and %d at the old one",
			more.Queued(), more.Stats.QueueLength.Load(), clients.Queued(), clients.Stats.QueueLength.Load())
	}
	cfg := *g.Config()
	cfg.Connectors = cfg.Connectors[1:]
	if _, err := g.Reload(&cfg, idle{}); err != nil {
		t.Fatal(err)
	}
	if lane.Home() != more || g.accountLane(g.Config(), "client") != nil {
		t.Error("an account that can log in nowhere has a lane")
	}
	cfg.Connectors = append([]config.Connector{*clients.Config()}, cfg.Connectors...)
	if _, err := g.Reload(&cfg, idle{}); err != nil {
		t.Fatal(err)
	}
	if next := g.accountLane(g.Config(), "client"); next == nil || next == lane {
		t.Error("an account that may log in again has no lane of its own")
	}
}
