package classic

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"pmg/connector"
	"pmg/gateway"
)

// An Engine runs the gateway's architecture "classic".
type Engine struct {
	gateway *gateway.Gateway
	begun   time.Time

	ctx    context.Context // done after Close
	cancel context.CancelFunc

	groups  atomic.Pointer[[]*group] // by Connector.Index
	lanes   sync.Map                 // *connector.Lane → *lane
	waiting atomic.Int64             // requests that wait for their answer
	freed   signal                   // a descriptor was given back
	store   storing

	mu         sync.Mutex
	closed     bool
	goroutines sync.WaitGroup
}

var _ gateway.Engine = (*Engine)(nil)

// Start listens, accepts and connects.
func Start(g *gateway.Gateway) (*Engine, error) {
	e := &Engine{gateway: g, begun: time.Now(), freed: newSignal()}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.groups.Store(&[]*group{})
	e.store.begin(e)
	g.Keeper.Begin(e)
	for _, c := range g.Table.Connectors() {
		if err := e.Listen(c); err != nil {
			_ = e.Close()
			return nil, err
		}
	}
	for _, c := range g.Table.Connectors() {
		e.Attach(c)
	}
	return e, nil
}

// now returns the time in Unix nanoseconds. It never goes back.
func (e *Engine) now() int64 { return e.begun.UnixNano() + int64(time.Since(e.begun)) }

// run runs f in a new goroutine, unless the engine is closed. It reports whether it does.
func (e *Engine) run(f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.goroutines.Go(f)
	}
	return !e.closed
}

// group returns the state that the connections of c share. It is made when it is first
// needed, which may be for a message to a connector that is not attached yet.
func (e *Engine) group(c *connector.Connector) *group {
	if all := *e.groups.Load(); c.Index < len(all) && all[c.Index] != nil && all[c.Index].Connector == c {
		return all[c.Index]
	}
	return e.addGroup(c)
}

func (e *Engine) addGroup(c *connector.Connector) *group {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := *e.groups.Load()
	all := make([]*group, max(len(old), c.Index+1))
	copy(all, old)
	if g := all[c.Index]; g == nil || g.Connector != c { // after a failed reload it may belong to another connector
		all[c.Index] = newGroup(e, c)
		e.groups.Store(&all)
	}
	return all[c.Index]
}

func (e *Engine) each(f func(*group)) {
	for _, g := range *e.groups.Load() {
		if g != nil {
			f(g)
		}
	}
}

// Listen implements gateway.Engine.
func (e *Engine) Listen(c *connector.Connector) error { return e.group(c).listen() }

// Unlisten implements gateway.Engine.
func (e *Engine) Unlisten(c *connector.Connector) { e.group(c).unlisten() }

// Rebind implements gateway.Engine.
func (e *Engine) Rebind(c *connector.Connector) { e.group(c).rebind() }

// Connect implements gateway.Engine.
func (e *Engine) Connect(c *connector.Connector) { e.group(c).nudge() }

// Addresses implements gateway.Engine.
func (e *Engine) Addresses(c *connector.Connector) []netip.AddrPort { return e.group(c).addresses() }

// Attach implements gateway.Engine.
func (e *Engine) Attach(c *connector.Connector) { e.group(c).attach() }

// Detach implements gateway.Engine.
func (e *Engine) Detach(c *connector.Connector) { e.group(c).detach() }

// Logout implements gateway.Engine.
func (e *Engine) Logout(match func(*connector.Link) bool) {
	e.each(func(g *group) {
		g.conns(func(c *conn) {
			c.locked("logout", func(now int64) {
				if c.Phase != connector.Over && match(&c.Link) {
					c.talk.Unbind(now, &c.Link)
				}
			})
		})
	})
}

// Drain implements gateway.Engine.
func (e *Engine) Drain(ctx context.Context) {
	e.gateway.DrainSessions(ctx,
		func() { e.each((*group).unlisten) },
		func() { // a submit is counted before its session's lock is released
			e.each(func(g *group) { g.conns(func(c *conn) { c.locked("drain", func(int64) {}) }) })
		},
		func() { e.each((*group).logout) })
}

// wake makes every keeper check its connections.
func (e *Engine) wake() { e.each(func(g *group) { g.wake.send() }) }

// Do implements gateway.Engine.
func (e *Engine) Do(l *connector.Lane, f func(now int64)) bool {
	if e.ctx.Err() != nil {
		return false
	}
	now := e.now()
	e.lane(l).do(now, func() { f(now) })
	return true
}

// Failed implements gateway.Engine: a failure ends a session, and never the engine.
func (e *Engine) Failed() <-chan error { return nil }

// Close implements gateway.Engine. It cuts off the remaining sessions.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel() // before the sessions are listed: a session that begins later checks ctx
	e.each(func(g *group) {
		g.unlisten()
		g.conns(func(c *conn) { c.hangup("the gateway has stopped") })
	})
	e.goroutines.Wait()
	e.each((*group).close)
	e.eachLane((*lane).stop)
	return nil
}

// Counters implements gateway.Engine. There are no stages and no reference counts. Jobs
// are the requests that wait for their answer. The package comment says which locks
// are counted.
func (e *Engine) Counters() gateway.Counters {
	c := gateway.Counters{Now: e.now(), Jobs: e.waiting.Load()}
	e.each(func(g *group) { c.Locks += g.locks() })
	e.eachLane(func(l *lane) { c.Locks += l.mu.count() })
	return c
}
