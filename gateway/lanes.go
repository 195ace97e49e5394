package gateway

import (
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/connector"
	"pmg/sms"
)

// lanes finds a lane by the connector or the account it leads to. A lane is made
// when it is first needed. It is safe for concurrent use.
type lanes struct {
	mu  sync.Mutex
	all atomic.Pointer[[]*connector.Lane]
	by  sync.Map // laneKey → *connector.Lane
}

type laneKey struct {
	connector *connector.Connector
	account   string
}

// of returns the lane with a key. It calls home for the connector of a new lane, and of
// an account's lane whose connector was removed. If home returns nil, of returns nil, and
// a lane that exists already sends its messages and is not used for new ones.
func (l *lanes) of(key laneKey, policy connector.Policy, home func() *connector.Connector) *connector.Lane {
	if lane := l.find(key); lane != nil && !isHomeless(lane) {
		return lane
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	lane := l.find(key)
	if lane != nil && !isHomeless(lane) {
		return lane
	}
	c := home()
	switch {
	case c == nil:
		l.by.Delete(key)
		return nil
	case lane != nil:
		lane.SetHome(c)
		return lane
	}
	lane = connector.NewLane(c, key.account, policy)
	l.by.Store(key, lane)
	next := append(l.list()[:len(l.list()):len(l.list())], lane)
	l.all.Store(&next)
	return lane
}

func (l *lanes) find(key laneKey) *connector.Lane {
	lane, _ := l.by.Load(key)
	found, _ := lane.(*connector.Lane)
	return found
}

// isHomeless reports whether an account's lane belongs to a connector that was removed.
func isHomeless(lane *connector.Lane) bool {
	return lane.Account != "" && lane.Home().Removed.Load()
}

func (l *lanes) list() []*connector.Lane {
	if all := l.all.Load(); all != nil {
		return *all
	}
	return nil
}

// findHomes moves the lanes of accounts from removed connectors to other connectors on
// which the account may log in. If there is none, the lane empties by itself.
func (g *Gateway) findHomes(cfg *config.Config) {
	for _, lane := range g.Lanes() {
		if isHomeless(lane) && g.lanes.find(laneKey{account: lane.Account}) == lane {
			g.accountLane(cfg, lane.Account)
		}
	}
}

// Lanes returns all lanes.
func (g *Gateway) Lanes() []*connector.Lane { return g.lanes.list() }

// origins finds the origin of an account and a connector. It is safe for
// concurrent use.
type origins struct {
	mu      sync.Mutex
	by      map[originKey]*sms.Origin
	tallies map[string]*sms.Tally
}

type originKey struct{ account, connector string }

// Tallies calls f with the counters of each account that has logged in.
func (g *Gateway) Tallies(f func(account string, t *sms.Tally)) {
	g.origins.mu.Lock()
	defer g.origins.mu.Unlock()
	for account, tally := range g.origins.tallies {
		f(account, tally)
	}
}

// of returns the origin of messages that an account submits on a connector. There is one
// for each pair.
func (o *origins) of(account, connector string) *sms.Origin {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by, o.tallies = map[originKey]*sms.Origin{}, map[string]*sms.Tally{}
	}
	key := originKey{account, connector}
	if o.by[key] == nil {
		if o.tallies[account] == nil {
			o.tallies[account] = &sms.Tally{}
		}
		o.by[key] = &sms.Origin{Account: account, Connector: connector, Tally: o.tallies[account]}
	}
	return o.by[key]
}

// scheduled returns how many messages of all accounts wait for their delivery time.
func (o *origins) scheduled() (n int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.tallies {
		n += t.Scheduled.Load()
	}
	return n
}
