package gateway

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/account"
	"pmg/gateway/convert"
	"pmg/gateway/credit"
	"pmg/gateway/hooks"
	"pmg/gateway/inbox"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/leave"
	"pmg/gateway/lists"
	"pmg/gateway/login"
	"pmg/gateway/networks"
	"pmg/gateway/node"
	"pmg/gateway/operate"
	"pmg/gateway/receipts"
	"pmg/gateway/request"
	"pmg/gateway/route"
	"pmg/gateway/session"
	"pmg/gateway/settle"
	"pmg/gateway/webhooks"
	"pmg/internal/logfile"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/store"
)

// A Gateway combines the rooms, from its start to its stop. It is safe for concurrent use.
type Gateway struct {
	Node     *node.Node
	Keeper   *keep.Keeper
	Table    *route.Table
	Logins   *login.Logins
	Convert  *convert.Converter
	Receipts *receipts.Matcher
	Lists    *lists.Lists
	Settler  *settle.Settler
	Hooks    *hooks.Hooks
	Intake   *intake.Checker
	Operate  *operate.Operations
	Sessions *session.Sessions
	Requests *request.Requests
	Webhooks *webhooks.Webhooks
	Inbox    *inbox.Inbox

	drivers  func(protocol string, c *config.Config) (protocols.Driver, error)
	registry *account.Registry
	logs     logs

	mu sync.Mutex // held during a reload

	upkeep struct { // state of SeeClock, and of Recover
		unread         atomic.Pointer[string] // a text about messages of earlier runs that cannot be read; nil: there are none
		check, warning atomic.Int64           // when to check the TLS files again, and when to warn of certificates that expire
		busy           atomic.Bool            // files of numbers are being read again
		running        sync.WaitGroup         // waits for that goroutine
	}
}

// New makes a gateway of a configuration, which keeps messages in memory until Keep. drivers makes the driver of a protocol.
func New(
	cfg *config.Config, log zerolog.Logger, drivers func(protocol string, c *config.Config) (protocols.Driver, error),
) (*Gateway, error) {
	shared := node.New(cfg, log)
	g := &Gateway{
		Node: shared, Keeper: keep.New(shared), Hooks: hooks.New(hooks.Open(shared.Log)), drivers: drivers,
		registry: account.NewRegistry(), logs: newLogs(),
	}
	g.Logins = login.New(shared, g.Hooks)
	if cfg.PDULog.Enabled {
		g.logs.pdus = pdulog.NewDir(absolute(cfg.PDULog.Dir), pdulogOptions(&cfg.PDULog, &cfg.Limits, log))
	}
	// higher than the ids of earlier runs, at up to a million messages per second
	g.Keeper.IDs.Store(uint64(time.Now().UnixMicro()))
	policy := &connector.Policy{Intents: g.Keeper, Bodies: g.Keeper, Process: shared} // the other fields are set later
	g.Webhooks = webhooks.New(shared)
	g.Table = route.NewTable(shared, g.Keeper, g.Logins, policy, g.Webhooks.Serve)
	g.Inbox = inbox.New(shared, g.Keeper, g.Table)
	g.Keeper.Inbox = g.Inbox
	g.Convert = convert.New(shared, g.Table)
	g.Settler = settle.New(shared, g.Keeper, g.Table, g.Convert, g.Hooks)
	g.Receipts = g.Settler.Receipts
	g.Lists = lists.New(shared, g.Keeper)
	mobile, money := networks.New(shared), credit.New(shared, g.Keeper)
	g.Intake = intake.New(shared, g.Keeper, g.Table, g.Convert, g.Receipts, &g.Settler.Events, g.Hooks, g.Lists, mobile, money)
	g.Operate = operate.New(shared, g.Keeper, g.Table, g.Receipts, g.Settler, g.Intake)
	g.Sessions = session.New(shared, g.Keeper, g.Table, g.Logins, g.Convert, g.Receipts, g.Intake, g.Operate)
	g.Requests = request.New(shared, g.Keeper, g.Table, g.Intake, g.Receipts)
	policy.Settler, policy.Router, policy.Links = g.Settler, g.Table, g.Sessions
	policy.Gate = leave.New(shared, g.Keeper, g.Table, g.Convert, g.Hooks)
	g.Keeper.Open(store.NewMemory(), g.committed)
	opened, err := g.opened(cfg)
	if err != nil {
		_ = g.Close()
		return nil, err
	}
	for i := range cfg.Connectors {
		if _, err := g.addConnector(cfg, &cfg.Connectors[i]); err != nil {
			_ = g.Close()
			return nil, err
		}
	}
	g.Node.Memory.SetLimit(memoryShare(cfg))
	g.apply(cfg, opened)
	return g, nil
}

// absolute returns the absolute path of a directory, so that errors name it wherever the
// gateway was started.
func absolute(dir string) string {
	if path, err := filepath.Abs(dir); err == nil {
		return path
	}
	return dir
}

// memoryShare is the part of the configured memory that messages and waiting requests may use.
func memoryShare(cfg *config.Config) int64 { return cfg.Limits.MemoryLimit() / 2 }

func (g *Gateway) addConnector(cfg *config.Config, cc *config.Connector) (*connector.Connector, error) {
	driver, err := g.drivers(cc.Protocol, cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot add connector %s: %w", cc.Name, err)
	}
	all := g.Table.Connectors()
	files, err := g.filesOf(cc)
	if err != nil {
		return nil, fmt.Errorf("cannot add %w", err)
	}
	c := connector.New(len(all), cc, driver, &g.Node.Memory)
	c.SetTLS(files)
	c.Protocol = driver.Protocol()
	c.SetSockets(socketsOf(cfg, cc))
	if g.logs.pdus != nil {
		if c.PDULog, err = g.logs.pdus.Open(c.Name); err != nil {
			return nil, fmt.Errorf("cannot add connector %s: %w", cc.Name, err)
		}
	}
	g.Table.SetConnectors(append(all[:len(all):len(all)], c))
	return c, nil
}

// socketsOf returns how many sockets a connector may have. It includes room for clients that have
// not logged in, so that such clients do not keep out clients that have logged in.
func socketsOf(cfg *config.Config, c *config.Connector) int {
	if c.Listens() {
		return c.Instances + cfg.Limits.Prebind
	}
	return c.Instances
}

func pdulogOptions(p *config.PDULog, limits *config.Limits, log zerolog.Logger) pdulog.Options {
	return pdulog.Options{
		Options: logfile.Options{
			MaxSize: int64(p.MaxSize), MaxTotal: int64(p.MaxTotal), RotateEvery: p.RotateEvery,
			Keep: p.Keep, KeepAge: p.KeepAge, MinFree: p.MinFree, Compress: p.Compress,
		},
		Waiting: limits.MemoryLimit() / 8, Text: p.Text, TextKey: []byte(p.TextKey), Flush: p.Flush, Log: log,
	}
}

// apply puts in force the part of the configuration that a reload may change.
func (g *Gateway) apply(cfg *config.Config, opened *opened) {
	g.Intake.Widen()
	g.Logins.SetAccounts(account.NewTable(cfg, g.registry))
	g.Node.SetConfig(cfg)
	g.Table.Apply(cfg, opened.prices.Lists())
	g.Hooks.Apply(cfg)
	g.Lists.Apply(opened.lists)
	g.Intake.Networks.Apply(opened.networks)
	g.Intake.Credit.Apply(opened.prices, cfg)
	g.Intake.Narrow(cfg)
}

// ReopenLogs opens new files for the pdu logs and the events, after a tool has moved the old files.
func (g *Gateway) ReopenLogs() {
	if w := g.Settler.Events.Writer; w != nil {
		w.Reopen()
	}
	if g.logs.pdus != nil {
		g.logs.pdus.Reopen()
	}
}

// Pending returns how many accepted messages have no final outcome yet, without
// scheduled messages.
func (g *Gateway) Pending() (n int64) {
	n = g.Keeper.Aside(store.Asked)
	for _, l := range g.Table.Lanes() {
		n += l.Queued.Load()
	}
	return n
}

// Scheduled returns how many accepted messages wait for their delivery time.
func (g *Gateway) Scheduled() int64 { return g.Node.Origins.Scheduled() }

// Close closes the store and the pdu logs.
func (g *Gateway) Close() error {
	g.Node.LogLimits.SumUp(&g.Node.Log, math.MaxInt64)
	g.logs.stop()
	g.logs.retaining.Wait()
	g.Receipts.Asking.Stop()
	g.Keeper.Outgoing.End() // End informs plugins
	g.Hooks.Close()         // after Close nothing waits for verdicts
	g.upkeep.running.Wait()
	err := g.closeStore()
	if g.logs.pdus != nil {
		err = errors.Join(err, g.logs.pdus.Close())
	}
	return err
}

// Deliverable returns how many accepted messages can still be sent. It counts messages for SMSCs
// that can be connected, messages for connected peers, and receipts about which plugins are being
// asked.
func (g *Gateway) Deliverable() (n int64) {
	n = g.Keeper.Aside(store.Asked)
	for _, l := range g.Table.Lanes() {
		if !l.ToClient() && !l.Config().Listens() || l.Window.Online() > 0 {
			n += l.Queued.Load()
		}
	}
	return n
}
