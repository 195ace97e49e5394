package router

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"

	"pmg/config"
)

// A Table is the routes of one configuration. It is safe for concurrent use.
type Table[T any] struct {
	routes []Route[T]
	rows   map[key][]int // indices of routes, ascending
	// The lengths of destination prefixes that must be looked up: those of the
	// routes for any account, and those of the routes for one account.
	anyLengths, accountLengths []int
}

// A key is a key of the index of routes.
type key struct{ account, prefix string }

// A Route holds the targets of the messages that match it.
type Route[T any] struct {
	Targets []Target[T]
	Index   int // in the configuration

	from     string
	source   []byte
	weighted bool
	picks    atomic.Uint64
}

// A Target is one of the targets of a route, and its weight.
type Target[T any] struct {
	To     T
	Weight uint64
}

// Build returns the table of a configuration's routes. resolve returns the caller's
// value for a target of the configuration, which is a connector or an account.
func Build[T any](routes []config.Route, resolve func(config.Target) T) *Table[T] {
	t := &Table[T]{routes: make([]Route[T], len(routes)), rows: map[key][]int{}}
	for i := range routes {
		c, r := &routes[i], &t.routes[i]
		r.Index, r.from = i, c.From
		r.source = []byte(strings.TrimPrefix(c.Source, "+"))
		r.weighted = c.Policy == config.Weighted
		for _, to := range c.To {
			r.Targets = append(r.Targets, Target[T]{resolve(to), uint64(max(to.Weight, 1))})
		}
		lengths := t.lengthsOf(c.Account)
		for _, prefix := range c.Prefixes() {
			k := key{c.Account, prefix}
			t.rows[k] = append(t.rows[k], i)
			if !slices.Contains(*lengths, len(prefix)) {
				*lengths = append(*lengths, len(prefix))
			}
		}
	}
	return t
}

func (t *Table[T]) lengthsOf(account string) *[]int {
	if account == "" {
		return &t.anyLengths
	}
	return &t.accountLengths
}

// Route returns the first route for a message that account submitted and that
// arrived on the connector from, and reports whether there is one. The account
// of a message from an SMSC is "". A leading '+' of an address makes no
// difference.
func (t *Table[T]) Route(account, from string, dest, source []byte) (*Route[T], bool) {
	dest, source = withoutPlus(dest), withoutPlus(source)
	best := len(t.routes)
	for _, n := range t.anyLengths {
		if n <= len(dest) {
			best = t.first(t.rows[key{"", string(dest[:n])}], best, from, source)
		}
	}
	if account != "" {
		for _, n := range t.accountLengths {
			if n <= len(dest) {
				best = t.first(t.rows[key{account, string(dest[:n])}], best, from, source)
			}
		}
	}
	if best == len(t.routes) {
		return nil, false
	}
	return &t.routes[best], true
}

// first returns the first of the rows whose other conditions match, or best if
// that comes before it.
func (t *Table[T]) first(rows []int, best int, from string, source []byte) int {
	for _, i := range rows {
		if i >= best {
			break
		}
		r := &t.routes[i]
		if (r.from == "" || r.from == from) && bytes.HasPrefix(source, r.source) {
			return i
		}
	}
	return best
}

func withoutPlus(address []byte) []byte {
	if len(address) > 0 && address[0] == '+' {
		return address[1:]
	}
	return address
}

// Pick returns the target for the next message: with failover the first target that
// is up, with weights one of the targets that are up. If none is up, it chooses as
// if all were, and the message waits there.
func (r *Route[T]) Pick(up func(T) bool) T {
	if r.weighted {
		return r.pickWeighted(up)
	}
	for i := range r.Targets {
		if up(r.Targets[i].To) {
			return r.Targets[i].To
		}
	}
	return r.Targets[0].To
}

// golden is 2⁶⁴ divided by the golden ratio. Its multiples modulo 2⁶⁴ are spread
// evenly over the whole range, however many are taken, and neighbours are far
// apart. So a target's messages come mixed with the others', not in a row.
const golden = 0x9E3779B97F4A7C15

func (r *Route[T]) pickWeighted(up func(T) bool) T {
	total := uint64(0)
	for i := range r.Targets {
		if up(r.Targets[i].To) {
			total += r.Targets[i].Weight
		}
	}
	if total == 0 {
		up = func(T) bool { return true }
		for i := range r.Targets {
			total += r.Targets[i].Weight
		}
	}
	place, _ := bits.Mul64(r.picks.Add(1)*golden, total) // of the multiple, scaled to total
	chosen := 0
	for i := range r.Targets {
		if !up(r.Targets[i].To) {
			continue
		}
		chosen = i // the last one, if a target went down after it was counted
		if place < r.Targets[i].Weight {
			break
		}
		place -= r.Targets[i].Weight
	}
	return r.Targets[chosen].To
}
