package gateway

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmg/account"
	"pmg/config"
	"pmg/connector"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/router"
	"pmg/sms"
)

// A Gateway is the state that every session shares. It is safe for concurrent use.
type Gateway struct {
	Log      zerolog.Logger
	Messages sms.Pool
	Prebind  *Prebind

	drivers    func(protocol string, c *config.Config) (protocols.Driver, error)
	cfg        atomic.Pointer[config.Config]
	accounts   atomic.Pointer[account.Table]
	routes     atomic.Pointer[router.Table[*connector.Connector]]
	connectors atomic.Pointer[[]*connector.Connector]
	registry   *account.Registry
	guard      *account.Guard
	hashing    chan struct{} // a place for each bcrypt that runs
	clock      func() int64
	ids        atomic.Uint64
	unrouted   atomic.Int64
	draining   atomic.Bool
	said       sync.Map   // what is not to be logged too often: when it was
	compress   sync.Mutex // one pdu log at a time

	mu sync.Mutex // one reload at a time
}

// guardSize bounds how many addresses and accounts with failed logins are remembered.
const guardSize = 100_000

// New makes a gateway of a configuration. drivers makes the driver of a protocol.
func New(cfg *config.Config, log zerolog.Logger, drivers func(protocol string, c *config.Config) (protocols.Driver, error)) (*Gateway, error) {
	g := &Gateway{
		Log: log, drivers: drivers,
		Prebind:  NewPrebind(cfg.Limits.Prebind, cfg.Limits.PrebindPerAddress),
		registry: account.NewRegistry(), guard: account.NewGuard(guardSize),
		hashing: make(chan struct{}, max(runtime.GOMAXPROCS(0)-1, 1)), clock: newClock(),
	}
	g.ids.Store(uint64(time.Now().UnixMilli()) << 20)
	g.connectors.Store(&[]*connector.Connector{})
	for i := range cfg.Connectors {
		if _, err := g.addConnector(cfg, &cfg.Connectors[i]); err != nil {
			_ = g.Close()
			return nil, err
		}
	}
	g.apply(cfg)
	return g, nil
}

// newClock returns a clock that the steps of the machine's clock do not reach.
func newClock() func() int64 {
	begin := time.Now()
	return func() int64 { return begin.UnixNano() + int64(time.Since(begin)) }
}

// Config is the configuration in force.
func (g *Gateway) Config() *config.Config { return g.cfg.Load() }

// Connectors lists the connectors by Connector.Index, those that were removed among them.
func (g *Gateway) Connectors() []*connector.Connector { return *g.connectors.Load() }

// Connector finds a connector of the configuration by name.
func (g *Gateway) Connector(name string) *connector.Connector {
	for _, c := range g.Connectors() {
		if c.Name == name && !c.Removed.Load() {
			return c
		}
	}
	return nil
}

// Unrouted counts messages that no route led anywhere.
func (g *Gateway) Unrouted() int64 { return g.unrouted.Load() }

func (g *Gateway) addConnector(cfg *config.Config, cc *config.Connector) (*connector.Connector, error) {
	driver, err := g.drivers(cc.Protocol, cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot add connector %s: %w", cc.Name, err)
	}
	all := g.Connectors()
	c := connector.New(len(all), cc, driver)
	if cfg.PDULog.Enabled {
		if c.PDULog, err = pdulog.Open(cfg.PDULog.Dir, c.Name, g.pdulogOptions(cfg)); err != nil {
			return nil, fmt.Errorf("cannot add connector %s: %w", cc.Name, err)
		}
	}
	next := append(append([]*connector.Connector(nil), all...), c)
	g.connectors.Store(&next)
	return c, nil
}

func (g *Gateway) pdulogOptions(cfg *config.Config) pdulog.Options {
	p := &cfg.PDULog
	return pdulog.Options{
		MaxSize: int64(p.MaxSize), RotateEvery: p.RotateEvery, Keep: p.Keep, KeepAge: p.KeepAge,
		Compress: p.Compress, Text: p.Text, Flush: p.Flush, Log: g.Log, Turn: &g.compress,
	}
}

// apply puts what a reload may change of the configuration in force.
func (g *Gateway) apply(cfg *config.Config) {
	g.accounts.Store(account.NewTable(cfg, g.registry))
	g.routes.Store(router.Build(cfg.Routes, func(t config.Target) *connector.Connector { return g.target(cfg, t) }))
	g.cfg.Store(cfg)
}

// target is the connector that a route's target leads to. An account is reached
// by the first connector that it may log in on.
func (g *Gateway) target(cfg *config.Config, t config.Target) *connector.Connector {
	if t.Account == "" {
		return g.Connector(t.Connector)
	}
	for i := range cfg.Accounts {
		if cfg.Accounts[i].SystemID != t.Account {
			continue
		}
		for j := range cfg.Connectors {
			if c := &cfg.Connectors[j]; cfg.Accounts[i].MayUse(c) {
				return g.Connector(c.Name)
			}
		}
	}
	return nil // the configuration was checked: every account may log in somewhere
}

// ReopenLogs makes the pdu logs begin new files, after a tool moved the old ones.
func (g *Gateway) ReopenLogs() {
	for _, c := range g.Connectors() {
		if c.PDULog != nil {
			c.PDULog.Reopen()
		}
	}
}

// Drain begins to refuse new messages, because the gateway is stopping.
func (g *Gateway) Drain() { g.draining.Store(true) }

// Draining tells whether Drain was called.
func (g *Gateway) Draining() bool { return g.draining.Load() }

// Pending is how many accepted messages are not done with.
func (g *Gateway) Pending() (n int64) {
	for _, c := range g.Connectors() {
		n += c.Queued.Load()
	}
	return n
}

// Close closes the pdu logs.
func (g *Gateway) Close() (first error) {
	for _, c := range g.Connectors() {
		if c.PDULog != nil {
			if err := c.PDULog.Close(); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}

// Deliverable is how many accepted messages may still leave: those for SMSCs, and
// those for clients that are there.
func (g *Gateway) Deliverable() (n int64) {
	for _, c := range g.Connectors() {
		if !c.Config().Listens() || c.Online() > 0 {
			n += c.Queued.Load()
		}
	}
	return n
}

// Sessions counts the sockets that are open.
func (g *Gateway) Sessions() (n int) {
	for _, c := range g.Connectors() {
		c.Links(func(*connector.Link) { n++ })
	}
	return n
}
