package gateway

import (
	"sync"
	"sync/atomic"

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

// of returns the lane with that key, or the one that build returns. A lane whose
// connector was removed makes room for another.
func (l *lanes) of(key laneKey, build func() *connector.Lane) *connector.Lane {
	if lane, ok := l.by.Load(key); ok && !stale(key, lane.(*connector.Lane)) {
		return lane.(*connector.Lane)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if lane, ok := l.by.Load(key); ok && !stale(key, lane.(*connector.Lane)) {
		return lane.(*connector.Lane)
	}
	lane := build()
	if lane == nil {
		return nil
	}
	l.by.Store(key, lane)
	next := append(l.list()[:len(l.list()):len(l.list())], lane)
	l.all.Store(&next)
	return lane
}

// stale reports whether an account's lane hangs on a connector that is no more.
func stale(key laneKey, lane *connector.Lane) bool { return key.account != "" && lane.Removed.Load() }

func (l *lanes) list() []*connector.Lane {
	if all := l.all.Load(); all != nil {
		return *all
	}
	return nil
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

// of returns the one origin of the messages that an account submits on a connector.
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
