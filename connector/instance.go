package connector

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// An Instance is a place for one session of a connector: at most one socket at a time.
type Instance struct {
	Connector *Connector
	Number    int // from 1
	link      atomic.Pointer[Link]

	// While the instance is being connected these belong to whatever connects it,
	// otherwise to whatever dispatches for the lane.
	Failures  int   // connections, logins and short sessions in a row
	Address   int   // which of the connector's addresses comes next
	restUntil int64 // it is not connected before this time
}

// Link returns the instance's session; nil while it is not connected.
func (i *Instance) Link() *Link { return i.link.Load() }

// SetLink notes that the instance is connected, or, with nil, that it is not.
func (i *Instance) SetLink(l *Link) { i.link.Store(l) }

// maxBackoff is how many times the configured delay a pause becomes at most.
const maxBackoff = 6

// Rest begins the pause after another failure and returns its length. Pauses grow
// with each failure and are not the same for all instances. The next attempt uses
// another address.
func (i *Instance) Rest(now int64) time.Duration {
	delay := i.Connector.Config().ReconnectDelay
	delay = min(delay<<min(i.Failures, 8), maxBackoff*delay)
	i.Failures++
	i.Address++
	delay += time.Duration(rand.Int64N(int64(delay)/5 + 1))
	i.restUntil = now + int64(delay)
	return delay
}

// IsWanted reports whether instances are connected without a message that waits: those
// of a static connector, and of one that failed, because new messages and those that
// wait go elsewhere until it works again.
func (c *Connector) IsWanted() bool { return c.Config().IsStatic() || c.Stats.Failing.Load() > 0 }

// Wait returns how long the instance has to rest before it is connected.
func (i *Instance) Wait(now int64) time.Duration {
	return time.Duration(max(i.restUntil-now, 0))
}

// proven is how long a session must live until the ones before it are forgotten.
func (i *Instance) proven() int64 { return maxBackoff * int64(i.Connector.Config().ReconnectDelay) }

// ended makes the instance rest after a session that failed or did not live long, and
// returns for how long. One that we logged out ourselves is no failure.
func (i *Instance) ended(l *Link, now int64) (rest time.Duration) {
	switch {
	case l.Bound && now-l.BoundAt >= i.proven():
		i.Failures, i.restUntil = 0, 0
	case l.LoggedOut:
		i.restUntil = 0
	case l.Bound && !i.Connector.Config().IsStatic():
		i.Rest(now) // the peer has ended an idle session, perhaps, but it works
	default:
		i.Connector.Stats.Failing.Add(1)
		rest = i.Rest(now)
	}
	return rest
}

// forgive forgets failures when the session has lived a while.
func (i *Instance) forgive(l *Link, now int64) {
	if l.boundAt != 0 && now-l.boundAt >= i.proven() {
		i.Failures = 0
	}
}

// instances is the pool of instances that have no socket.
type instances struct {
	mu    sync.Mutex
	limit int // sockets at the same time
	all   []*Instance
	free  []*Instance
}

// Acquire takes an instance that has no socket; nil when all are in use.
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

// HasFree reports whether Acquire returns an instance.
func (c *Connector) HasFree() bool {
	p := &c.instances
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)-len(p.free) < p.limit
}

// Return gives back an instance that has no socket any more.
func (c *Connector) Return(i *Instance) {
	p := &c.instances
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, i)
}

// HasSurplus reports whether more instances have a socket, or wait for one, than are
// configured, because a reload has reduced their number.
func (c *Connector) HasSurplus() bool {
	p := &c.instances
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)-len(p.free) > p.limit
}

// ReturnSurplus gives back an instance that has no socket if there are more than are
// configured, and reports whether it has.
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
	all := p.all // instances are only ever added
	p.mu.Unlock()
	for _, i := range all {
		if l := i.Link(); l != nil {
			f(l)
		}
	}
}

// BindClient counts a client that is logging in, unless the connector has as many
// bound sessions as it may. UnbindClient must follow.
func (c *Connector) BindClient() bool {
	if c.clients.Add(1) <= int64(c.Config().Instances) {
		return true
	}
	c.clients.Add(-1)
	return false
}

// UnbindClient ends what BindClient began.
func (c *Connector) UnbindClient() { c.clients.Add(-1) }
