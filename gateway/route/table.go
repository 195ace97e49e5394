package route

import (
	"sync/atomic"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/login"
	"pmg/gateway/node"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/prices"
)

// A Table finds the lane that a message goes to. It is safe for concurrent use.
type Table struct {
	node   *node.Node
	keep   *keep.Keeper
	logins *login.Logins
	policy *connector.Policy     // policy of new lanes
	serve  func(*connector.Lane) // called for new lanes to webhooks

	routes     atomic.Pointer[routes]
	connectors atomic.Pointer[[]*connector.Connector]
	lanes      lanes
	keywords   keywords
	day        atomic.Int64 // the day whose messages routes count; 0: not known yet
}

// NewTable makes a table without routes. New lanes get a policy. serve is called for each new lane to a webhook. It may be
// called twice for one.
func NewTable(
	n *node.Node, k *keep.Keeper, logins *login.Logins, policy *connector.Policy, serve func(*connector.Lane),
) *Table {
	t := &Table{node: n, keep: k, logins: logins, policy: policy, serve: serve}
	t.SetConnectors(nil)
	return t
}

// Connectors returns all connectors by Connector.Index, including removed ones.
func (t *Table) Connectors() []*connector.Connector { return *t.connectors.Load() }

// SetConnectors replaces all connectors.
func (t *Table) SetConnectors(all []*connector.Connector) { t.connectors.Store(&all) }

// Apply puts the routes of a configuration in force, whose connectors exist. lists are its lists of prices, by their names.
func (t *Table) Apply(cfg *config.Config, lists map[string]*prices.List) {
	t.findHomes(cfg)
	t.node.Origins.Apply(cfg)
	r := t.newRoutes(cfg, lists)
	if before := t.routes.Load(); before != nil {
		r.table.continues(before.table)
	}
	t.routes.Store(r)
	for _, l := range t.Lanes() {
		l.Queues.Shares(func(s *connector.Share) { s.SetPercent(r.percent(s.Origin.Account)) })
	}
}

// Account returns the options of an account, or nil if there is no such account.
func (t *Table) Account(name string) *config.Account {
	if a := t.routes.Load().accounts[name]; a != nil {
		return a.config
	}
	return nil
}

// defaultParked is how many messages of SMSCs may be parked, which have no account.
const defaultParked = 10_000

// MayPark reports whether another message of an origin may be parked beside others that are about to be.
func (t *Table) MayPark(o *sms.Origin, others int64) bool {
	limit := int64(defaultParked)
	if a := t.Account(o.Account); a != nil {
		limit = int64(a.MaxParked)
	}
	return o.Tally.Parked.Load()+others < limit
}

// HasLimits reports whether an option sets or limits the validity of messages.
func (t *Table) HasLimits() bool { return t.routes.Load().validity }

// ForcesReceipts reports whether an account gets receipts that it does not ask for.
func (t *Table) ForcesReceipts() bool { return t.routes.Load().forced }

// Incoming returns the options of the connector with a name, nil if there is none.
func (t *Table) Incoming(name string) *config.Connector { return t.routes.Load().connectors[name] }

// DriverOf returns the driver of a protocol, nil if no connector speaks it.
func (t *Table) DriverOf(p sms.Protocol) protocols.Driver { return t.routes.Load().driverOf(p) }

// PartsOf returns who knows the fields of a protocol that say which part a message is, or nil.
func (t *Table) PartsOf(p sms.Protocol) protocols.PartNamer { return t.routes.Load().partsOf(p) }
