package gateway

import (
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/router"
	"pmg/sms"
)

// A target is the end of a route: a lane, or an in connector. With an in connector the
// message's destination selects the account, and thereby the lane.
type target struct {
	lane    *connector.Lane
	clients *connector.Connector
}

func (t target) up() bool {
	if t.lane == nil {
		return t.clients.Online() > 0
	}
	return t.lane.Up()
}

// routes holds the routing of one configuration.
type routes struct {
	table    *router.Table[target]
	accounts map[string]*config.Account
	single   bool      // there is only one account
	drivers  []speaker // by protocol

	connectors map[string]*config.Connector
	validity   bool // limitValidity has something to do
	forced     bool // an account gets receipts that it does not ask for
}

// newRoutes builds the routes of a configuration whose connectors exist.
func (g *Gateway) newRoutes(cfg *config.Config) *routes {
	r := &routes{accounts: map[string]*config.Account{}, single: len(cfg.Accounts) == 1}
	for i := range cfg.Accounts {
		r.accounts[cfg.Accounts[i].SystemID] = &cfg.Accounts[i]
		r.forced = r.forced || cfg.Accounts[i].Receipts == config.ForceReceipts
	}
	r.connectors, r.validity = map[string]*config.Connector{}, hasValidity(cfg)
	for i := range cfg.Connectors {
		r.connectors[cfg.Connectors[i].Name] = &cfg.Connectors[i]
		if c := g.Connector(cfg.Connectors[i].Name); c != nil {
			r.addDriver(c.Driver)
		}
	}
	r.table = router.Build(cfg.Routes, func(t config.Target) target { return g.target(cfg, t) })
	return r
}

func (g *Gateway) target(cfg *config.Config, t config.Target) target {
	if t.Account != "" {
		return target{lane: g.accountLane(cfg, t.Account)}
	}
	c := g.Connector(t.Connector)
	if c.Config().Role() == protocols.Server {
		return target{clients: c}
	}
	return target{lane: g.LaneOf(c)}
}

// accountLane returns the lane of an account, or nil if the account may log in on no
// connector. The lane has the options of the first connector that the account may use,
// until that connector is removed.
func (g *Gateway) accountLane(cfg *config.Config, account string) *connector.Lane {
	return g.lanes.of(laneKey{account: account}, g, func() *connector.Connector {
		for i := range cfg.Accounts {
			if cfg.Accounts[i].SystemID != account {
				continue
			}
			for j := range cfg.Connectors {
				cc := &cfg.Connectors[j]
				if !cfg.Accounts[i].MayUse(cc) {
					continue
				}
				if c := g.Connector(cc.Name); c != nil { // nil: a reload has just removed it
					return c
				}
			}
		}
		return nil
	})
}

// LaneOf returns the lane of an out connector.
func (g *Gateway) LaneOf(c *connector.Connector) *connector.Lane {
	return g.lanes.of(laneKey{connector: c}, g, func() *connector.Connector { return c })
}

// resolve returns the lane of a target for a message's destination, or nil if no account
// receives messages for that destination.
func (g *Gateway) resolve(t target, dest []byte) *connector.Lane {
	if t.lane != nil {
		return t.lane
	}
	receivers := g.Logins.Accounts().Receivers(t.clients.Name)
	if receivers == nil {
		return nil // the connector was removed
	}
	if a := receivers.Find(dest); a != nil {
		return g.accountLane(g.Config(), a.SystemID)
	}
	return nil
}

// keywordOctets is how many octets of a text are searched for its keyword: a header and some
// hundred characters.
const keywordOctets = 512

// routeOf returns the route of a message, and reports whether there is one. A receipt takes
// none: it goes to the client of its message, and nobody else may see it.
func (g *Gateway) routeOf(m *sms.Message) (*router.Route[target], bool) {
	if m.Kind == sms.Receipt {
		return nil, false
	}
	table := g.routes.Load().table
	keyword := ""
	if table.HasKeywords() {
		var known bool
		if keyword, known = g.keywordOf(m); !known && g.lacksFirst(m) {
			return nil, false
		}
	}
	return table.RouteKeyword(m.Origin.Account, m.Origin.Connector, m.Dest().Addr, m.Source().Addr, keyword)
}

// route returns the lane that a message leaves by: that of a target that has not failed to
// send it, if one is up.
func (g *Gateway) route(m *sms.Message) *connector.Lane {
	dest := m.Dest().Addr
	route, ok := g.routeOf(m)
	if !ok {
		return nil
	}
	lane := g.resolve(g.pick(route, m), dest)
	if lane == nil || isBack(m, lane) {
		return nil
	}
	return lane
}

// pick returns the target of a route for a message.
func (g *Gateway) pick(route *router.Route[target], m *sms.Message) target {
	together := uint64(0)
	if route.IsWeighted() {
		together = g.togetherOf(m)
	}
	if m.Tried != 0 {
		if i, ok := route.PickUntried(tried(m, route.Number()), together, target.up); ok {
			return route.Targets[i].To
		}
	}
	return route.Pick(together, target.up)
}

// Reroute implements connector.Policy: a message whose lane is down moves to the lane
// that a new message would take now, if that is another one.
func (g *Gateway) Reroute(l *connector.Lane, m *sms.Message, always bool) *connector.Share {
	lane := g.route(m)
	if lane == nil || lane == l || !always && !lane.Up() {
		return nil
	}
	lane.Unfit(m.ID)
	return g.share(lane, m.Origin)
}

// Moved implements connector.Policy: it logs that messages were moved from a lane that is
// down.
func (g *Gateway) Moved(l *connector.Lane, n int, down time.Duration) {
	name := l.Home().Name
	if !g.News.Is("moved: " + name + " " + l.Account) {
		return
	}
	e := g.Log.Warn().Str("connector", name)
	if l.Account != "" {
		e.Str("account", l.Account)
	}
	e.Stringer("down_for", down.Round(time.Second)).Msg("messages that waited go to other targets of their routes")
}

// share returns the share of a lane for a session's messages.
func (g *Gateway) share(lane *connector.Lane, o *sms.Origin) *connector.Share {
	return lane.Share(o, g.percent(g.routes.Load(), o.Account))
}

// percent returns how much of the free room of a queue an account may take. A single
// account may take all of it.
func (g *Gateway) percent(r *routes, account string) int {
	if a := r.accounts[account]; a != nil && !r.single {
		return a.Share
	}
	return 100
}

// mayWait checks a scheduled message, and its parts, against what its account may schedule. The
// others of its PDU, if there are any, are scheduled as well.
func (g *Gateway) mayWait(now int64, s *submission) sms.Code {
	m := s.message
	if m.DeliverAt <= now {
		return sms.OK
	}
	horizon, limit := defaultHorizon, int64(defaultScheduled)
	if a := g.routes.Load().accounts[m.Origin.Account]; a != nil {
		horizon, limit = int64(a.MaxSchedule), int64(a.MaxScheduled)
	}
	n := m.Origin.Tally.Scheduled.Load() + max(int64(m.Parts), 1)
	if s.others != nil {
		n += s.others.n
	}
	switch {
	case m.DeliverAt-now > horizon:
		return sms.BadSchedule
	case n > limit && !s.counted:
		return sms.QueueFull
	}
	return sms.OK
}

// The limits of scheduling for messages from an SMSC, which have no account.
const (
	defaultHorizon   = int64(7 * 24 * 3600e9)
	defaultScheduled = 10_000
)

// noRoute returns the answer to a message without a route.
func noRoute(m *sms.Message) sms.Code {
	if m.Kind == sms.MO {
		return sms.Rejected
	}
	return sms.BadDestination
}
