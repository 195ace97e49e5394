package number

import (
	"bytes"
	"slices"
	"strings"
)

// A Prefix is the beginning of numbers or names. A prefix with a '+' matches only international numbers;
// without a '+' it matches all addresses.
type Prefix struct {
	Digits        string
	International bool
}

// ParsePrefix reads a prefix. It reports false if anything but digits follows the '+'; an empty prefix matches all addresses.
func ParsePrefix(text string) (p Prefix, ok bool) {
	p.Digits, p.International = strings.CutPrefix(text, "+")
	return p, p.Digits != "" && isDigits([]byte(p.Digits)) || text == ""
}

// Fits reports whether a number begins with the prefix.
func (p Prefix) Fits(n Number) bool {
	return (!p.International || n.IsInternational()) && bytes.HasPrefix(n.Octets(), []byte(p.Digits))
}

// A Table maps prefixes to values. It is safe for concurrent use while nothing is added.
type Table[T any] struct {
	international map[string]T // values of prefixes with a '+'
	any           map[string]T
	lengths       []int // lengths of prefixes, the longest first
}

// Set sets the value of a prefix.
func (t *Table[T]) Set(p Prefix, v T) {
	if t.any == nil {
		t.any, t.international = map[string]T{}, map[string]T{}
	}
	if p.International {
		t.international[p.Digits] = v
	} else {
		t.any[p.Digits] = v
	}
	if !slices.Contains(t.lengths, len(p.Digits)) {
		t.lengths = append(t.lengths, len(p.Digits))
		slices.SortFunc(t.lengths, func(a, b int) int { return b - a })
	}
}

// Of returns the value of a prefix.
func (t *Table[T]) Of(p Prefix) (v T, ok bool) {
	if p.International {
		v, ok = t.international[p.Digits]
	} else {
		v, ok = t.any[p.Digits]
	}
	return v, ok
}

// Len returns the number of prefixes.
func (t *Table[T]) Len() int { return len(t.any) + len(t.international) }

// All calls f with each prefix and the prefix's value, in no order, while f returns true.
func (t *Table[T]) All(f func(Prefix, T) bool) {
	for international, values := range map[bool]map[string]T{true: t.international, false: t.any} {
		for digits, v := range values {
			if !f(Prefix{digits, international}, v) {
				return
			}
		}
	}
}

// Find returns the value of a number's longest prefix for which takes returns true. It does not allocate.
func (t *Table[T]) Find(n Number, takes func(T) bool) (v T, ok bool) {
	octets := n.Octets()
	for _, length := range t.lengths {
		if length > len(octets) {
			continue
		}
		if n.IsInternational() {
			if v, ok = t.international[string(octets[:length])]; ok && takes(v) {
				return v, true
			}
		}
		if v, ok = t.any[string(octets[:length])]; ok && takes(v) {
			return v, true
		}
	}
	var none T
	return none, false
}
