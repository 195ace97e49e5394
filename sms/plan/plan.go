// Package plan finds international numbers that cannot exist: no country has their first digits, or their
// length differs from that of all numbers of their country.
//
// It does not check the ranges that a country has assigned, because these change every week, and a number in a new range would
// be refused. Lengths change once in years.
//
// # Start reading
//
// Refuses; table.go is made of the metadata of libphonenumber by plan_test.go.
package plan

import (
	"fmt"
	"strings"
)

// A plan is the numbering plan of a country code: bit n is set if numbers can have n digits after the code.
type plan uint32

const (
	zero      plan = 1 << 31 // national numbers of the country may begin with a 0 after the country code
	maxCode        = 3       // digits of a country code
	maxLength      = 17      // digits of a number after the country code
)

// Refuses returns the reason why an international number, in digits with its country code, cannot exist, as
// text that follows "its recipient ". It returns "" if the number can exist.
func Refuses(number []byte) string {
	if !isDigits(number) {
		return "must be digits"
	}
	code, at := codeOf(number)
	p, national := plans[code], number[at:]
	switch {
	case p.has(national):
		return ""
	case p == 0:
		return fmt.Sprintf("begins with %s, which is not a country code", number[:max(at, 1)])
	case !p.hasLength(len(national)):
		return fmt.Sprintf("has %d digits after country code %d, which needs %s", len(national), code, p.lengths())
	}
	return fmt.Sprintf("has a 0 after country code %d, which is dialled only within the country", code)
}

// Exists reports whether an international number, in digits with its country code, can exist. It does not allocate.
func Exists(number []byte) bool {
	if !isDigits(number) {
		return false
	}
	code, at := codeOf(number)
	return plans[code].has(number[at:])
}

func (p plan) hasLength(n int) bool { return n > 0 && n <= maxLength && p&(1<<n) != 0 }

// has reports whether a number can exist after the code.
func (p plan) has(national []byte) bool {
	return p.hasLength(len(national)) && (national[0] != '0' || p&zero != 0)
}

// codeOf returns the country code and its number of digits. A code without a plan is not a country code.
func codeOf(number []byte) (code, digits int) {
	for digits < min(maxCode, len(number)) && plans[code] == 0 && number[0] != '0' {
		code = 10*code + int(number[digits]-'0')
		digits++
	}
	return code, digits
}

// National returns an international number, in digits, without its country code.
func National(number []byte) []byte {
	_, digits := codeOf(number)
	return number[digits:]
}

func isDigits(number []byte) bool {
	for _, c := range number {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(number) > 0
}

// lengths returns the possible numbers of digits after the code as text, such as "6 to 10 or 12".
func (p plan) lengths() string {
	var all []string
	for from := 1; from <= maxLength; from++ {
		to := from
		for p&(1<<to) != 0 {
			to++
		}
		switch to - from {
		case 0:
			continue
		case 1:
			all = append(all, fmt.Sprint(from))
		default:
			all = append(all, fmt.Sprintf("%d to %d", from, to-1))
		}
		from = to
	}
	return strings.Join(all, " or ")
}
