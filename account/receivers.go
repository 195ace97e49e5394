package account

import (
	"slices"
	"strings"

	"pmg/config"
	"pmg/protocols"
)

// Receivers finds the account of a message that a route sends to an in connector.
// It is immutable.
type Receivers struct {
	only     *Account // the only account that may receive there; nil if there are none or several
	byPrefix map[string]*Account
	exact    map[string]*Account // by whole addresses: those with '=' in front
	lengths  []int               // of the prefixes, longest first
}

func newReceivers(c *config.Config, t *Table) map[string]*Receivers {
	all := map[string]*Receivers{}
	for i := range c.Connectors {
		to := &c.Connectors[i]
		if to.Role() != protocols.Server {
			continue
		}
		r := &Receivers{byPrefix: map[string]*Account{}, exact: map[string]*Account{}}
		accounts := c.Receivers(to)
		for _, a := range accounts {
			r.add(t.accounts[a.SystemID], a.Receives)
		}
		if len(accounts) == 1 {
			r.only = t.accounts[accounts[0].SystemID]
		}
		slices.SortFunc(r.lengths, func(a, b int) int { return b - a })
		all[to.Name] = r
	}
	return all
}

func (r *Receivers) add(a *Account, prefixes []string) {
	for _, p := range prefixes {
		if whole, ok := strings.CutPrefix(p, "="); ok {
			r.exact[strings.TrimPrefix(whole, "+")] = a
			continue
		}
		p = strings.TrimPrefix(p, "+")
		r.byPrefix[p] = a
		if !slices.Contains(r.lengths, len(p)) {
			r.lengths = append(r.lengths, len(p))
		}
	}
}

// Receivers returns the Receivers of the in connector, or nil if the configuration
// has no such in connector.
func (t *Table) Receivers(connector string) *Receivers { return t.receivers[connector] }

// Find returns the account that a message to dest is for, or nil. A leading '+'
// of dest makes no difference.
func (r *Receivers) Find(dest []byte) *Account {
	if r.only != nil {
		return r.only
	}
	if len(dest) > 0 && dest[0] == '+' {
		dest = dest[1:]
	}
	if a := r.exact[string(dest)]; a != nil {
		return a
	}
	for _, n := range r.lengths {
		if n <= len(dest) {
			if a := r.byPrefix[string(dest[:n])]; a != nil {
				return a
			}
		}
	}
	return nil
}
