package gateway

import (
	"context"
	"time"
)

// How long a stopping gateway waits for peers that do not answer its unbind, and how
// often it checks whether all sessions have ended.
const (
	logoutTimeout = 5 * time.Second
	drainInterval = 10 * time.Millisecond
)

// DrainSessions stops accepting clients and messages, waits for the accepted ones
// to be sent, and logs every session out. It stops waiting when ctx is done. barrier
// returns when every message accepted before has been counted. logout begins to log out
// all sessions; it is called again for sessions that began later.
func (g *Gateway) DrainSessions(ctx context.Context, unlisten, barrier, logout func()) {
	g.Drain()
	unlisten()
	barrier()
	waitFor(ctx, func() bool { return g.Deliverable() == 0 })
	ctx, cancel := context.WithTimeout(ctx, logoutTimeout)
	defer cancel()
	waitFor(ctx, func() bool {
		if g.Sessions() == 0 {
			return true
		}
		logout()
		return false
	})
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
