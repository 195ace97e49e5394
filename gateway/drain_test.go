package gateway

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"pmg/connector"
	"pmg/gateway/roomtest"
)

// open begins a session of a connector.
func open(c *connector.Connector) *connector.Link {
	l := &connector.Link{}
	l.Open(c.Acquire(), netip.AddrPort{}, now, nil)
	l.Instance.SetLink(l)
	return l
}

// drain stops a gateway, and returns how long that took.
func drain(g *Gateway, limit time.Duration, logout func()) time.Duration {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	began := time.Now()
	g.DrainSessions(ctx, func() {}, func() {}, logout)
	return time.Since(began)
}

// H12: a stopping gateway waits 5 s for SMSCs that never answer our logout, and a second for clients.
func TestDrainSilentPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, clients, operator := start(t, "")
		open(clients)
		if took := drain(g, 30*time.Second, func() {}); took != clientTimeout {
			t.Errorf("took %v, want %v", took, clientTimeout)
		}
		open(operator)
		if took := drain(g, 30*time.Second, func() {}); took != logoutTimeout {
			t.Errorf("took %v, want %v", took, logoutTimeout)
		}
		if !g.Node.Draining() {
			t.Error("takes messages")
		}
	})
}

// F19: sessions that begin while the others are being logged out are logged out as well.
func TestDrainLateSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, clients, operator := start(t, "")
		open(clients)
		passes := 0
		took := drain(g, 30*time.Second, func() {
			passes++
			clients.Links(func(l *connector.Link) { l.Instance.SetLink(nil) })
			operator.Links(func(l *connector.Link) { l.Instance.SetLink(nil) })
			if passes < 4 {
				open(operator)
				operator.SetSockets(10)
			}
		})
		if passes != 4 || took > time.Second {
			t.Errorf("%d passes, %v", passes, took)
		}
	})
}

// F16, H12: a stopping gateway does not wait for scheduled messages, nor for messages to
// clients that are not connected. It waits for messages that can leave, up to the limit.
func TestDrainMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, clients, operator := start(t, "")
		m := g.Node.Messages.Get()
		m.Origin = g.Node.Origins.Of("client", "clients")
		m.DeliverAt = now + 3600*second
		s := g.Table.Share(g.Table.LaneOf(operator), m.Origin)
		in := g.Intake.NewIntake(10)
		in.Accept(now, m, s)
		in.Count(clients, m)
		in.Flush()
		g.Table.AccountLane(g.Node.Config(), "client").Queued.Add(1)
		if took := drain(g, 30*time.Second, func() {}); took > time.Second {
			t.Errorf("took %v with nothing that can leave", took)
		}
		roomtest.Occupy(s, 1)
		if g.Pending() != 2 || g.Deliverable() != 1 {
			t.Errorf("%d pending, %d deliverable", g.Pending(), g.Deliverable())
		}
		time.AfterFunc(7*time.Second, func() { roomtest.Occupy(s, -1) })
		if took := drain(g, 30*time.Second, func() {}); took < 7*time.Second || took > 8*time.Second {
			t.Errorf("took %v, the last message left after 7s", took)
		}
		roomtest.Occupy(s, 1)
		if took := drain(g, 30*time.Second, func() {}); took != 30*time.Second {
			t.Errorf("took %v, want the limit of 30s", took)
		}
	})
}
