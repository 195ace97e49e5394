package stages

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"pmg/connector"
	"pmg/flow"
	"pmg/internal/poll"
	"pmg/internal/sock"
)

// connecter connects instances, all in parallel, and begins their sessions. Each
// goes through the connector's addresses, and through all that a host name
// stands for; when none answers it rests and begins again.
type connecter struct {
	*Deps
	poller   *poll.Poller
	attempts map[*connector.Instance]*attempt
	sockets  map[int]*attempt
}

// An attempt is the way of one instance to a session.
type attempt struct {
	instance *connector.Instance
	state    attemptState
	until    int64            // end of the rest, or of the wait for the socket
	left     []netip.AddrPort // of the host being tried, not tried yet
	current  netip.AddrPort
	hosts    int // of the connector's addresses, tried in this round
	fd       int
	err      error // of the last try
}

type attemptState uint8

const (
	resting attemptState = iota
	resolving
	connecting
)

func newConnecter(d *Deps) (flow.Stage[Job], error) {
	p, err := poll.New()
	if err != nil {
		return nil, err
	}
	return &connecter{Deps: d, poller: p, attempts: map[*connector.Instance]*attempt{}, sockets: map[int]*attempt{}}, nil
}

func (c *connecter) Wait(until time.Time) error { return c.poller.Wait(until) }
func (c *connecter) Wake()                      { c.poller.Wake() }

func (c *connecter) Work(out *flow.Out[Job], j *Job) {
	switch j.Kind {
	case Dial:
		c.dial(out, j.Instance)
	case Resolved:
		if a := c.attempts[j.Instance]; a != nil && a.state == resolving {
			a.left, a.err = j.Addresses, j.Err
			c.next(out, a)
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

// dial connects an instance, or waits until it has rested.
func (c *connecter) dial(out *flow.Out[Job], i *connector.Instance) {
	a := &attempt{instance: i, fd: -1}
	c.attempts[i] = a
	if rest := i.Wait(out.Now()); rest > 0 {
		c.rest(out, a, rest)
		return
	}
	c.begin(out, a)
}

// begin starts a round over the connector's addresses.
func (c *connecter) begin(out *flow.Out[Job], a *attempt) {
	a.hosts = 0
	c.host(out, a)
}

// host goes on with the connector's next address.
func (c *connecter) host(out *flow.Out[Job], a *attempt) {
	i := a.instance
	addresses := i.Connector.Config().AllAddresses()
	if a.hosts == len(addresses) {
		c.failed(out, a)
		return
	}
	address := addresses[(i.Address+a.hosts)%len(addresses)]
	a.hosts++
	if ip, err := netip.ParseAddrPort(address); err == nil {
		a.left = []netip.AddrPort{ip}
		c.next(out, a)
		return
	}
	a.state = resolving
	timeout := i.Connector.Config().ConnectTimeout
	j := out.Get()
	j.Kind, j.extras = Resolved, &extras{Instance: i}
	out.Go(toConnecter, j, func() { j.Addresses, j.Err = resolve(address, timeout) })
}

func resolve(address string, timeout time.Duration) ([]netip.AddrPort, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("cannot resolve %s: %w", address, err)
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return nil, fmt.Errorf("cannot resolve %s: %w", address, err)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("cannot resolve %s: %w", address, err)
	}
	all := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		all[i] = netip.AddrPortFrom(ip.Unmap(), uint16(port))
	}
	return all, nil
}

// next tries the next address of the host, or the next host.
func (c *connecter) next(out *flow.Out[Job], a *attempt) {
	for len(a.left) > 0 {
		a.current, a.left = a.left[0], a.left[1:]
		fd, err := sock.Connect(a.current)
		if err == nil {
			if err = c.poller.Add(fd, false, true); err == nil {
				timeout := a.instance.Connector.Config().ConnectTimeout
				a.state, a.fd, a.until = connecting, fd, out.Now()+int64(timeout)
				c.sockets[fd] = a
				out.TickIn(timeout)
				return
			}
			_ = unix.Close(fd)
		}
		a.err = err
	}
	c.host(out, a)
}

func (c *connecter) Poll(out *flow.Out[Job]) {
	for _, e := range c.poller.Events() {
		a := c.sockets[e.FD]
		if a == nil {
			continue
		}
		if err := sock.Connected(e.FD); err != nil {
			a.err = fmt.Errorf("cannot connect to %s: %w", a.current, err)
			c.drop(a)
			c.next(out, a)
			continue
		}
		c.connected(out, a)
	}
}

// drop gives up the socket of an attempt.
func (c *connecter) drop(a *attempt) {
	if a.fd < 0 {
		return
	}
	_ = c.poller.Remove(a.fd)
	_ = unix.Close(a.fd)
	delete(c.sockets, a.fd)
	a.fd = -1
}

func (c *connecter) forget(a *attempt) {
	c.drop(a)
	delete(c.attempts, a.instance)
}

// connected hands the socket to the reader and the session's first PDU to be sent.
func (c *connecter) connected(out *flow.Out[Job], a *attempt) {
	i := a.instance
	_ = c.poller.Remove(a.fd)
	delete(c.sockets, a.fd)
	delete(c.attempts, i)
	h := newHandle(i, a.fd, a.current, out.Now())
	login := out.Get()
	login.Kind = Send
	h.Session.Start(out.Now(), login.pdu(i.Connector))
	login.retain(h)
	out.CountRef()
	out.To(toPDULogger, login)
	c.Gateway.Connected(&h.Link) // from here on the builder looks after its timers

	opened := out.Get()
	opened.Kind, opened.Handle = Opened, h
	out.To(toReader, opened)
}

// failed rests before the next round: no address could be reached.
func (c *connecter) failed(out *flow.Out[Job], a *attempt) {
	c.rest(out, a, c.Gateway.ConnectFailed(out.Now(), a.instance, a.err))
}

func (c *connecter) rest(out *flow.Out[Job], a *attempt, d time.Duration) {
	a.state, a.until = resting, out.Now()+int64(d)
	out.TickIn(d)
}

// Tick ends rests and waits that have lasted long enough.
func (c *connecter) Tick(out *flow.Out[Job]) time.Duration {
	now, next := out.Now(), int64(0)
	for _, a := range c.attempts {
		if a.state == resolving {
			continue
		}
		if now >= a.until {
			c.expire(out, a)
		}
		if a.until > now && (next == 0 || a.until < next) {
			next = a.until
		}
	}
	if next == 0 {
		return 0
	}
	return time.Duration(next - now)
}

func (c *connecter) expire(out *flow.Out[Job], a *attempt) {
	cn := a.instance.Connector
	switch {
	case a.state == connecting:
		a.err = fmt.Errorf("cannot connect to %s: no answer in %s", a.current, cn.Config().ConnectTimeout)
		c.drop(a)
		c.next(out, a)
	case !cn.Config().IsStatic() && cn.Queued() == 0:
		delete(c.attempts, a.instance)
		j := out.Get()
		j.Kind, j.extras = Parked, &extras{Instance: a.instance}
		out.To(toDispatcher, j)
	default:
		c.begin(out, a)
	}
}

func (c *connecter) Close() error {
	for _, a := range c.attempts {
		c.drop(a)
	}
	return c.poller.Close()
}
