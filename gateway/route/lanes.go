package route

import (
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// lanes finds a lane by the connector or the account it leads to. A lane is made
// when it is first needed. It is safe for concurrent use.
type lanes struct {
	mu  sync.Mutex
	all atomic.Pointer[[]*connector.Lane]
	by  sync.Map // maps laneKey to *connector.Lane
}

type laneKey struct {
	connector *connector.Connector
	account   string
	endpoint  string
}

// of returns the lane with a key. It calls home for the connector of a new lane, and of
// an account's lane whose connector was removed. If home returns nil, of returns nil, and
// a lane that exists already sends its messages and is not used for new ones.
func (l *lanes) of(key laneKey, policy *connector.Policy, home func() *connector.Connector) *connector.Lane {
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
	lane.Endpoint = key.endpoint
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
	return lane.ToClient() && lane.Home().Removed.Load()
}

func (l *lanes) list() []*connector.Lane {
	if all := l.all.Load(); all != nil {
		return *all
	}
	return nil
}

// findHomes moves the lanes of accounts from removed connectors to other connectors on
// which the account may log in. If there is none, the lane empties by itself.
func (t *Table) findHomes(cfg *config.Config) {
	for _, lane := range t.Lanes() {
		if isHomeless(lane) && t.lanes.find(laneKey{account: lane.Account, endpoint: lane.Endpoint}) == lane {
			t.accountLane(cfg, lane.Account, lane.Endpoint)
		}
	}
}

// Lanes returns all lanes.
func (t *Table) Lanes() []*connector.Lane { return t.lanes.list() }

// ClientLane returns the lane of an account that may receive, nil if there is none: that of its sessions, or of the
// webhook that is called with the events of a message with a context.
func (t *Table) ClientLane(account string, context []byte) *connector.Lane {
	r := t.routes.Load()
	a := r.accounts[account]
	if a == nil {
		return nil
	}
	endpoint := sms.EndpointOf(context)
	if endpoint == "" && (context != nil || !a.bySession) {
		endpoint = a.config.EventsTo()
	}
	if endpoint != "" {
		return t.accountLane(t.node.Config(), a.config.SystemID, t.lanes.endpoint(a.config.SystemID, endpoint))
	}
	if !a.bySession {
		return nil
	}
	if lane := a.lane.Load(); lane != nil && !isHomeless(lane) {
		return lane
	}
	lane := t.AccountLane(t.node.Config(), a.config.SystemID)
	a.lane.Store(lane)
	return lane
}

// mostEndpoints is how many servers of an account have lanes of their own. Messages for further servers share one lane.
const mostEndpoints = 64

// otherEndpoints is the name of the lane that further servers share.
const otherEndpoints = "other servers"

// endpoint returns the name of the lane for an endpoint of an account.
func (l *lanes) endpoint(account, endpoint string) string {
	if l.find(laneKey{account: account, endpoint: endpoint}) != nil {
		return endpoint
	}
	n := 0
	for _, lane := range l.list() {
		if lane.Account == account && lane.Endpoint != "" {
			n++
		}
	}
	if n >= mostEndpoints {
		return otherEndpoints
	}
	return endpoint
}

// LaneNamed returns the lane that has a name in the store, nil if there is none any more.
func (t *Table) LaneNamed(cfg *config.Config, name store.Lane) *connector.Lane {
	if name.ToClient() {
		return t.accountLane(cfg, name.Account, name.Connector)
	}
	if c := t.Connector(name.Connector); c != nil && c.Config().Role() == protocols.Client {
		return t.LaneOf(c)
	}
	return nil
}

// Connector returns the configured connector with a name, or nil.
func (t *Table) Connector(name string) *connector.Connector {
	for _, c := range t.Connectors() {
		if c.Name == name && !c.Removed.Load() {
			return c
		}
	}
	return nil
}
