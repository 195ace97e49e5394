package config

import (
	"fmt"
	"slices"
	"strings"

	"pmg/protocols"
)

// Receivers returns the accounts that may log in on the connector and receive
// messages there.
func (c *Config) Receivers(connector *Connector) []*Account {
	var receivers []*Account
	for i := range c.Accounts {
		if a := &c.Accounts[i]; a.MayReceive() && a.MayUse(connector) {
			receivers = append(receivers, a)
		}
	}
	return receivers
}

// An index finds accounts and connectors by name.
type index struct {
	*Config
	accounts   map[string]*Account
	connectors map[string]*Connector
	receivers  map[string][]*Account // by in connector
}

func newIndex(c *Config) *index {
	x := &index{c, map[string]*Account{}, map[string]*Connector{}, map[string][]*Account{}}
	for i := range c.Accounts {
		x.accounts[c.Accounts[i].SystemID] = &c.Accounts[i]
	}
	for i := range c.Connectors {
		to := &c.Connectors[i]
		x.connectors[to.Name] = to
		if to.Role() == protocols.Server {
			x.receivers[to.Name] = c.Receivers(to)
		}
	}
	return x
}

// targets checks what a route leads to.
func (d *decoder) targets(x *index, r *Route, path string) {
	seen := map[Target]bool{}
	for i, t := range r.To {
		item := fmt.Sprintf("%s.to[%d]", path, i)
		switch {
		case t.Connector != "" && t.Account != "":
			d.problem(item, "names both a connector and an account: name the account alone, its connectors option says where it logs in")
		case t.Account != "":
			d.accountTarget(x, t.Account, item)
		case t.Connector != "":
			d.connectorTarget(x, t.Connector, item)
		default:
			d.problem(item, "must have connector or account")
			continue
		}
		t.Weight = 0
		if seen[t] {
			d.problem(item, "names %s a second time", t.Connector+t.Account)
		}
		seen[t] = true
	}
}

// accountTarget checks that messages can reach the account.
func (d *decoder) accountTarget(x *index, systemID, path string) {
	a := x.accounts[systemID]
	if a == nil {
		d.problem(path, "names no account: %q", systemID)
		return
	}
	if !a.MayReceive() {
		d.problem(path, "leads to account %s, which may only bind as transmitter: add receiver or transceiver to its bind option", systemID)
	}
	if !slices.ContainsFunc(x.Connectors, func(c Connector) bool { return a.MayUse(&c) }) {
		d.problem(path, "leads to account %s, which may log in on no in connector", systemID)
	}
}

// connectorTarget checks that it can be told whose the messages are that a
// route leads to an in connector.
func (d *decoder) connectorTarget(x *index, name, path string) {
	to := x.connectors[name]
	if to == nil {
		d.problem(path, "names no connector: %q", name)
		return
	}
	if to.Role() != protocols.Server {
		return
	}
	receivers := x.receivers[name]
	if slices.ContainsFunc(receivers, func(a *Account) bool { return len(a.Receives) > 0 }) {
		return
	}
	switch {
	case len(x.Accounts) == 0: // together warns of it
	case len(receivers) == 0:
		d.problem(path, "leads to connector %s, where no account may receive: let one bind there as receiver or transceiver", name)
	case len(receivers) > 1:
		d.problem(path, "leads to connector %s, where accounts %s may receive: say whose the messages are, with to: {account: %s} or with the accounts' receives option",
			name, systemIDs(receivers), receivers[0].SystemID)
	}
}

// systemIDs lists accounts for a message, the first three of them by name.
func systemIDs(accounts []*Account) string {
	var names []string
	for _, a := range accounts[:min(len(accounts), 3)] {
		names = append(names, a.SystemID)
	}
	if more := len(accounts) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// logins checks where accounts may log in.
func (d *decoder) logins(x *index) {
	for i := range x.Accounts {
		for j, name := range x.Accounts[i].Connectors {
			item := fmt.Sprintf("accounts[%d].connectors[%d]", i, j)
			switch to := x.connectors[name]; {
			case to == nil:
				d.problem(item, "names no connector: %q", name)
			case to.Role() != protocols.Server:
				d.problem(item, "names connector %s, which is an out connector: accounts log in on in connectors", name)
			}
		}
	}
}

// receives checks that no prefix belongs to two accounts on one connector.
func (d *decoder) receives(c *Config) {
	owners := map[[2]string]string{} // by connector and prefix
	for i := range c.Accounts {
		a := &c.Accounts[i]
		for j, prefix := range a.Receives {
			for k := range c.Connectors {
				if !a.MayUse(&c.Connectors[k]) {
					continue
				}
				at := [2]string{c.Connectors[k].Name, strings.TrimPrefix(prefix, "+")}
				if owner, taken := owners[at]; taken && owner != a.SystemID {
					d.problem(fmt.Sprintf("accounts[%d].receives[%d]", i, j), "%q already belongs to account %s", prefix, owner)
					break
				}
				owners[at] = a.SystemID
			}
		}
	}
}
