package classic

import (
	"context"
	"net"
	"time"

	"pmg/connector"
)

// dial connects an instance in its own goroutine, which then becomes the reader of the
// instance's sessions, one after the other.
func (g *group) dial(i *connector.Instance) {
	g.engine.run(func() {
		for again := true; again; {
			socket := g.connect(i)
			if socket == nil {
				return
			}
			c := g.newConn(i, socket)
			c.begin()
			c.serve()
			again = g.closed(c)
		}
	})
}

// closed takes an instance back, and reports whether it must be connected again.
func (g *group) closed(c *conn) (again bool) {
	l := g.engine.lane(c.Lane)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Closed(g.engine.now(), &c.Link)
}

// connect returns a connected socket, or nil when the instance is not needed any more.
func (g *group) connect(i *connector.Instance) net.Conn {
	wait := i.Wait(g.engine.now())
	for {
		if wait > 0 {
			rest(g.dialing, wait, *g.nudged.Load())
			if !g.needed(i) {
				return nil
			}
		}
		socket, err := i.Dial(g.dialing)
		if err == nil {
			return socket
		}
		if g.dialing.Err() != nil {
			return nil
		}
		wait = g.gateway.Sessions.ConnectFailed(g.engine.now(), i, err)
	}
}

// nudge ends the rests of instances.
func (g *group) nudge() {
	next := make(chan struct{})
	if old := g.nudged.Swap(&next); old != nil {
		close(*old)
	}
}

func rest(ctx context.Context, d time.Duration, nudged <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-nudged:
	case <-t.C:
	}
}

// needed reports whether the instance must still be connected. If not, it returns the
// instance to the lane.
func (g *group) needed(i *connector.Instance) bool {
	if g.dialing.Err() != nil {
		return false
	}
	l := g.engine.lane(g.gateway.Table.LaneOf(g.Connector))
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.gateway.Connects() && !g.HasSurplus() && (g.IsWanted() || l.Queued.Load() > 0) {
		return true
	}
	return l.Park(i)
}
