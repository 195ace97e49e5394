package stages

import (
	"context"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"pmg/connector"
	"pmg/internal/sock"
	"pmg/stages/flow"
)

// connecter connects instances, all in parallel, and begins their sessions. Dialing
// blocks, so it is done outside the stage (connector.Instance.Dial). An instance that
// cannot be connected rests and is dialed again. It owns the instances that are being connected.
type connecter struct {
	*Deps
	attempts map[*connector.Instance]*attempt
}

// An attempt is the state of an instance that has to be connected. The instance is resting or being
// dialed.
type attempt struct {
	instance *connector.Instance
	until    int64              // when the rest ends
	cancel   context.CancelFunc // nil while the instance rests

	// The fields below are the outcome of dialing.
	fd     int
	remote netip.AddrPort
	err    error
}

func newConnecter(d *Deps) (flow.Stage[Job], error) {
	return &connecter{Deps: d, attempts: map[*connector.Instance]*attempt{}}, nil
}

func (c *connecter) Work(out *flow.Out[Job], j *Job) {
	switch j.Kind {
	case Dial:
		c.begin(out, j.Instance)
	case Dialed:
		c.dialed(out, j.Attempt)
	case Connect:
		for _, a := range c.attempts {
			if a.instance.Connector == j.Connector && a.cancel == nil {
				c.rested(out, a)
			}
		}
	case Detach:
		for _, a := range c.attempts {
			if j.Connector == nil || a.instance.Connector == j.Connector {
				c.forget(a)
			}
		}
	}
	out.Release(j)
}

// begin dials an instance, or waits until the instance has rested.
func (c *connecter) begin(out *flow.Out[Job], i *connector.Instance) {
	a := &attempt{instance: i}
	c.attempts[i] = a
	if rest := i.Wait(out.Now()); rest > 0 {
		c.rest(out, a, rest)
		return
	}
	c.dial(out, a)
}

func (c *connecter) dial(out *flow.Out[Job], a *attempt) {
	if !c.Gateway.Connects() {
		c.park(out, a)
		return
	}
	ctx, cancel := context.WithCancel(c.Context)
	a.cancel = cancel
	j := out.Get()
	j.Kind, j.extras = Dialed, &extras{Attempt: a}
	out.Go(toConnecter, j, func() {
		defer cancel()
		conn, err := a.instance.Dial(ctx)
		if err == nil {
			a.fd, a.remote, err = sock.Take(conn)
		}
		a.err = err
	})
}

// dialed continues with an instance after dialing. The attempt may have been given up meanwhile.
func (c *connecter) dialed(out *flow.Out[Job], a *attempt) {
	wanted := c.attempts[a.instance] == a && c.Context.Err() == nil
	switch {
	case wanted && a.err == nil && c.Gateway.Connects():
		c.connected(out, a)
	case wanted && a.err != nil:
		c.rest(out, a, c.Gateway.Sessions.ConnectFailed(out.Now(), a.instance, a.err))
	case a.err == nil:
		_ = unix.Close(a.fd)
		if wanted {
			c.park(out, a)
		}
	}
}

// connected hands the socket to the reader, and sends the session's first PDU.
func (c *connecter) connected(out *flow.Out[Job], a *attempt) {
	i := a.instance
	delete(c.attempts, i)
	h := newHandle(c.Deps, i, admitted{a.fd, a.remote, nil}, out.Now())
	login := out.Get()
	login.Kind = Send
	h.Session.Start(out.Now(), login.pdu(i.Connector))
	login.retain(h)
	out.CountRef()
	out.ToGroup(h.group, toPDULogger, login)
	c.Gateway.Sessions.Connected(&h.Link) // from now on the builder checks the session's timers

	opened := out.Get()
	opened.Kind, opened.Handle = Opened, h
	out.ToGroup(h.group, toReader, opened)
}

// forget gives up an attempt. If dialing still succeeds, its connection is closed.
func (c *connecter) forget(a *attempt) {
	if a.cancel != nil {
		a.cancel()
	}
	delete(c.attempts, a.instance)
}

func (c *connecter) rest(out *flow.Out[Job], a *attempt, d time.Duration) {
	a.cancel, a.until = nil, out.Now()+int64(d)
	out.TickIn(d)
}

// Tick dials the instances that have rested long enough.
func (c *connecter) Tick(out *flow.Out[Job]) time.Duration {
	now, next := out.Now(), int64(0)
	for _, a := range c.attempts {
		switch {
		case a.cancel != nil: // the instance is being dialed
		case now >= a.until:
			c.rested(out, a)
		case next == 0 || a.until < next:
			next = a.until
		}
	}
	if next == 0 {
		return 0
	}
	return time.Duration(next - now)
}

// rested dials an instance again after its rest, unless the instance is not needed any more.
func (c *connecter) rested(out *flow.Out[Job], a *attempt) {
	if cn := a.instance.Connector; !cn.IsWanted() && cn.Queued() == 0 || cn.HasSurplus() {
		c.park(out, a)
		return
	}
	c.dial(out, a)
}

// park gives an instance that is not connected back to its lane.
func (c *connecter) park(out *flow.Out[Job], a *attempt) {
	delete(c.attempts, a.instance)
	j := out.Get()
	j.Kind, j.extras = Parked, &extras{Instance: a.instance}
	out.To(toDispatcher, j)
}
