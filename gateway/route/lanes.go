package route

import (
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/store"
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
func (t *Table) findHomes(cfg *config.Config) {
	for _, lane := range t.Lanes() {
		if isHomeless(lane) && t.lanes.find(laneKey{account: lane.Account}) == lane {
			t.AccountLane(cfg, lane.Account)
		}
	}
}

// Lanes returns all lanes.
func (t *Table) Lanes() []*connector.Lane { return t.lanes.list() }

// ClientLane returns the lane of an account that may receive, nil if there is none.
func (t *Table) ClientLane(account string) *connector.Lane {
	a := t.routes.Load().accounts[account]
	if a == nil || !a.MayReceive() {
		return nil
	}
	return t.AccountLane(t.Config(), account)
}

// LaneNamed returns the lane that has a name in the store, nil if there is none any more.
func (t *Table) LaneNamed(cfg *config.Config, name store.Lane) *connector.Lane {
	if name.Account != "" {
		return t.AccountLane(cfg, name.Account)
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
