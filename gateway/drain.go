package gateway

import (
	"context"
	"math"
	"time"
)

const (
	// logoutTimeout is how long a stopping gateway waits for SMSCs that do not answer its unbind. Such
	// an SMSC may refuse the next login while it considers the session open. clientTimeout is the same
	// for clients.
	logoutTimeout = 5 * time.Second
	clientTimeout = time.Second
	// storeTimeout is how long a stopping gateway waits for the commit of submits after the time to
	// drain is over. A commit takes a moment, unless the disk hangs.
	storeTimeout = time.Second
	// drainInterval is the interval at which a stopping gateway checks its progress.
	drainInterval = 10 * time.Millisecond
)

// DrainSessions stops accepting clients and messages, and waits for the accepted ones to
// be sent. What a durable store holds stays there, except what is under way, whose
// answers are waited for. Then it logs every session out. All that lasts until ctx is
// done, except that a submit is answered that waits for its commit. barrier returns when
// everything that was accepted before has been counted; logout begins to log out
// the sessions there are, and may be called again for those that have come since.
func (g *Gateway) DrainSessions(ctx context.Context, unlisten, barrier, logout func()) {
	g.Node.Drain()
	unlisten()
	barrier()
	g.Intake.Joiner.End(math.MaxInt64)
	waitFor(ctx, g.mayLogOut)
	store, cancelStore := context.WithTimeout(context.Background(), storeTimeout)
	defer cancelStore()
	waitFor(store, func() bool { return g.Keeper.Storing.Load() == 0 })
	ctx, cancel := context.WithTimeout(ctx, logoutTimeout)
	defer cancel()
	clients := time.Now().Add(clientTimeout)
	waitFor(ctx, func() bool {
		if g.Sessions.Count() == 0 || !time.Now().Before(clients) && !g.Sessions.HasSMSCs() {
			return true
		}
		logout()
		return false
	})
}

// Connects reports whether instances are connected. A stopping gateway whose messages are in a
// store has nothing more to send, however much waits.
func (g *Gateway) Connects() bool { return !g.Node.Draining() || !g.Keeper.Durable() }

// mayLogOut reports whether all sessions can be logged out.
func (g *Gateway) mayLogOut() bool {
	if !g.Keeper.Durable() {
		return g.Deliverable() == 0
	}
	underWay := g.Keeper.Storing.Load()
	for _, c := range g.Table.Connectors() {
		underWay += c.Stats.InFlight.Load()
	}
	return underWay == 0
}

func waitFor(ctx context.Context, done func() bool) {
	t := time.NewTicker(drainInterval)
	defer t.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}
