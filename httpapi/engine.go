package httpapi

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/mail"
	"pmg/httpapi/body"
	"pmg/httpapi/compat"
	"pmg/httpapi/portal"
	"pmg/httpapi/server"
	v1 "pmg/httpapi/v1"
	"pmg/httpapi/webhook"
	"pmg/internal/sock"
)

// An Engine is an engine that also serves the connectors without sessions. It is safe for concurrent use.
type Engine struct {
	gateway.Engine
	gateway *gateway.Gateway
	opened  map[string][]sock.Listening
	holds   func() bool // nil: always
	bodies  *body.Room
	callers *webhook.Service
	pulls   *v1.Pulls
	api     *v1.API
	compat  *compat.Dialects
	portal  *portal.Portal

	pipeline server.Pipeline // nil: the engine has none

	mu  sync.Mutex
	of  map[*connector.Connector]*server.Listener
	out map[*connector.Connector]courier

	leaving sync.WaitGroup // waits for listeners and outbounds of removed connectors, and for the expiry of events
	ctx     context.Context
	cancel  context.CancelFunc
}

// Options are optional parts that the program adds to an engine. The zero value adds nothing.
type Options struct {
	Opened map[string][]sock.Listening // sockets that already listen, by name of the connector
	// Holds reports whether anything may be sent to SMSCs and webhooks. It is called directly before each system call; nil:
	// always.
	Holds func() bool
	Edit  portal.Edit  // changes managed files for users of accounts; nil: they cannot be changed
	Audit portal.Audit // records the users' actions; nil: no actions are recorded
	Mail  *mail.Sender // nil: no mail is sent
}

// Over returns an engine that serves the sessions of g's connectors by e, and also g's connectors without sessions.
func Over(e gateway.Engine, g *gateway.Gateway, o Options) (*Engine, error) {
	holds := o.Holds
	x := &Engine{
		Engine: e, gateway: g, opened: o.Opened, holds: holds, of: map[*connector.Connector]*server.Listener{},
		out: map[*connector.Connector]courier{},
	}
	x.pipeline, _ = e.(server.Pipeline)
	x.ctx, x.cancel = context.WithCancel(context.Background())
	x.bodies = body.NewRoom(&g.Node.Memory)
	events := webhook.NewEvents(forWebhooks(g, o), x.logOf)
	x.callers = webhook.New(forWebhooks(g, o), e, events)
	x.pulls = v1.NewPulls(e, g.Node.Clock.Now, x.ctx.Done())
	x.api = v1.New(forOwnAPI(g), x.pulls, events)
	x.compat = compat.New(forDialects(g), x.callers, compat.NewStatus(forDialects(g), x.Addresses, x.reached))
	x.portal = portal.New(forPortal(g, x.api, x.goOn, o))
	x.leaving.Go(func() { x.pulls.Keep(x.ctx) })
	x.leaving.Go(x.keepStreams)
	if o.Mail != nil {
		x.goOn(o.Mail.Run)
	}
	for _, c := range g.Table.Connectors() {
		if c.Config().Transport() == config.BySession {
			continue
		}
		if err := x.Listen(c); err != nil {
			x.closeAll()
			return nil, err
		}
	}
	for _, c := range g.Table.Connectors() { // the listeners of HTTP connectors accept their messages
		if c.Config().Transport() != config.BySession {
			x.Attach(c)
		}
	}
	g.Webhooks.Begin(x.callers)
	return x, nil
}

// goOn runs what outlasts its request, until the engine is closed.
func (x *Engine) goOn(do func(context.Context)) { x.leaving.Go(func() { do(x.ctx) }) }

// Listen implements gateway.Service.
func (x *Engine) Listen(c *connector.Connector) error {
	if c.Config().Transport() == config.BySession {
		return x.Engine.Listen(c)
	}
	if c.Config().Direction == config.Out {
		return x.reach(c)
	}
	l, err := server.Listen(forServer(x.gateway), c, x.opened[c.Name], x.bodies, x.pipeline, x.handler)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.opened, c.Name)
	x.of[c] = l
	return nil
}

// logOf returns the log of a connector that listens, nil if it does not listen.
func (x *Engine) logOf(c *connector.Connector) *server.Log {
	if l := x.listenerOf(c); l != nil {
		return l.Log
	}
	return nil
}

// take removes and returns the listener of a connector, nil if it has none.
func (x *Engine) take(c *connector.Connector) *server.Listener {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.of[c]
	delete(x.of, c)
	return l
}

// listenerOf returns the listener of a connector, nil if it has none.
func (x *Engine) listenerOf(c *connector.Connector) *server.Listener {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.of[c]
}

// Unlisten implements gateway.Service.
func (x *Engine) Unlisten(c *connector.Connector) {
	if l := x.take(c); l != nil {
		l.Close()
		return
	}
	if v := x.takeCourier(c); v != nil {
		v.Close()
		return
	}
	x.Engine.Unlisten(c)
}

// Attach implements gateway.Service.
func (x *Engine) Attach(c *connector.Connector) {
	if x.courierOf(c) != nil {
		return
	}
	if l := x.listenerOf(c); l != nil {
		l.Serve()
	}
	x.Engine.Attach(c)
}

// detachTimeout is the limit for running requests when their connector is removed.
const detachTimeout = 30 * time.Second

// Detach implements gateway.Service.
func (x *Engine) Detach(c *connector.Connector) {
	if l := x.take(c); l != nil {
		x.leaving.Go(func() { // Close waits for leaving, and closes the pdu logs afterwards
			ctx, done := context.WithTimeout(x.ctx, detachTimeout)
			defer done()
			l.Drain(ctx)
			l.Close()
		})
	}
	x.Engine.Detach(c)
	if v := x.takeCourier(c); v != nil {
		x.leaving.Go(func() { x.leave(c, v) })
	}
}

// Logout implements gateway.Service. It ends long requests whose clients' logins are no longer valid.
func (x *Engine) Logout(match func(*connector.Link) bool) {
	x.Engine.Logout(match)
	x.checkStreams()
}

// checkStreams ends the long requests whose clients no longer have a valid login.
func (x *Engine) checkStreams() {
	for _, c := range x.gateway.Table.Connectors() {
		c.Streams.Check()
	}
}

// streamInterval is the pause between checks of logins that can expire: those by keys and certificates.
const streamInterval = time.Second

// keepStreams calls checkStreams in intervals, until the gateway ends.
func (x *Engine) keepStreams() {
	t := time.NewTicker(streamInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			x.checkStreams()
		case <-x.ctx.Done():
			return
		}
	}
}

// Addresses implements gateway.Service.
func (x *Engine) Addresses(c *connector.Connector) []netip.AddrPort {
	l := x.listenerOf(c)
	if l == nil {
		return x.Engine.Addresses(c)
	}
	return l.Addresses()
}

// Drain implements gateway.Engine: it accepts no more requests, and waits for the answers to running requests.
func (x *Engine) Drain(ctx context.Context) {
	x.pulls.Expire(0, true)
	var all sync.WaitGroup
	x.each(func(l *server.Listener) { all.Go(func() { l.Drain(ctx) }) })
	x.Engine.Drain(ctx)
	all.Wait()
}

// Close implements gateway.Engine.
func (x *Engine) Close() error {
	x.closeAll()
	x.callers.Close()
	x.leaving.Wait()
	return x.Engine.Close()
}

// closeAll closes the listeners and the HTTP clients of SMSCs.
func (x *Engine) closeAll() {
	x.each((*server.Listener).Close)
	x.cancel()
	x.mu.Lock()
	all := slices.Collect(maps.Values(x.out))
	clear(x.out)
	x.mu.Unlock()
	for _, v := range all {
		v.Close()
	}
}

func (x *Engine) each(f func(*server.Listener)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.of {
		f(l)
	}
}
