package route

import (
	"sync/atomic"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/number"
	"pmg/sms/prices"
	"pmg/store"
)

// A target is the end of a route: a lane, or an in connector. With an in connector the
// message's destination selects the account, and thereby the lane.
type target struct {
	lane    *connector.Lane
	clients *connector.Connector
	costs   *prices.List // prices of the target's SMSC; nil: not known
}

func (t target) up() bool {
	switch {
	case t.lane != nil:
		return t.lane.Up()
	case t.clients != nil:
		return t.clients.Online() > 0 || t.clients.Config().Transport() != config.BySession
	}
	return false
}

// routes holds the routing of one configuration.
type routes struct {
	table    *index[target]
	accounts map[string]*receiver
	single   bool      // there is only one account
	drivers  []speaker // index: protocol

	connectors map[string]*config.Connector
	validity   bool // an option sets or limits the validity of messages
	forced     bool // an account gets receipts that it does not request

	costs map[string]*prices.List // prices of the SMSCs that have any, by connector
}

// A receiver is an account of a configuration, as the receiver of messages.
type receiver struct {
	config    *config.Account
	bySession bool                           // its sessions get messages
	lane      atomic.Pointer[connector.Lane] // the last one of its sessions; nil: none was needed yet
}

// newRoutes builds the routes of a configuration whose connectors exist.
func (t *Table) newRoutes(cfg *config.Config, lists map[string]*prices.List) *routes {
	r := &routes{accounts: make(map[string]*receiver, len(cfg.Accounts)), single: len(cfg.Accounts) == 1}
	for i := range cfg.Accounts {
		a := &cfg.Accounts[i]
		r.accounts[a.SystemID] = &receiver{config: a, bySession: cfg.ReceivesBySession(a)}
		r.forced = r.forced || cfg.Accounts[i].Receipts == config.ForceReceipts
	}
	r.connectors, r.validity = map[string]*config.Connector{}, hasValidity(cfg)
	for i := range cfg.Connectors {
		r.connectors[cfg.Connectors[i].Name] = &cfg.Connectors[i]
		if c := t.Connector(cfg.Connectors[i].Name); c != nil {
			r.addDriver(c.Driver)
		}
	}
	r.costs = costsOf(cfg, lists)
	r.table = newIndex(cfg.Routes, func(to config.Target) target { return t.target(cfg, to, r.costs) })
	return r
}

// costsOf returns the prices of the SMSCs that have any, by connector.
func costsOf(cfg *config.Config, lists map[string]*prices.List) map[string]*prices.List {
	all := map[string]*prices.List{}
	for i := range cfg.Connectors {
		if l := lists[cfg.Connectors[i].Costs]; l != nil {
			all[cfg.Connectors[i].Name] = l
		}
	}
	return all
}

// Cost returns what the SMSC of a connector charges for a short message, at a time of the wall clock. It reports false if that
// is not known.
func (t *Table) Cost(connector string, m *sms.Message, wall int64) (sms.Money, bool) {
	l := t.routes.Load().costs[connector]
	if l == nil {
		return 0, false
	}
	return l.Of(number.Of(m.Dest()), m.Network, wall)
}

func (t *Table) target(cfg *config.Config, to config.Target, costs map[string]*prices.List) target {
	if to.IsClient() {
		return target{lane: t.accountLane(cfg, to.Account, endpointOf(cfg, to.Account))}
	}
	c := t.Connector(to.Connector)
	if c.Config().Role() == protocols.Server {
		return target{clients: c}
	}
	return target{lane: t.LaneOf(c), costs: costs[to.Connector]}
}

// endpointOf returns the webhook that is called for an account with messages from mobiles, "" if these go to its
// sessions.
func endpointOf(cfg *config.Config, account string) string {
	for i := range cfg.Accounts {
		if a := &cfg.Accounts[i]; a.SystemID == account && !cfg.ReceivesBySession(a) {
			return a.MobilesTo()
		}
	}
	return ""
}

// AccountLane returns the lane of an account, or nil if the account may log in on no
// connector. The lane has the options of the first connector that the account may use,
// until that connector is removed.
func (t *Table) AccountLane(cfg *config.Config, account string) *connector.Lane {
	return t.accountLane(cfg, account, "")
}

// accountLane returns the lane of an account's sessions or, with an endpoint, the one to a server of the account, which
// has the options of a connector without sessions.
func (t *Table) accountLane(cfg *config.Config, account, endpoint string) *connector.Lane {
	key := laneKey{account: account, endpoint: endpoint}
	made := false
	lane := t.lanes.of(key, t.policy, func() *connector.Connector {
		for i := range cfg.Accounts {
			if cfg.Accounts[i].SystemID != account {
				continue
			}
			for j := range cfg.Connectors {
				cc := &cfg.Connectors[j]
				if !cfg.Accounts[i].MayUse(cc) || (cc.Transport() == config.BySession) == (endpoint != "") {
					continue
				}
				if c := t.Connector(cc.Name); c != nil { // nil: a reload has just removed the connector
					made = t.lanes.find(key) == nil
					return c
				}
			}
		}
		return nil
	})
	if made && endpoint != "" {
		t.serve(lane)
	}
	return lane
}

// LaneOf returns the lane of an out connector.
func (t *Table) LaneOf(c *connector.Connector) *connector.Lane {
	return t.lanes.of(laneKey{connector: c}, t.policy, func() *connector.Connector { return c })
}

// resolve returns the lane of a target for a message's destination, or nil if no account
// receives messages for that destination.
func (t *Table) resolve(to target, dest number.Number) *connector.Lane {
	if to.lane != nil {
		return to.lane
	}
	if to.clients == nil {
		return nil // a reload has just removed the account's connectors
	}
	receivers := t.logins.Accounts().Receivers(to.clients.Name)
	if receivers == nil {
		return nil // the connector was removed
	}
	if a := receivers.Find(dest); a != nil {
		if lane := t.ClientLane(a.SystemID, nil); lane != nil || a.Config().MobilesTo() != config.InboxLane {
			return lane
		}
		return t.accountLane(t.node.Config(), a.SystemID, config.InboxLane)
	}
	return nil
}

// routeOf returns the route of a message, and reports whether there is one. A receipt takes no
// route: it goes to the client whose message it reports about, and nobody else may see it. A reply
// of the gateway takes no route either.
func (t *Table) routeOf(m *sms.Message) (*Route[target], bool) {
	if m.Kind == sms.Receipt || sms.IsReply(m) {
		return nil, false
	}
	table := t.routes.Load().table
	of := traitsOf(m)
	if table.keywords {
		var known bool
		if of.Keyword, known = t.keywordOf(m); !known && t.LacksFirst(m) {
			return nil, false
		}
	}
	return table.Route(&of)
}

// Route returns the lane that a message leaves by: the lane of a target that has not failed to send
// the message, if such a target is up. A reply of the gateway leaves by the connector that brought the
// answered message, or not at all.
func (t *Table) Route(m *sms.Message) *connector.Lane {
	if sms.IsReply(m) {
		return t.LaneNamed(t.node.Config(), store.Lane{Connector: m.Origin.Connector})
	}
	lane, _ := t.lead(m)
	return lane
}

// lead returns the lane that a message leaves by, and its route. Without a lane the route is not known.
func (t *Table) lead(m *sms.Message) (*connector.Lane, *Route[target]) {
	dest := number.Of(m.Dest())
	route, ok := t.routeOf(m)
	if !ok {
		return nil, nil
	}
	c := choiceOf(t, route, m)
	lane := t.resolve(c.pick(), dest)
	if lane == nil || isBack(m, lane) {
		return nil, nil
	}
	return lane, route
}

// A Way is where a target of a message's route leads.
type Way struct {
	Target int // position of the target in the route
	Lane   *connector.Lane
	Back   bool // the target leads to the sender of the message, so that the message is refused if the route chooses the target
}

// Ways returns the index of a message's route in the configuration, and where its targets lead for it. It reports false if no
// route matches.
func (t *Table) Ways(m *sms.Message) (index int, ways []Way, ok bool) {
	route, ok := t.routeOf(m)
	if !ok {
		return 0, nil, false
	}
	for i := range route.Targets {
		if lane := t.resolve(route.Targets[i].To, number.Of(m.Dest())); lane != nil {
			ways = append(ways, Way{i, lane, isBack(m, lane)})
		}
	}
	return route.Index, ways, true
}

// Reroute implements connector.Router: a message whose lane is down moves to the lane
// that a new message would take now, if that is another one.
func (t *Table) Reroute(l *connector.Lane, m *sms.Message, always bool) *connector.Share {
	lane := t.Route(m)
	if lane == nil || lane == l || !always && !lane.Up() {
		return nil
	}
	lane.Queues.Unfit(m.ID)
	return t.Share(lane, m.Origin)
}

// Moved implements connector.Router: it logs that messages were moved from a lane that is
// down.
func (t *Table) Moved(l *connector.Lane, n int, down time.Duration) {
	name := l.Home().Name
	if !t.node.Repeats.First("moved: " + name + " " + l.Account) {
		return
	}
	e := t.node.Log.Warn().Str("connector", name)
	if l.ToClient() {
		e.Str("account", l.Account)
	}
	e.Stringer("down_for", down.Round(time.Second)).Msg("messages that waited go to other targets of their routes")
}

// Share returns the share of a lane for a session's messages.
func (t *Table) Share(lane *connector.Lane, o *sms.Origin) *connector.Share {
	return lane.Queues.Share(o, t.routes.Load().percent(o.Account))
}

// percent returns how much of the free room of a queue an account may take, in percent. A single
// account may take all free room.
func (r *routes) percent(account string) int {
	if a := r.accounts[account]; a != nil && !r.single {
		return a.config.Share
	}
	return 100
}

// hasValidity reports whether an option of an account or a connector sets or limits the validity
// of messages.
func hasValidity(cfg *config.Config) bool {
	for i := range cfg.Accounts {
		if cfg.Accounts[i].Lifetime != (config.Lifetime{}) {
			return true
		}
	}
	for i := range cfg.Connectors {
		if cfg.Connectors[i].Lifetime != (config.Lifetime{}) {
			return true
		}
	}
	return false
}
