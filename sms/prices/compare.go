package prices

import (
	"cmp"
	"slices"
	"strings"

	"pmg/sms"
	"pmg/sms/number"
)

// A Change is the kind of a difference between two lists.
type Change int

// The kinds of differences.
const (
	Added   Change = iota // the destination has no price in the old list
	Removed               // the destination has no price in the new list
	Raised
	Lowered
	Moved // only the days from which prices are valid differ
	changes
)

// String returns the kind as a word.
func (c Change) String() string { return [changes]string{"new", "gone", "up", "down", "other days"}[c] }

// A Difference is a destination whose price differs between two lists.
type Difference struct {
	For  string // as in the column for: 24001, 240, +4670 or *
	Kind Change
	Was  sms.Money
	Now  sms.Money
	From int64 // when Now becomes valid, in Unix nanoseconds; 0: it is valid
	Far  bool  // Now is more than ten times, or less than a tenth, of Was
	Gap  bool  // the destination has a price of its own now, and none until From
}

// A Comparison has the differences between two lists.
type Comparison struct {
	Counts [changes]int
	Same   int // destinations without a difference
	Far    int
	Gaps   int
	Later  int          // destinations whose price in the new list becomes valid later
	Rows   []Difference // some of the differences, those that are far in front
}

// Count returns the number of differences of a kind.
func (c *Comparison) Count(kind Change) int { return c.Counts[kind] }

// Total returns the number of differences.
func (c *Comparison) Total() (n int) {
	for _, one := range c.Counts {
		n += one
	}
	return n
}

// Compare compares a list with one that is to replace it at a time of the wall clock. was may be nil. It returns at most
// most differences in detail.
func Compare(was, now *List, at int64, most int) *Comparison {
	if was == nil {
		was = &List{}
	}
	c := &comparer{Comparison: &Comparison{}, at: at, most: most}
	each(was, func(key destination, before []entry) { c.compare(was, key, before, now.of(key)) })
	each(now, func(key destination, after []entry) {
		if was.of(key) == nil {
			c.compare(was, key, nil, after)
		}
	})
	return c.Comparison
}

// A destination is a network, a country, a prefix, or with neither all others.
type destination struct {
	network sms.Network
	prefix  string
}

func (d destination) String() string {
	switch {
	case d.network != 0:
		return d.network.String()
	case d.prefix != "":
		return "+" + d.prefix
	}
	return "*"
}

// of returns the prices of a destination.
func (l *List) of(d destination) []entry {
	switch {
	case d.network != 0:
		return l.networks[d.network]
	case d.prefix != "":
		all, _ := l.prefixes.Of(number.Prefix{Digits: d.prefix, International: true})
		return all
	}
	return l.otherwise
}

// each calls a function with the prices of each destination of a list.
func each(l *List, do func(destination, []entry)) {
	if len(l.otherwise) > 0 {
		do(destination{}, l.otherwise)
	}
	for n, all := range l.networks {
		do(destination{network: n}, all)
	}
	l.prefixes.All(func(p number.Prefix, all []entry) bool {
		do(destination{prefix: p.Digits}, all)
		return true
	})
}

// A comparer counts differences, and keeps some of them.
type comparer struct {
	*Comparison
	at   int64
	most int
}

// compare compares the prices of a destination.
func (c *comparer) compare(list *List, key destination, was, now []entry) {
	d := Difference{Kind: Added}
	if len(now) > 0 {
		d.Now = now[0].price
		if now[0].from > c.at {
			d.From = now[0].from
			c.Later++
		}
	}
	before, hadPrice := at(was, c.at)
	after, hasPrice := at(now, c.at)
	switch {
	case len(now) == 0:
		d.Kind, d.Was = Removed, last(was)
	case len(was) == 0:
		if country, ok := at(list.networks[key.network.Country()], c.at); ok && key.network != 0 {
			d.Far = isFar(country, d.Now)
		}
	case slices.EqualFunc(c.ahead(was), c.ahead(now), func(a, b entry) bool { return a.from == b.from && a.price == b.price }):
		c.Same++
		return
	default:
		d.Was, d.Gap = last(was), hadPrice && !hasPrice
		d.Far = isFar(d.Was, d.Now) || hadPrice && hasPrice && isFar(before, after)
		if d.Was == d.Now && hadPrice && hasPrice && before != after {
			d.Was, d.Now, d.From = before, after, 0
		}
		d.Kind = kindOf(d.Was, d.Now)
	}
	d.For = key.String()
	c.add(d)
}

// last returns the price that becomes valid last.
func last(all []entry) sms.Money { return all[0].price }

// ahead returns the prices that are valid at the time of the comparison or later. The one that is valid counts from 0.
func (c *comparer) ahead(all []entry) (ahead []entry) {
	for _, e := range all {
		if e.from <= c.at {
			return append(ahead, entry{price: e.price})
		}
		ahead = append(ahead, e)
	}
	return ahead
}

func kindOf(was, now sms.Money) Change {
	switch {
	case now > was:
		return Raised
	case now < was:
		return Lowered
	}
	return Moved
}

// isFar reports whether a price is more than ten times, or less than a tenth, of another one.
func isFar(was, now sms.Money) bool { return now > 10*was || 10*now < was }

// add counts a difference, and keeps it if it is among the first.
func (c *comparer) add(d Difference) {
	c.Counts[d.Kind]++
	if d.Far {
		c.Far++
	}
	if d.Gap {
		c.Gaps++
	}
	order := func(a, b Difference) int {
		far := 0
		if a.Far != b.Far {
			if far = 1; a.Far {
				far = -1
			}
		}
		return cmp.Or(far, cmp.Compare(a.Kind, b.Kind), strings.Compare(a.For, b.For))
	}
	i, _ := slices.BinarySearchFunc(c.Rows, d, order)
	if i >= c.most {
		return
	}
	c.Rows = slices.Insert(c.Rows, i, d)
	c.Rows = c.Rows[:min(len(c.Rows), c.most)]
}
