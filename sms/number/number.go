// Package number finds the number in an address. The same number is written in several forms: +46701740605, 46701740605 with
// the type international or without one, 0046701740605, 01146701740605, and by people with blanks and hyphens. All parts of
// the gateway that compare numbers, store numbers, or look up their prefixes use this package.
//
// # Which number it is
//
//	+46701740605, or type 1        international; so is 00 or 011 in front of one
//	46701740605 without a type     taken as international, if it has seven digits or more
//	0701740605, or type 2          national: the number of one country, which the address does not name
//	12345                          a short code, whatever its type, as all numbers of fewer than seven digits are
//	46701740605 with another type  a number of one network or exchange, or a name of digits
//	ACME                           a name
//
// A national number never equals an international one: rules of rewrite convert between them. The first digits of a short code
// are never a country code.
//
// # Start reading
//
// Of, Equal, Prefix; Parse for what people write.
package number

import (
	"bytes"

	"pmg/sms"
	"pmg/sms/plan"
)

// Shortest is the minimum number of digits in an international number; a short code has fewer.
const Shortest = 7

// dialled is the minimum number of digits in an international number after 011, because national numbers in some countries
// also begin with 011.
const dialled = 10

// A Kind is the kind of number of an address.
type Kind uint8

// The kinds.
const (
	None          Kind = iota // the address is empty
	International             // the type or the prefix of the number marks it as one with a country code
	Untyped                   // seven digits or more without a type: taken as international
	National
	Short  // a short code
	Within // a number within a network or an exchange
	Name   // a sender's name, or another text that is not a number
)

// Types of number (3GPP TS 23.040 §9.1.2.5).
const (
	typeUnknown       = 0
	typeInternational = 1
	typeNational      = 2
)

// A Number is the number of an address. Its octets are parts of the address.
type Number struct {
	written []byte // the digits without the prefix of international numbers, or the octets of a name
	kind    Kind
	zero    bool // the national number is dialled with a leading 0
}

// Of returns the number of an address. It does not allocate.
func Of(a sms.Address) Number {
	digits, plus := bytes.CutPrefix(a.Addr, []byte{'+'})
	switch {
	case len(a.Addr) == 0:
		return Number{}
	case !isDigits(digits):
		return Number{written: a.Addr, kind: Name}
	case len(digits) < Shortest:
		return Number{written: digits, kind: Short}
	}
	n := Number{written: digits, kind: Untyped}
	switch {
	case plus, a.TON == typeInternational:
		n.kind = International
	case a.TON == typeNational:
		n.kind = National
	case a.TON != typeUnknown:
		n.kind = Within
		return n
	}
	if digits[0] == '0' {
		if rest := withoutDialled(digits); rest != nil {
			n.written, n.kind = rest, International
		} else {
			n.kind, n.zero = National, true
		}
	}
	return n
}

// withoutDialled returns the international number after the prefix 00 or 011; nil: the digits have no such prefix.
func withoutDialled(digits []byte) []byte {
	if rest, ok := bytes.CutPrefix(digits, []byte("00")); ok && len(rest) >= Shortest && rest[0] != '0' {
		return rest
	}
	if rest, ok := bytes.CutPrefix(digits, []byte("011")); ok && len(rest) >= dialled && plan.Exists(rest) {
		return rest
	}
	return nil
}

// Kind returns the kind of the number.
func (n Number) Kind() Kind { return n.kind }

// IsInternational reports whether the number probably has its country code. Only such numbers have networks and prices.
func (n Number) IsInternational() bool { return n.kind == International || n.kind == Untyped }

// IsPerson reports whether the number may belong to a person: it is neither a short code nor a name.
func (n Number) IsPerson() bool { return n.IsInternational() || n.kind == National || n.kind == Within }

// Digits returns the digits of a number: those of an international number without the dialled prefix, and
// those of a national number as they are dialled. It returns nil for a name.
func (n Number) Digits() []byte {
	if n.kind == Name {
		return nil
	}
	return n.written
}

// Octets returns the result of Digits, or the octets of a name.
func (n Number) Octets() []byte { return n.written }

// String returns the number in the form that is stored and shown. Parse reads it as the same number; a national number has a
// leading 0.
func (n Number) String() string {
	if n.kind == National && !n.zero {
		return "0" + string(n.written)
	}
	return string(n.written)
}

// identity returns the group that equal numbers have in common, and their octets.
func (n Number) identity() (group byte, octets []byte) {
	switch {
	case n.kind == Untyped:
		return byte(International), n.written
	case n.zero:
		return byte(n.kind), n.written[1:]
	}
	return byte(n.kind), n.written
}

// Equal reports whether two addresses are the same number, or the same name.
func (n Number) Equal(other Number) bool {
	group, octets := n.identity()
	another, others := other.identity()
	return group == another && bytes.Equal(octets, others)
}

// AppendKey appends a key that only equal numbers share. The key must not be stored.
func (n Number) AppendKey(b []byte) []byte {
	group, octets := n.identity()
	return append(append(b, group), octets...)
}

// Key returns the key of AppendKey.
func (n Number) Key() string { return string(n.AppendKey(nil)) }

// compared is the number of digits of a national number that must match the end of an international number.
const compared = 7

// MayBe reports whether two addresses may be the same number: they are equal, or one is national, and the other is
// international and ends with it. Searches for messages use it.
func (n Number) MayBe(other Number) bool {
	if n.kind == None || other.kind == None {
		return false
	}
	return n.Equal(other) || n.mayEnd(other) || other.mayEnd(n)
}

func (n Number) mayEnd(international Number) bool {
	_, octets := n.identity()
	return n.kind == National && international.IsInternational() && len(octets) >= compared &&
		bytes.HasSuffix(international.written, octets)
}

// HasPlus reports whether an address begins with '+'.
func HasPlus(a sms.Address) bool { return len(a.Addr) > 0 && a.Addr[0] == '+' }

// Same reports whether two addresses are the same number.
func Same(a, b sms.Address) bool { return Of(a).Equal(Of(b)) }

func isDigits(octets []byte) bool {
	for _, c := range octets {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(octets) > 0
}
