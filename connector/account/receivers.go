package account

import (
	"strings"

	"pmg/config"
	"pmg/protocols"
	"pmg/sms/number"
)

// Receivers finds the account of a message that a route sends to an in connector.
// It is immutable.
type Receivers struct {
	only     *Account // the only account that may receive on the connector; nil if no account may, or several may
	byPrefix number.Table[*Account]
	exact    map[string]*Account // receivers of whole numbers; a key is '=' and the number
}

func newReceivers(c *config.Config, t *Table) map[string]*Receivers {
	all := map[string]*Receivers{}
	for i := range c.Connectors {
		to := &c.Connectors[i]
		if to.Role() != protocols.Server {
			continue
		}
		r := &Receivers{exact: map[string]*Account{}}
		accounts := c.Receivers(to)
		for _, a := range accounts {
			r.add(t.accounts[a.SystemID], a.Receives)
		}
		if len(accounts) == 1 {
			r.only = t.accounts[accounts[0].SystemID]
		}
		all[to.Name] = r
	}
	return all
}

func (r *Receivers) add(a *Account, prefixes []string) {
	for _, p := range prefixes {
		if whole, ok := strings.CutPrefix(p, "="); ok {
			r.exact[number.Read(whole).Key()] = a
			continue
		}
		prefix, _ := number.ParsePrefix(strings.TrimPrefix(p, "+")) // short codes count, too
		r.byPrefix.Set(prefix, a)
	}
}

// Receivers returns the Receivers of the in connector, or nil if the configuration
// has no such in connector.
func (t *Table) Receivers(connector string) *Receivers { return t.receivers[connector] }

// Find returns the account that a message to a number is for, or nil.
func (r *Receivers) Find(dest number.Number) *Account {
	if r.only != nil {
		return r.only
	}
	var room [260]byte
	if a := r.exact[string(dest.AppendKey(room[:0]))]; a != nil {
		return a
	}
	a, _ := r.byPrefix.Find(dest, func(*Account) bool { return true })
	return a
}
