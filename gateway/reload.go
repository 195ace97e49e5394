package gateway

import (
	"fmt"

	"pmg/config"
	"pmg/connector"
)

// Changed is what a reload asks the architecture to do.
type Changed struct {
	Added   []*connector.Connector
	Removed []*connector.Connector
}

// Reload puts a new configuration in force: accounts, routes, rates, and
// connectors that were added or removed. Options that need a restart stay as they
// were; config.Config.Diff names them. The new connectors' sockets are opened
// before anything changes; an error there leaves everything as it is.
func (g *Gateway) Reload(cfg *config.Config, e Engine) (Changed, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var changed Changed
	kept := map[string]bool{}
	before := g.connectors.Load()
	for i := range cfg.Connectors {
		cc := &cfg.Connectors[i]
		if g.Connector(cc.Name) != nil {
			kept[cc.Name] = true
			continue
		}
		c, err := g.addConnector(cfg, cc)
		if err == nil {
			err = e.Listen(c)
		}
		if err != nil {
			g.undo(before, e)
			return Changed{}, fmt.Errorf("cannot reload: %w", err)
		}
		kept[cc.Name] = true
		changed.Added = append(changed.Added, c)
	}
	for _, c := range *before {
		if !kept[c.Name] && !c.Removed.Swap(true) {
			changed.Removed = append(changed.Removed, c)
		}
	}
	for i := range cfg.Connectors {
		cc := &cfg.Connectors[i]
		c := g.Connector(cc.Name)
		*cc = cc.LiveFrom(c.Config())
		c.SetConfig(cc)
	}
	g.apply(cfg)
	return changed, nil
}

// undo lets go of the connectors that a reload added before it failed.
func (g *Gateway) undo(before *[]*connector.Connector, e Engine) {
	for _, c := range g.Connectors()[len(*before):] {
		e.Unlisten(c)
		if c.PDULog != nil {
			_ = c.PDULog.Close() // nothing was written
		}
	}
	g.connectors.Store(before)
}
