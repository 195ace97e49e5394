package classic

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"pmg/connector"
	"pmg/gateway"
)

// A group holds the connections of one connector, and the state that they share.
type group struct {
	*connector.Connector
	engine   *Engine
	gateway  *gateway.Gateway
	log      *pduLog
	requests sync.Pool
	wake     signal       // wakes the keeper
	ended    atomic.Int64 // locks taken by connections that have ended

	nudged      atomic.Pointer[chan struct{}] // is closed to end the rests of instances
	dialing     context.Context               // done when instances need not be connected any more
	stopDialing context.CancelFunc

	mu       lock // guards the rest
	acceptor acceptor
	leaving  bool // the connector was removed; its sessions are logged out when its lanes are empty
}

func newGroup(e *Engine, c *connector.Connector) *group {
	g := &group{
		Connector: c, engine: e, gateway: e.gateway, log: newPDULog(c.PDULog, e.now), wake: newSignal(),
	}
	g.nudge()
	g.requests.New = func() any { return &request{pdu: c.Driver.NewPDU()} }
	g.dialing, g.stopDialing = context.WithCancel(e.ctx)
	g.acceptor.free.L = &g.mu
	return g
}

// conns calls f for every connection.
func (g *group) conns(f func(*conn)) { g.Links(func(l *connector.Link) { f(l.Courier.(*conn)) }) }

func (g *group) attach() {
	g.engine.run(g.keep)
	g.acceptAll()
	if g.Config().Listens() {
		return
	}
	g.dialAll()
}

// dialAll connects the instances of an out connector.
func (g *group) dialAll() {
	l := g.engine.lane(g.gateway.Table.LaneOf(g.Connector))
	l.do(g.engine.now(), func() {
		for _, i := range l.Attach() {
			g.dial(i)
		}
	})
}

// rebind logs out the sessions of an out connector, whose instances then log in again.
func (g *group) rebind() {
	g.conns((*conn).unbind)
	g.dialAll()
}

func (g *group) detach() {
	g.unlisten()
	g.mu.Lock()
	g.leaving = true
	g.mu.Unlock()
	g.Lanes(func(cl *connector.Lane) {
		l := g.engine.lane(cl)
		l.do(g.engine.now(), l.Leave)
	})
	g.wake.send()
}

// close releases the group's resources. All its goroutines have ended.
func (g *group) close() { g.log.close() }

// keep runs the keeper: it checks timers, accepts submits that wait for room, and logs out
// the sessions of a connector that was removed.
func (g *group) keep() {
	t := time.NewTimer(g.gateway.Sessions.TimerInterval())
	defer t.Stop()
	for {
		select {
		case <-g.engine.ctx.Done():
			return
		case <-g.wake:
			now := g.engine.now()
			g.conns(func(c *conn) { c.tick(now) })
		case <-t.C:
			g.checkTimers()
			t.Reset(g.gateway.Sessions.TimerInterval())
		}
		if g.isGone() {
			g.logout()
		}
	}
}

func (g *group) checkTimers() {
	now := g.engine.now()
	g.gateway.SeeClock(now)
	g.conns(func(c *conn) {
		c.tick(now)
		c.checkTimers(now)
	})
	g.Lanes(func(l *connector.Lane) { g.engine.lane(l).tick(now) })
}

// isGone reports whether the connector was removed and its lanes are empty.
func (g *group) isGone() bool {
	g.mu.Lock()
	gone := g.leaving
	g.mu.Unlock()
	if gone {
		g.Lanes(func(l *connector.Lane) { gone = gone && g.engine.lane(l).gone.Load() })
	}
	return gone
}

// logout begins to log out every session, and stops dialing.
func (g *group) logout() {
	g.stopDialing()
	g.conns((*conn).unbind)
}

func (g *group) locks() int64 {
	n := g.ended.Load() + g.mu.count() + g.log.locks()
	g.conns(func(c *conn) { n += c.locks() })
	return n
}
