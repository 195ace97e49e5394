// Package networks finds the mobile network of a message in the table of the configuration.
//
// It reads the table when the gateway starts, when a reload names another, and on a goroutine of
// its own when its file has changed. What a message needs is in memory.
//
// # Start reading
//
// networks.go; package pmg/sms/networks has the table.
package networks

import (
	"fmt"
	"sync/atomic"
	"time"

	"pmg/config"
	"pmg/gateway/node"
	"pmg/sms"
	"pmg/sms/networks"
	"pmg/sms/number"
)

// Networks holds the table in force. It is safe for concurrent use.
type Networks struct {
	node  *node.Node
	inUse atomic.Pointer[networks.File] // nil: there is no table
}

// New returns Networks without a table. The caller then calls Open and Apply.
func New(n *node.Node) *Networks { return &Networks{node: n} }

// Open reads the table of a configuration, unless it is in force already. It returns nil if there is none.
func (n *Networks) Open(cfg *config.Config) (*networks.File, error) {
	o := &cfg.Networks
	if o.File == "" {
		return nil, nil
	}
	if f := n.inUse.Load(); f != nil && f.IsOf(o.File, o.Reading()) {
		return f, nil
	}
	f, err := networks.Open(o.File, o.Reading())
	if err != nil {
		return nil, fmt.Errorf("cannot open networks: %w", err)
	}
	return f, nil
}

// Apply puts a table in force. nil removes the table.
func (n *Networks) Apply(f *networks.File) {
	if before := n.inUse.Swap(f); f != nil && f != before {
		s := f.Status()
		n.node.Log.Info().Int("rows", s.Rows).Int("networks", s.Networks).Msg("table of networks is in force")
	}
}

// Find sets the network of a message. It is the network of the recipient or, if a mobile has sent
// the message, of the sender. A number that is not international has no network.
func (n *Networks) Find(m *sms.Message) {
	f := n.inUse.Load()
	if f == nil {
		return
	}
	of := m.Dest()
	if m.Kind == sms.MO {
		of = m.Source()
	}
	m.Network = f.Table().Of(number.Of(of))
}

// OfRouting returns the network that the table gives for the digits by which a ported number is
// routed. It returns 0 if the table has no such network.
func (n *Networks) OfRouting(digits []byte) sms.Network {
	if f := n.inUse.Load(); f != nil {
		return f.Table().OfDigits(digits)
	}
	return 0
}

// Name returns the name of a network, or "" if the table has no name for it.
func (n *Networks) Name(of sms.Network) string {
	if f := n.inUse.Load(); f != nil {
		return f.Table().Name(of)
	}
	return ""
}

// Refresh reads the table again if its file has changed. It is called about once a second, and may
// take long.
func (n *Networks) Refresh(now int64) {
	f := n.inUse.Load()
	if f == nil {
		return
	}
	n.node.Pass("networks")
	reloaded, err := f.Refresh(time.Unix(0, now))
	if err != nil {
		n.node.Log.Error().Err(err).Msg("table of networks has a problem; what was read before stays in force")
	}
	if reloaded {
		s := f.Status()
		n.node.Log.Info().Int("rows", s.Rows).Int("networks", s.Networks).
			Msg("table of networks was read again, and is in force")
	}
}

// Status returns the state of the table. It returns false if there is no table.
func (n *Networks) Status() (networks.Status, bool) {
	if f := n.inUse.Load(); f != nil {
		return f.Status(), true
	}
	return networks.Status{}, false
}

// Problems returns the problems of the table, one line for each.
func (n *Networks) Problems() []string {
	if s, _ := n.Status(); s.Problem != "" {
		return []string{"the table of networks has a problem: " + s.Problem}
	}
	return nil
}
