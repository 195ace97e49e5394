// Package lists holds the registers of numbers that the configuration names, and says which messages these keep out.
//
// It reads files when the gateway starts, when a reload names others, and on a goroutine of its own when they have changed.
// What a message needs is in memory.
//
// # Start reading
//
// lists.go (from the configuration to registers), screen.go (what is asked for a message), words.go (opt-outs), replies.go (how
// many replies there may be), shared.go (what the nodes of a cluster have in common); package numbers has the rest.
package lists

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"pmg/config"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/sms/number"
	"pmg/sms/numbers"
)

// Lists holds the registers in force. It is safe for concurrent use.
type Lists struct {
	node   *node.Node
	keep   *keep.Keeper
	inUse  atomic.Pointer[Opened]
	shares atomic.Bool // the store has the changes, for the other nodes of a cluster

	replies replies
}

// New returns Lists without lists. The caller then calls Open and Apply.
func New(n *node.Node, k *keep.Keeper) *Lists {
	l := &Lists{node: n, keep: k}
	l.inUse.Store(&Opened{})
	return l
}

// A list is a register with its options.
type list struct {
	name     string
	numbers  *numbers.List
	counts   *counts
	byMobile bool // mobiles can change the list
}

// counts are the counters of a list, which go on when its options change.
type counts struct {
	replies  atomic.Int64 // replies that were sent because the list has changed
	messages atomic.Int64 // messages that were searched for words, because they came by a connector of opt_out_from
}

// Opened are the lists of a configuration, which Apply puts in force.
type Opened struct {
	all        []*list
	accounts   map[string]*rules
	connectors map[string]*rules
	words      map[string][]*words // words by out connector
	screens    bool                // an account or a connector has rules
}

// rules are the lists of an account or a connector.
type rules struct{ block, allow, senders []*list }

// Open reads the lists of a configuration. It does not read lists that are already in force.
func (l *Lists) Open(cfg *config.Config) (*Opened, error) {
	o := &Opened{accounts: map[string]*rules{}, connectors: map[string]*rules{}, words: map[string][]*words{}}
	named := map[string]*list{}
	for i := range cfg.Lists {
		c := &cfg.Lists[i]
		before := l.inUse.Load().find(c)
		if before == nil {
			opened, err := numbers.Open(c.File, cfg.Cluster.Node != "")
			if err != nil {
				return nil, fmt.Errorf("cannot open list %s: %w", c.Name, err)
			}
			before = &list{name: c.Name, numbers: opened, counts: new(counts)}
			if l.shares.Load() {
				if err := l.exchange(before); err != nil {
					return nil, err
				}
			}
		}
		one := &list{c.Name, before.numbers, before.counts, len(c.OptOutFrom) > 0}
		named[c.Name] = one
		o.all = append(o.all, one)
		for _, from := range c.OptOutFrom {
			o.words[from] = append(o.words[from], wordsOf(c, one))
		}
	}
	of := func(names []string) (all []*list) {
		for _, name := range names {
			all = append(all, named[name])
		}
		return all
	}
	for i := range cfg.Accounts {
		a := &cfg.Accounts[i]
		o.add(o.accounts, a.SystemID, &rules{of(a.Block), of(a.Allow), of(a.Senders)})
	}
	for i := range cfg.Connectors {
		c := &cfg.Connectors[i]
		o.add(o.connectors, c.Name, &rules{block: of(c.Block), allow: of(c.Allow)})
	}
	return o, nil
}

// find returns the list in force with the name and the file of an option, or nil if there is none.
func (o *Opened) find(c *config.List) *list {
	for _, one := range o.all {
		if one.name == c.Name && one.numbers.Path() == c.File {
			return one
		}
	}
	return nil
}

// named returns the list with a name, or nil if there is none.
func (o *Opened) named(name string) *list {
	if i := slices.IndexFunc(o.all, func(one *list) bool { return one.name == name }); i >= 0 {
		return o.all[i]
	}
	return nil
}

// add adds rules for a name, if there are any.
func (o *Opened) add(to map[string]*rules, name string, r *rules) {
	if len(r.block)+len(r.allow)+len(r.senders) > 0 {
		to[name] = r
		o.screens = true
	}
}

// Apply puts lists in force.
func (l *Lists) Apply(o *Opened) {
	for _, one := range o.all {
		if s := one.numbers.Status(); l.inUse.Load().find(&config.List{Name: one.name, File: one.numbers.Path()}) == nil {
			l.node.Log.Info().Str("list", one.name).Int("entries", s.Entries).Int64("added", s.Added).Int64("removed", s.Removed).
				Msg("list is in force")
		}
	}
	l.inUse.Store(o)
}

// Refresh reads changed files again. It is called about once a second, and may take long.
func (l *Lists) Refresh(now int64) {
	o := l.inUse.Load()
	if len(o.all) == 0 {
		return
	}
	l.node.Pass("lists")
	for _, one := range o.all {
		reloaded, err := one.numbers.Refresh(time.Unix(0, now))
		if err != nil {
			l.node.Log.Error().Str("list", one.name).Err(err).Msg("list has a problem; what was read before stays in force")
		}
		l.share(one)
		if reloaded {
			s := one.numbers.Status()
			l.node.Log.Info().Str("list", one.name).Int("entries", s.Entries).Msg("list was read again, and is in force")
		}
	}
}

// A Status is the state of a list.
type Status struct {
	Name     string
	Replies  int64 // number of replies to mobiles that have changed the list
	Messages int64 // number of messages that were searched for words of the list
	numbers.Status
}

// Status returns the states of the lists, in the order of the configuration.
func (l *Lists) Status() (all []Status) {
	for _, one := range l.inUse.Load().all {
		all = append(all, Status{one.name, one.counts.replies.Load(), one.counts.messages.Load(), one.numbers.Status()})
	}
	return all
}

// Problems returns the problems of lists, one line for each.
func (l *Lists) Problems() (all []string) {
	for _, s := range l.Status() {
		if s.Problem != "" {
			all = append(all, "list "+s.Name+" has a problem: "+s.Problem)
		}
	}
	return all
}

// With returns the names of the lists that contain one of the addresses or a prefix of one.
func (l *Lists) With(addresses []string) (names []string) {
	for _, one := range l.inUse.Load().all {
		if slices.ContainsFunc(addresses, func(a string) bool { return one.numbers.Has(number.Read(a)) }) {
			names = append(names, one.name)
		}
	}
	return names
}

// A Listing is a list that has something about some addresses.
type Listing struct {
	Name    string
	On      bool      // an address is on the list
	Changed time.Time // when an address was last added beside the file, or removed; zero: never, or unknown
}

// Listings returns the lists that contain one of the addresses or a prefix of one, or changes of one.
func (l *Lists) Listings(addresses []string) (all []Listing) {
	on := l.With(addresses)
	for _, one := range l.inUse.Load().all {
		last, err := one.numbers.Last(addresses)
		if err != nil {
			l.node.Log.Error().Str("list", one.name).Err(err).Msg("cannot read when numbers were added to the list")
		}
		is := slices.Contains(on, one.name)
		if !is && len(last) == 0 {
			continue
		}
		listing := Listing{Name: one.name, On: is}
		for i := range last {
			if last[i].At.After(listing.Changed) {
				listing.Changed = last[i].At
			}
		}
		all = append(all, listing)
	}
	return all
}
