package connector

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// An Instance is a place for one session of a connector: at most one socket at a time.
type Instance struct {
	Connector *Connector
	Number    int // numbered from 1
	link      atomic.Pointer[Link]

	// While the instance is being connected, these fields belong to the goroutine that connects it.
	// Otherwise they belong to the lane's dispatching goroutine.
	Failures  int    // failed connections and logins, and short sessions, in a row
	Address   int    // index of the connector's address to try next
	host      string // host of the address that was connected last
	restUntil int64  // the instance is not connected before this time
}

// Link returns the instance's session, or nil while it is not connected.
func (i *Instance) Link() *Link { return i.link.Load() }

// TLS returns the TLS configuration for the session that begins, or nil if the session is not
// encrypted.
func (i *Instance) TLS() *tls.Config {
	files := i.Connector.TLS()
	if files == nil {
		return nil
	}
	return files.Config(i.host)
}

// SetLink sets the instance's session. nil means that the instance is not connected.
func (i *Instance) SetLink(l *Link) { i.link.Store(l) }

// maxBackoff is the longest rest, as a multiple of the configured delay.
const maxBackoff = 6

// Rest begins the rest after another failure and returns its length. Rests grow with each
// failure, and a random part keeps instances from connecting together. The next attempt
// uses the next address.
func (i *Instance) Rest(now int64) time.Duration {
	delay := i.Connector.Config().ReconnectDelay
	delay = min(delay<<min(i.Failures, 8), maxBackoff*delay)
	i.Failures++
	i.Address++
	random := rand.New(rand.NewPCG(uint64(now), uint64(i.Number))) // equal times give equal rests in a simulation
	delay += time.Duration(random.Int64N(int64(delay)/5 + 1))
	i.restUntil = now + int64(delay)
	return delay
}

// IsWanted reports whether instances must be connected even though no message waits. The result is
// true for a static connector. It is also true for a connector that has failed, because messages
// take other routes until the connector works again.
func (c *Connector) IsWanted() bool { return c.Config().IsStatic() || c.Stats.Failing.Load() > 0 }

// Wait returns how long the instance still has to rest.
func (i *Instance) Wait(now int64) time.Duration {
	return time.Duration(max(i.restUntil-now, 0))
}

// proven is how long a session must live before earlier failures are forgotten.
func (i *Instance) proven() int64 { return maxBackoff * int64(i.Connector.Config().ReconnectDelay) }

// ended makes the instance rest after a session that failed or was short, and returns the length of
// the rest. A session that we logged out does not count as a failure.
func (i *Instance) ended(l *Link, now int64) (rest time.Duration) {
	switch {
	case l.WasBound() && now-l.BoundAt >= i.proven():
		i.Failures, i.restUntil = 0, 0
	case l.LoggedOut:
		i.restUntil = 0
	case l.WasBound() && !i.Connector.Config().IsStatic():
		i.Rest(now) // the rest is not counted as a failure, because the peer may have ended an idle session
	default:
		i.Connector.Stats.Failing.Add(1)
		rest = i.Rest(now)
	}
	return rest
}

// forgive resets the failures if the session has lived long enough.
func (i *Instance) forgive(l *Link, now int64) {
	if l.boundAt != 0 && now-l.boundAt >= i.proven() {
		i.Failures = 0
	}
}

// instances is the pool of instances without a socket.
type instances struct {
	mu    sync.Mutex
	limit int // how many sockets may be open at the same time
	all   []*Instance
	free  []*Instance
}

// Acquire takes an instance without a socket. It returns nil if all instances are in use.
func (c *Connector) Acquire() *Instance {
	p := &c.instances
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.all)-len(p.free) >= p.limit {
		return nil
	}
	if n := len(p.free) - 1; n >= 0 {
		i := p.free[n]
		p.free = p.free[:n]
		return i
	}
	i := &Instance{Connector: c, Number: len(p.all) + 1}
	p.all = append(p.all, i)
	return i
}

// HasFree reports whether Acquire would return an instance.
func (c *Connector) HasFree() bool {
	p := &c.instances
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)-len(p.free) < p.limit
}

// Return puts back an instance whose socket is closed.
func (c *Connector) Return(i *Instance) {
	p := &c.instances
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, i)
}

// HasSurplus reports whether more instances are in use than are configured. This happens after a
// reload has reduced the number.
func (c *Connector) HasSurplus() bool {
	p := &c.instances
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)-len(p.free) > p.limit
}

// ReturnSurplus puts back an instance without a socket if more instances are in use than are
// configured. It reports whether it put the instance back.
func (c *Connector) ReturnSurplus(i *Instance) bool {
	p := &c.instances
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.all)-len(p.free) <= p.limit {
		return false
	}
	p.free = append(p.free, i)
	return true
}

// Links calls f for the session of every connected instance.
func (c *Connector) Links(f func(*Link)) {
	p := &c.instances
	p.mu.Lock()
	all := p.all // instances are only added, never removed
	p.mu.Unlock()
	for _, i := range all {
		if l := i.Link(); l != nil {
			f(l)
		}
	}
}

// BindClient counts a client that is logging in, or an SMSC that has connected, unless the
// connector has as many bound sessions as it may. It reports whether it counted the client. If so,
// the caller must call UnbindClient at the end of the session.
func (c *Connector) BindClient() bool {
	if c.clients.Add(1) <= int64(c.Config().Instances) {
		return true
	}
	c.clients.Add(-1)
	return false
}

// UnbindClient undoes BindClient at the end of the session.
func (c *Connector) UnbindClient() { c.clients.Add(-1) }

// Dial connects the instance. It tries the connector's addresses in order, beginning with number
// i.Address, each for at most the configured time. If no address can be reached, Dial returns the
// error of the last attempt.
func (i *Instance) Dial(ctx context.Context) (conn net.Conn, err error) {
	cfg := i.Connector.Config()
	addresses := cfg.AllAddresses()
	for n := range addresses {
		address := addresses[(i.Address+n)%len(addresses)]
		d := net.Dialer{Timeout: cfg.ConnectTimeout}
		if conn, err = d.DialContext(ctx, "tcp", address); err == nil {
			i.host, _, _ = net.SplitHostPort(address)
			return conn, nil
		}
		err = fmt.Errorf("cannot connect to %s: %w", address, dialReason(err, cfg.ConnectTimeout))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// dialReason returns the part of a Dialer's error that does not repeat the address.
func dialReason(err error, timeout time.Duration) error {
	var lookup *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &lookup):
		return lookup
	case !errors.As(err, &op):
		return err
	case op.Timeout():
		return fmt.Errorf("no answer in %s", timeout)
	}
	if call := (*os.SyscallError)(nil); errors.As(op.Err, &call) {
		return call.Err // "connection refused" without the prefix "connect: "
	}
	return op.Err
}
