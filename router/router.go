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
	rows   map[key][]int // rows of the configuration, rising
	// How long the destination prefixes are, of the routes for any account and of
	// those for one: what need be looked up.
	anyLengths, ownLengths []int
}

// A key is what routes are indexed by.
type key struct{ account, prefix string }

// A Route is where messages go that match it.
type Route[T any] struct {
	Row     int // in the configuration, from 0, for the log
	Targets []Target[T]

	from     string
	source   []byte
	weighted bool
	picks    atomic.Uint64
}

// A Target is a connector and its share.
type Target[T any] struct {
	To     T
	Weight uint64
}

// Build makes the table of a configuration's routes; resolve makes a target of a
// connector's name.
func Build[T any](routes []config.Route, resolve func(connector string) T) *Table[T] {
	t := &Table[T]{routes: make([]Route[T], len(routes)), rows: map[key][]int{}}
	for i := range routes {
		c, r := &routes[i], &t.routes[i]
		r.Row = i
		r.from = c.From
		r.source = []byte(strings.TrimPrefix(c.Source, "+"))
		r.weighted = c.Policy == config.Weighted
		for _, to := range c.To {
			r.Targets = append(r.Targets, Target[T]{resolve(to.Connector), uint64(max(to.Weight, 1))})
		}
		k := key{c.Account, strings.TrimPrefix(c.Destination, "+")}
		t.rows[k] = append(t.rows[k], i)
		if lengths := t.lengthsOf(c.Account); !slices.Contains(*lengths, len(k.prefix)) {
			*lengths = append(*lengths, len(k.prefix))
		}
	}
	return t
}

func (t *Table[T]) lengthsOf(account string) *[]int {
	if account == "" {
		return &t.anyLengths
	}
	return &t.ownLengths
}

// Route finds the first route for a message that an account submitted ("" for
// one from an SMSC) and that arrived on the connector from. A leading '+' of an
// address makes no difference.
func (t *Table[T]) Route(account, from string, dest, source []byte) (*Route[T], bool) {
	dest, source = withoutPlus(dest), withoutPlus(source)
	best := len(t.routes)
	for _, n := range t.anyLengths {
		if n <= len(dest) {
			best = t.first(t.rows[key{"", string(dest[:n])}], best, from, source)
		}
	}
	if account != "" {
		for _, n := range t.ownLengths {
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

// first gives the first of the rows that matches in what is not indexed, if it
// comes before best.
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

// Pick chooses a target for the next message: by failover the first that is up,
// by weight one of those that are. When none is, it chooses as if all were, and
// the message waits there.
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

// golden is 2⁶⁴ divided by the golden ratio. Its multiples, modulo 2⁶⁴, fall
// evenly over the whole range however many are taken: neighbours in time are far
// apart, so that a target's share comes mixed with the others', not in a row.
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
		chosen = i // also when one went down since it was counted
		if place < r.Targets[i].Weight {
			break
		}
		place -= r.Targets[i].Weight
	}
	return r.Targets[chosen].To
}
