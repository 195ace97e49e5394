package gateway

import (
	"fmt"
	"slices"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/credit"
	"pmg/gateway/lists"
	"pmg/internal/tlsfiles"
	"pmg/sms/networks"
)

// Changed lists the changes of a reload, and what the architecture must do for them.
type Changed struct {
	Added   []*connector.Connector
	Removed []*connector.Connector
	Rebound []*connector.Connector // connectors whose sessions must be bound again
	Options []config.Change        // changed options that are not Live, and keep their value until a restart
}

// Reload puts a new configuration in force: accounts, routes, rates, and connectors that
// were added or removed. Options that need a restart keep their value, and are listed in
// Changed.Options. A session is logged out if its account was removed, if the account's
// password, certificates, bind or networks changed, or if the account may not use the connector any
// more. The sockets of new connectors are opened before anything changes, so that an
// error changes nothing.
func (g *Gateway) Reload(wanted *config.Config, e Service) (Changed, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	changed := Changed{Options: g.Node.Config().Diff(wanted)}
	cfg := wanted.LiveFrom(g.Node.Config())
	if err := cfg.Check(); err != nil {
		return Changed{}, fmt.Errorf("cannot reload, because some changed options need a restart of the gateway: %w", err)
	}
	files, err := g.renewed(cfg)
	if err != nil {
		return Changed{}, fmt.Errorf("cannot reload: %w", err)
	}
	tables, err := g.opened(cfg)
	if err != nil {
		return Changed{}, fmt.Errorf("cannot reload: %w", err)
	}
	kept := map[string]bool{}
	before := g.Table.Connectors()
	for i := range cfg.Connectors {
		cc := &cfg.Connectors[i]
		if g.Table.Connector(cc.Name) != nil {
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
	for _, c := range before {
		if !kept[c.Name] && !c.Removed.Swap(true) {
			changed.Removed = append(changed.Removed, c)
			if c.PDULog != nil {
				c.PDULog.Retire()
			}
		}
	}
	changed.Rebound = g.configure(cfg, files)
	ended := changedAccounts(g.Node.Config(), cfg)
	g.apply(cfg, tables)
	g.Webhooks.Enable("", "a reload")
	for _, l := range g.Table.Lanes() {
		l.Queues.Unfit(g.Keeper.IDs.Load()) // waiting messages were accepted under the old options
	}
	e.Logout(func(l *connector.Link) bool { return g.Sessions.EndsBy(l, ended) }) // the new accounts decide logins from now on
	return changed, nil
}

// configure puts the options of connectors in force, and the files of those that stay. It returns the connectors whose sessions
// must be bound again.
func (g *Gateway) configure(cfg *config.Config, files map[*connector.Connector]*tlsfiles.Files) (rebound []*connector.Connector) {
	for i := range cfg.Connectors {
		cc := &cfg.Connectors[i]
		c := g.Table.Connector(cc.Name)
		if c.Config().Rebinds(cc) {
			rebound = append(rebound, c)
		}
		if renewed, ok := files[c]; ok {
			c.SetTLS(renewed)
		}
		c.SetConfig(cc)
		c.SetSockets(socketsOf(cfg, cc))
	}
	return rebound
}

// opened are the lists, the table of networks and the prices of a configuration.
type opened struct {
	lists    *lists.Opened
	networks *networks.File // nil: there is no table
	prices   *credit.Opened
}

// opened reads the files of numbers that a new configuration names.
func (g *Gateway) opened(cfg *config.Config) (*opened, error) {
	all, err := g.Lists.Open(cfg)
	if err != nil {
		return nil, err
	}
	table, err := g.Intake.Networks.Open(cfg)
	if err != nil {
		return nil, err
	}
	money, err := g.Intake.Credit.Open(cfg)
	if err != nil {
		return nil, err
	}
	return &opened{all, table, money}, nil
}

// undo removes the connectors that a reload added before it failed.
func (g *Gateway) undo(before []*connector.Connector, e Service) {
	for _, c := range g.Table.Connectors()[len(before):] {
		e.Unlisten(c)
		if c.PDULog != nil {
			c.PDULog.Retire()    // a client may have connected already, and be logged
			_ = c.PDULog.Close() // nothing else was written to the log
		}
	}
	g.Table.SetConnectors(before)
}

// changedAccounts returns the accounts whose sessions end when one configuration replaces another, because the old one
// decided their logins: removed accounts, and those that have lost a password or certificate, or got another bind or
// networks.
func changedAccounts(old, wanted *config.Config) map[string]bool {
	now := map[string]*config.Account{}
	for i := range wanted.Accounts {
		now[wanted.Accounts[i].SystemID] = &wanted.Accounts[i]
	}
	changed := map[string]bool{}
	for i := range old.Accounts {
		was := &old.Accounts[i]
		is := now[was.SystemID]
		if is == nil || missesOne(is.Passwords(), was.Passwords()) || asksOthers(is.Certificates, was.Certificates) ||
			!slices.Equal(is.Bind, was.Bind) || !slices.Equal(is.Networks, was.Networks) {
			changed[was.SystemID] = true
		}
	}
	return changed
}

// asksOthers reports whether a list of certificates, of which an account must show one, refuses some of those that
// another list accepts. An empty list asks for none.
func asksOthers(list, before []string) bool {
	return len(list) > 0 && (len(before) == 0 || missesOne(list, before))
}

// missesOne reports whether list lacks one of the entries of wanted.
func missesOne(list, wanted []string) bool {
	return slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(list, w) })
}
