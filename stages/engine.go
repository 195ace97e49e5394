package stages

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/keep"
	"pmg/internal/sock"
	"pmg/protocols"
	"pmg/sms"
	"pmg/stages/flow"
	"pmg/store"
)

// An Engine is a running pipeline: the gateway's architecture "pipeline".
type Engine struct {
	gateway  *gateway.Gateway
	pipeline *flow.Pipeline[Job]
	pool     *flow.Pool[Job]
	deps     *Deps
	inlet    *flow.Inlet[Job]
	stop     context.CancelFunc // ends Deps.Context

	mu      sync.Mutex
	sockets map[*connector.Connector][]sock.Listening
	opened  Listeners
}

// Listeners are sockets that already listen, by the name of their connector.
type Listeners map[string][]sock.Listening

// Start listens, starts the stages and connects.
func Start(g *gateway.Gateway) (*Engine, error) { return StartOn(g, Options{}) }

// Options are optional parameters of a pipeline.
type Options struct {
	Opened Listeners // sockets of connectors that already listen; used sockets are removed from the map
	// Holds reports whether this process may send. The writer calls it directly before each system
	// call. If Holds is nil, the process may always send.
	Holds func() bool
}

// StartOn starts a pipeline with options.
func StartOn(g *gateway.Gateway, o Options) (*Engine, error) {
	pool := NewPool()
	e := &Engine{gateway: g, pool: pool, sockets: map[*connector.Connector][]sock.Listening{}, opened: o.Opened}
	for _, c := range g.Table.Connectors() {
		if err := e.Listen(c); err != nil {
			e.closeSockets()
			return nil, err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	d := &Deps{Context: ctx, Gateway: g, Pool: pool, Log: g.Node.Log, Holds: o.Holds}
	d.groups = newGroups(g.Node.Config().Pipelines.Number(runtime.GOMAXPROCS(0)))
	e.deps, e.stop = d, stop
	var err error
	e.pipeline, err = flow.Start(Table(), d, pool, flow.Options[Job]{OnPanic: d.panicked, Groups: d.groups.number()})
	if err != nil {
		stop()
		e.closeSockets()
		return nil, err
	}
	e.inlet = e.pipeline.NewInlet()
	g.Keeper.Begin(e)
	for _, c := range g.Table.Connectors() {
		if c.Config().Transport() == config.BySession || c.Config().Listens() {
			e.Attach(c)
		}
	}
	return e, nil
}

// panicked handles a panic of a stage. It ends only the session whose job the stage was working on.
// If the job holds a message that we send, it gives up the message instead.
func (d *Deps) panicked(out *flow.Out[Job], stage string, j *Job, value any, stack []byte) {
	log := d.Log.Error().Str("stage", stage).Interface("panic", value).Bytes("stack", stack)
	if j != nil && d.giveUp(out, j) {
		log.Msg("stage failed at a message")
		return
	}
	if j != nil {
		out.Forget(j) // the stage may still hold the job
	}
	if j == nil || j.Handle == nil {
		log.Msg("stage panicked; it continues with the next job")
		return
	}
	h := j.Handle
	log.Stringer("session", h).Msg("stage panicked; the session it worked for is ended")
	hangup(out, h, "fault in stage "+stage)
	release(out, j)
}

// giveUp returns a message that cannot be sent to its lane. It returns false if j has no message
// that is still on its way.
func (d *Deps) giveUp(out *flow.Out[Job], j *Job) bool {
	switch j.Kind {
	case Forward:
	case Send:
		if j.Slot == nil {
			return false
		}
		release(out, j)
	default:
		return false
	}
	j.Kind, j.Code = Answered, sms.Faulty
	out.To(toDispatcher, j)
	return true
}

// Listen opens a connector's listening sockets. No client is accepted before Attach.
func (e *Engine) Listen(c *connector.Connector) error {
	if !c.Config().Listens() || c.Config().Transport() != config.BySession {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if sockets := e.opened[c.Name]; sockets != nil {
		delete(e.opened, c.Name)
		e.sockets[c] = sockets
		return nil
	}
	for _, address := range c.Config().AllAddresses() {
		s, err := sock.Listen(address)
		if err != nil {
			e.unlisten(c)
			return fmt.Errorf("cannot start connector %s: %w", c.Name, err)
		}
		e.sockets[c] = append(e.sockets[c], s)
	}
	return nil
}

// Unlisten closes the sockets that Listen opened, for a connector that is not attached.
func (e *Engine) Unlisten(c *connector.Connector) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unlisten(c)
}

func (e *Engine) unlisten(c *connector.Connector) {
	for _, s := range e.sockets[c] {
		_ = unix.Close(s.FD)
	}
	delete(e.sockets, c)
}

func (e *Engine) closeSockets() {
	for c := range e.sockets {
		e.unlisten(c)
	}
}

// Connect implements gateway.Service.
func (e *Engine) Connect(c *connector.Connector) { e.send(toConnecter, Connect, c, nil) }

// Logout implements gateway.Service.
func (e *Engine) Logout(match func(*connector.Link) bool) {
	e.sendAll(toBuilder, Logout, sms.OK, 0, &extras{Match: match})
}

// Take begins a session for a connection of a connector whose requests stand alone, which its host has admitted. It returns false
// if the connector's driver has no such sessions, or the pipeline has ended.
func (e *Engine) Take(c *connector.Connector, fd int, remote netip.AddrPort, host connector.Host) bool {
	if _, ok := c.Driver.(protocols.RequestDriver); !ok {
		return false
	}
	j := e.inlet.Get()
	j.Kind, j.extras = Admitted, &extras{Connector: c, Admitted: admitted{fd, remote, host}}
	return e.inlet.Send(toListener, j)
}

// Addresses returns the addresses on which a connector listens.
func (e *Engine) Addresses(c *connector.Connector) (all []netip.AddrPort) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sockets[c] {
		all = append(all, s.Addr)
	}
	return all
}

// Attach puts a connector into service.
func (e *Engine) Attach(c *connector.Connector) {
	if c.Config().Listens() {
		e.mu.Lock()
		sockets := e.sockets[c]
		e.mu.Unlock()
		e.send(toListener, Listen, c, sockets)
	}
	e.send(toDispatcher, Attach, c, nil)
}

// Detach takes a connector out of service. No client is accepted any more, the messages in its
// queue are sent, and then its sessions are logged out.
func (e *Engine) Detach(c *connector.Connector) {
	e.send(toListener, Unlisten, c, nil)
	e.send(toDispatcher, Detach, c, nil)
}

// Rebind logs out the sessions of an out connector and connects as many instances as
// are configured.
func (e *Engine) Rebind(c *connector.Connector) {
	e.sendAll(toBuilder, Rebind, sms.OK, 0, &extras{Connector: c})
}

func (e *Engine) send(row int, kind Kind, c *connector.Connector, sockets []sock.Listening) {
	j := e.inlet.Get()
	j.Kind, j.extras = kind, &extras{Connector: c, Sockets: sockets}
	e.inlet.Send(row, j)
}

// sendAll sends a job to a row of each group, and reports whether the pipeline still runs.
func (e *Engine) sendAll(row int, kind Kind, code sms.Code, id uint64, x *extras) (sent bool) {
	if x != nil {
		x.left.Store(int32(e.deps.groups.number()))
	}
	for group := range e.deps.groups.number() {
		j := e.inlet.Get()
		j.Kind, j.Code, j.ID, j.extras = kind, code, id, x
		sent = e.inlet.SendTo(group, row, j)
	}
	return sent
}

// Counters returns the counters of the stages. Jobs in the stages' caches count as alive.
func (e *Engine) Counters() gateway.Counters {
	c := gateway.Counters{Now: e.pipeline.Now(), Stages: e.pipeline.Stats(), Jobs: e.pool.Live(), Locks: e.pool.Locks()}
	c.Pipelines = e.deps.groups.sessions()
	for i := range c.Stages {
		s := &c.Stages[i]
		c.Locks += s.Locks
		c.Refs += s.Refs
		if s.Group > 0 || len(c.Pipelines) == 1 {
			c.Pipelines[max(s.Group-1, 0)].Busy += s.Work.Sum
		}
	}
	return c
}

// Drain stops accepting clients and messages, waits for the accepted ones to be
// sent, and logs every session out. It stops waiting when ctx is done.
func (e *Engine) Drain(ctx context.Context) {
	e.gateway.DrainSessions(ctx,
		func() { e.send(toListener, Unlisten, nil, nil) },
		e.barrier,
		func() {
			e.send(toConnecter, Detach, nil, nil)
			e.sendAll(toBuilder, Logout, sms.OK, 0, &extras{})
		})
}

// barrier returns when all messages that were accepted before it have been counted.
func (e *Engine) barrier() {
	done := make(chan struct{})
	if e.sendAll(toBuilder, Barrier, sms.OK, 0, &extras{Done: done}) {
		<-done
	}
}

// Committed implements keep.Engine. It passes the position to the persisters.
func (e *Engine) Committed(upTo store.Position, err error) {
	var x *extras
	if e.deps.groups.number() > 1 {
		x = &extras{}
	}
	e.sendAll(toPersister, Committed, keep.CodeOf(err), upTo.Token(), x)
}

// Do implements gateway.Engine.
func (e *Engine) Do(l *connector.Lane, f func(now int64)) bool {
	j := e.inlet.Get()
	j.Kind, j.extras = Call, &extras{Lane: l, Call: f}
	return e.inlet.Send(toDispatcher, j)
}

// Failed returns the channel on which the error arrives that ends the pipeline.
func (e *Engine) Failed() <-chan error { return e.pipeline.Failed() }

// Close stops the stages, and cuts off the remaining sessions.
func (e *Engine) Close() error {
	e.inlet.Close()
	e.stop()
	err := e.pipeline.Close()
	for _, c := range e.gateway.Table.Connectors() {
		c.Links(func(l *connector.Link) {
			if h := handleOf(l); h.refs.Load() > 0 {
				h.cutOff()
			}
		})
	}
	return err
}
