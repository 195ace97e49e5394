package node

import (
	"strings"
	"sync"

	"pmg/config"
	"pmg/sms"
)

// Origins finds the origin of an account and a connector. It is safe for
// concurrent use.
type Origins struct {
	mu      sync.Mutex
	by      map[originKey]*sms.Origin
	tallies map[string]*sms.Tally
	// guarded by mu; by account
	parameters map[string]*sms.Parameters
}

type originKey struct{ account, connector string }

// Tallies calls f with the counters of each account that has logged in.
func (o *Origins) Tallies(f func(account string, t *sms.Tally)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for account, tally := range o.tallies {
		f(account, tally)
	}
}

// Of returns the origin of messages that an account submits on a connector, the same for each pair.
func (o *Origins) Of(account, connector string) *sms.Origin {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by = map[originKey]*sms.Origin{}
	}
	if o.tallies == nil {
		o.tallies = map[string]*sms.Tally{}
	}
	key := originKey{account, connector}
	if o.by[key] == nil {
		if o.tallies[account] == nil {
			o.tallies[account] = &sms.Tally{}
		}
		o.by[key] = &sms.Origin{
			Account: account, Connector: connector, Tally: o.tallies[account], Parameters: o.parametersOf(account),
		}
	}
	return o.by[key]
}

// TallyOf returns the counters of an account, even if it has not logged in.
func (o *Origins) TallyOf(account string) *sms.Tally {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tallies == nil {
		o.tallies = map[string]*sms.Tally{}
	}
	t := o.tallies[account]
	if t == nil {
		t = &sms.Tally{}
		o.tallies[strings.Clone(account)] = t // a clone, so that a caller's octets need not be copied for each receipt
	}
	return t
}

// parametersOf returns the parameters of an account's messages. The caller holds mu.
func (o *Origins) parametersOf(account string) *sms.Parameters {
	if o.parameters == nil {
		o.parameters = map[string]*sms.Parameters{}
	}
	if o.parameters[account] == nil {
		o.parameters[account] = &sms.Parameters{}
	}
	return o.parameters[account]
}

// Apply puts the parameters of accounts in force, also for waiting messages.
func (o *Origins) Apply(cfg *config.Config) {
	o.mu.Lock()
	defer o.mu.Unlock()
	given := map[string][]byte{}
	for i := range cfg.Accounts {
		if octets := cfg.Accounts[i].Parameters(); octets != nil {
			given[cfg.Accounts[i].SystemID] = octets
			o.parametersOf(cfg.Accounts[i].SystemID)
		}
	}
	for account, p := range o.parameters {
		p.Set(given[account])
	}
}

// Scheduled returns the number of messages of all accounts that wait for their delivery time.
func (o *Origins) Scheduled() (n int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.tallies {
		n += t.Scheduled.Load()
	}
	return n
}
