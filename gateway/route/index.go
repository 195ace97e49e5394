package route

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"

	"pmg/config"
	"pmg/connector"
	"pmg/internal/smstext"
	"pmg/sms"
)

// An index is the routes of one configuration. It never changes; the gateway swaps it at a reload. The first
// route of the configuration that matches wins. It is found without looking at every route: routes are indexed by
// account, destination prefix and network, and only the prefixes of the destination's own digits are looked up.
//
// T is what newIndex made of the targets, so that no message causes a lookup by name. It is safe for concurrent use.
type index[T any] struct {
	routes []Route[T]
	rows   map[key][]int // ascending indexes of routes
	// the same for routes with networks, which are not in rows
	byNetwork map[networkKey][]int
	// The lengths of destination prefixes that must be looked up: those of the
	// routes for any account, and those of the routes for one account.
	anyLengths, accountLengths []int
	keywords                   bool // a route has keywords
}

// A key is a key of the index of routes.
type key struct{ account, prefix string }

// A networkKey is a key of the index of routes that ask for networks.
type networkKey struct {
	key
	network sms.Network
}

// noNetwork is the key of routes for numbers of which no network is known.
const noNetwork sms.Network = 1

// A Route holds the targets of the messages that match it.
type Route[T any] struct {
	Targets []Target[T]
	Index   int // index in the configuration

	from     string
	source   []byte
	keywords []string // upper-case keywords
	tags     []string // the message must have one of these tags
	weighted bool     // targets are chosen by their weights
	best     bool     // the target with the best delivery is chosen
	cheapest bool     // the cheapest target is chosen that delivers at least this share of connector.MostQuality
	least    int
	// equal for routes with the same targets in the same order; others are equal with a probability of
	// 1 in 65,536
	number   uint16
	picks    atomic.Uint64
	count    *count // set before the route is in force; equal routes of successive configurations share it
	identity identity
}

// A Target is one of the targets of a route, and its weight.
type Target[T any] struct {
	To     T
	Weight uint64
}

// newIndex returns the index of a configuration's routes. resolve returns the caller's
// value for a target of the configuration, which is a connector or an account.
func newIndex[T any](routes []config.Route, resolve func(config.Target) T) *index[T] {
	x := &index[T]{routes: make([]Route[T], len(routes)), rows: map[key][]int{}, byNetwork: map[networkKey][]int{}}
	for i := range routes {
		c, r := &routes[i], &x.routes[i]
		r.Index, r.from = i, c.From
		r.count, r.identity = &count{}, identityOf(c)
		r.source = []byte(strings.TrimPrefix(c.Source, "+"))
		for _, k := range c.Keyword {
			r.keywords = append(r.keywords, smstext.FirstWord(k))
			x.keywords = true
		}
		r.tags = c.Tag
		r.weighted, r.best, r.cheapest = c.Policy == config.Weighted, c.Policy == config.Quality, c.Policy == config.Cost
		r.least = c.LeastDelivered * connector.MostQuality / 100
		names := fnv.New32a()
		for _, to := range c.To {
			fmt.Fprintf(names, "%q %q\n", to.Connector, to.Account)
			r.Targets = append(r.Targets, Target[T]{resolve(to), uint64(max(to.Weight, 1))})
		}
		r.number = uint16(names.Sum32())
		lengths := x.lengthsOf(c.Account)
		of := networksOf(c)
		for _, prefix := range c.Prefixes() {
			k := key{c.Account, prefix}
			if len(of) == 0 {
				x.rows[k] = append(x.rows[k], i)
			}
			for _, network := range of {
				n := networkKey{k, network}
				x.byNetwork[n] = append(x.byNetwork[n], i)
			}
			if !slices.Contains(*lengths, len(prefix)) {
				*lengths = append(*lengths, len(prefix))
			}
		}
	}
	return x
}

// networksOf returns the networks that a route asks for, as keys have them.
func networksOf(c *config.Route) []sms.Network {
	var all []sms.Network
	for _, text := range c.Network {
		n, ok := sms.ReadNetwork(text)
		if !ok {
			n = noNetwork
		}
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

func (x *index[T]) lengthsOf(account string) *[]int {
	if account == "" {
		return &x.anyLengths
	}
	return &x.accountLengths
}

// Traits are the properties of a message that routes depend on. The addresses have no '+' in front.
type Traits struct {
	Account      string // "": the message comes from an SMSC
	From         string // the connector that it arrived on
	Dest, Source []byte
	Keyword      string
	Tags         []byte
	Network      sms.Network
}

// traitsOf returns the traits of a message, except its keyword.
func traitsOf(m *sms.Message) Traits {
	return Traits{
		Account: m.Origin.Account, From: m.Origin.Connector, Dest: withoutPlus(m.Dest().Addr),
		Source: withoutPlus(m.Source().Addr), Tags: m.Tags(), Network: m.Network,
	}
}

// Route returns the first route for a message, and reports whether there is one.
func (x *index[T]) Route(of *Traits) (*Route[T], bool) {
	dest, account := of.Dest, of.Account
	best := len(x.routes)
	for _, n := range x.anyLengths {
		if n <= len(dest) {
			best = x.firstOf("", dest[:n], best, of)
		}
	}
	if account != "" {
		for _, n := range x.accountLengths {
			if n <= len(dest) {
				best = x.firstOf(account, dest[:n], best, of)
			}
		}
	}
	if best == len(x.routes) {
		return nil, false
	}
	return &x.routes[best], true
}

// anyKeyword is a keyword that no text has, and each route with keywords takes.
const anyKeyword = "\x00"

// DependsOnKeyword reports whether the choice of a message's route depends on its keyword.
func (x *index[T]) DependsOnKeyword(of Traits) bool {
	if !x.keywords {
		return false
	}
	of.Keyword = ""
	one, _ := x.Route(&of)
	of.Keyword = anyKeyword
	other, _ := x.Route(&of)
	return one != other
}

// firstOf returns the first of the routes for an account and a prefix whose other conditions match, or best if that comes before
// it.
func (x *index[T]) firstOf(account string, prefix []byte, best int, of *Traits) int {
	best = x.first(x.rows[key{account, string(prefix)}], best, of)
	if len(x.byNetwork) == 0 {
		return best
	}
	network := of.Network
	if network == 0 {
		network = noNetwork
	}
	best = x.first(x.byNetwork[networkKey{key{account, string(prefix)}, network}], best, of)
	if country := network.Country(); country != network {
		best = x.first(x.byNetwork[networkKey{key{account, string(prefix)}, country}], best, of)
	}
	return best
}

// first returns the first of the rows whose other conditions match, or best if
// that comes before it.
func (x *index[T]) first(rows []int, best int, of *Traits) int {
	for _, i := range rows {
		if i >= best {
			break
		}
		if x.routes[i].takes(of) {
			return i
		}
	}
	return best
}

// takes reports whether the conditions that no row has are met.
func (r *Route[T]) takes(of *Traits) bool {
	return (r.from == "" || r.from == of.From) && bytes.HasPrefix(of.Source, r.source) &&
		(len(r.keywords) == 0 || of.Keyword == anyKeyword || slices.Contains(r.keywords, of.Keyword)) &&
		(len(r.tags) == 0 || sms.HasTag(of.Tags, r.tags...))
}

func withoutPlus(address []byte) []byte { return bytes.TrimPrefix(address, []byte{'+'}) }

// PickUntried returns the position of the target for a message that some targets have not
// taken: those at the positions of the bits of tried. It reports false if no other is up.
func (r *Route[T]) PickUntried(tried uint16, together uint64, up func(T) bool) (position int, ok bool) {
	if r.weighted {
		return r.pickWeighted(tried, together, up)
	}
	for i := range r.Targets {
		if !isIn(tried, i) && up(r.Targets[i].To) {
			return i, true
		}
	}
	return 0, false
}

// isIn reports whether a position is in a set. Positions beyond the bits of the set always are.
func isIn(set uint16, position int) bool {
	return set != 0 && (position >= 16 || set>>position&1 != 0)
}

// golden is 2⁶⁴ divided by the golden ratio. Its multiples modulo 2⁶⁴ are spread
// evenly over the whole range, however many are taken, and neighbours are far
// apart. So a target's messages come mixed with the others', not in a row.
const golden = 0x9E3779B97F4A7C15

func (r *Route[T]) pickWeighted(tried uint16, together uint64, up func(T) bool) (position int, ok bool) {
	total := uint64(0)
	for i := range r.Targets {
		if !isIn(tried, i) && up(r.Targets[i].To) {
			total += r.Targets[i].Weight
		}
	}
	if total == 0 {
		return 0, false
	}
	if together == 0 {
		together = r.picks.Add(1)
	}
	place, _ := bits.Mul64(together*golden, total) // the multiple, scaled to the range of total
	for i := range r.Targets {
		if isIn(tried, i) || !up(r.Targets[i].To) {
			continue
		}
		position, ok = i, true // the last target, in case a target went down after it was counted
		if place < r.Targets[i].Weight {
			break
		}
		place -= r.Targets[i].Weight
	}
	return position, ok
}
