package connector

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"pmg/config"
	"pmg/pdulog"
	"pmg/protocols"
)

// A Connector is a named pool of sessions of one protocol.
type Connector struct {
	Name   string
	Index  int // in the gateway's list; never used again after it is removed
	Driver protocols.Driver
	Stats  *Stats
	PDULog *pdulog.File // nil: not logged

	cfg    atomic.Pointer[config.Connector]
	online atomic.Int64 // sessions that can be given messages

	// Queued counts messages accepted and not yet done with: waiting or under way.
	Queued atomic.Int64
	// Starved tells that submits wait for room in the queue.
	Starved atomic.Bool
	// Removed tells that the configuration no longer has this connector.
	Removed atomic.Bool

	instances instances
}

// New makes a connector.
func New(index int, cfg *config.Connector, driver protocols.Driver) *Connector {
	c := &Connector{Name: cfg.Name, Index: index, Driver: driver, Stats: NewStats(len(driver.Commands()))}
	c.cfg.Store(cfg)
	c.instances.limit = cfg.Instances
	return c
}

// Config is the configuration in force.
func (c *Connector) Config() *config.Connector { return c.cfg.Load() }

// SetConfig puts a new configuration in force.
func (c *Connector) SetConfig(cfg *config.Connector) {
	c.cfg.Store(cfg)
	c.instances.mu.Lock()
	c.instances.limit = cfg.Instances
	c.instances.mu.Unlock()
}

// NewSession begins the protocol's state of one connection.
func (c *Connector) NewSession() protocols.Session {
	cfg := c.Config()
	return c.Driver.NewSession(protocols.SessionOptions{
		Client:          !cfg.Listens(),
		Name:            ourName(cfg),
		SystemID:        cfg.SystemID,
		Password:        cfg.Password,
		SystemType:      cfg.SystemType,
		Bind:            cfg.Bind,
		AddressRange:    cfg.AddressRange,
		BindTimeout:     int64(cfg.BindTimeout),
		EnquireInterval: int64(cfg.EnquireInterval),
		ResponseTimeout: int64(cfg.ResponseTimeout),
		IdleMax:         int64(cfg.IdleMax),
	})
}

func ourName(cfg *config.Connector) string {
	if cfg.SystemID == "" {
		return "pmg"
	}
	return cfg.SystemID
}

// ReadLimit is how much of a session's requests may be under way before the
// session is not read any more: its window in both directions, and some for what
// is not a message.
func (c *Connector) ReadLimit() int { return 2*c.Config().Window + 16 }

// Room is how many more messages the queue takes.
func (c *Connector) Room() int64 { return int64(c.Config().MaxQueue) - c.Queued.Load() }

// Online counts sessions that can be given messages.
func (c *Connector) Online() int { return int(c.online.Load()) }

// SetOnline adds to the count of sessions that can be given messages.
func (c *Connector) SetOnline(n int) { c.online.Add(int64(n)) }

// Up tells whether a message given to the connector now is likely to leave soon.
// A connector that connects on demand is up until a connection failed.
func (c *Connector) Up() bool {
	return !c.Removed.Load() && (c.online.Load() > 0 || !c.Config().IsStatic() && c.Stats.Failing.Load() == 0)
}

// An Instance is one session slot of a connector: at most one socket at a time.
type Instance struct {
	Connector *Connector
	Number    int // from 1
	link      atomic.Pointer[Link]

	// These belong to the connecter.
	Failures int // connections or logins that failed in a row
	Address  int // which of the connector's addresses comes next
}

// Link is the instance's session; nil while it is not connected.
func (i *Instance) Link() *Link { return i.link.Load() }

// SetLink notes that the instance is connected, or, with nil, that it is not.
func (i *Instance) SetLink(l *Link) { i.link.Store(l) }

// maxBackoff is how many times the configured delay a rest becomes at most.
const maxBackoff = 6

// Rest gives the pause after another failure: longer after each, and not the same
// for all instances. The instance goes on with another address.
func (i *Instance) Rest() time.Duration {
	delay := i.Connector.Config().ReconnectDelay
	delay = min(delay<<min(i.Failures, 8), maxBackoff*delay)
	i.Failures++
	i.Address++
	return delay + time.Duration(rand.Int64N(int64(delay)/5+1))
}

// instances is the pool of instances that have no socket.
type instances struct {
	mu    sync.Mutex
	limit int
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

// HasFree tells whether Acquire would give an instance.
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

// Instances is how many sessions the connector may have at once.
func (c *Connector) Instances() int {
	p := &c.instances
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}
