package sms

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// Money is an amount in millionths of a unit of a currency, such as 45000 for 0.045. Sums are exact. A
// decimal type of a library would offer no more than an integer, need more room in each message, and
// allocate.
type Money int64

// MaxMoney is the largest amount that ReadMoney accepts: a trillion units. An int64 can hold the sum of a few
// million such amounts.
const MaxMoney = 1e12 * unit

const (
	unit     = 1_000_000
	decimals = 6
)

// ReadMoney parses an amount, such as 10, -0.5 or 0.045. It reports false for other texts, and for more than six decimals,
// which would not be exact.
func ReadMoney(text string) (m Money, ok bool) {
	rest, negative := text, false
	if len(rest) > 0 && rest[0] == '-' {
		rest, negative = rest[1:], true
	}
	point, digits := -1, 0
	for i := range len(rest) {
		switch c := rest[i]; {
		case c >= '0' && c <= '9':
			if m > MaxMoney/10 {
				return 0, false // the next digit would overflow the integer
			}
			m = m*10 + Money(c-'0')
			digits++
		case c == '.' && point < 0 && i > 0 && i+1 < len(rest):
			point = digits
		default:
			return 0, false
		}
	}
	behind := 0
	if point >= 0 {
		behind = digits - point
	}
	if digits == 0 || behind > decimals {
		return 0, false
	}
	for ; behind < decimals; behind++ {
		if m > MaxMoney/10 {
			return 0, false
		}
		m *= 10
	}
	if m > MaxMoney {
		return 0, false
	}
	if negative {
		m = -m
	}
	return m, true
}

// Append appends an amount in the form that ReadMoney parses, with at least two decimals.
func (m Money) Append(b []byte) []byte {
	n := uint64(m)
	if m < 0 {
		b, n = append(b, '-'), -n
	}
	b = append(strconv.AppendUint(b, n/unit, 10), '.')
	rest := n % unit
	for at, div := 0, uint64(unit/10); div > 0 && (at < 2 || rest > 0); at, div = at+1, div/10 {
		b = append(b, byte('0'+rest/div))
		rest %= div
	}
	return b
}

// String returns an amount as Append appends it.
func (m Money) String() string { return string(m.Append(nil)) }

// MarshalText returns an amount as String does.
func (m Money) MarshalText() ([]byte, error) { return m.Append(nil), nil }

// UnmarshalText reads an amount as ReadMoney does.
func (m *Money) UnmarshalText(text []byte) error {
	read, ok := ReadMoney(string(text))
	if !ok {
		return fmt.Errorf("cannot read the amount %q: at most six decimals are allowed", text)
	}
	*m = read
	return nil
}

// Float returns the approximate amount, for figures that people read.
func (m Money) Float() float64 { return float64(m) / unit }

// PriceOf returns the amount that is reserved for a message; until the message is accepted, the amount for each of its parts.
func PriceOf(m *Message) Money {
	if b := partOf(m, hasPrice); len(b) >= 8 {
		return Money(binary.BigEndian.Uint64(b))
	}
	return 0
}

// ShortsOf returns the number of short messages that the amount of PriceOf is for.
func ShortsOf(m *Message) uint8 {
	if b := partOf(m, hasPrice); len(b) > 8 {
		return b[8]
	}
	return 1
}

// SetPrice sets the amount that PriceOf returns, and the number of short messages that it is for.
func SetPrice(m *Message, p Money, shorts uint8) {
	var b [9]byte
	if p == 0 {
		if m.protocol&hasPrice != 0 {
			setPart(m, hasPrice, nil)
		}
		return
	}
	binary.BigEndian.PutUint64(b[:], uint64(p))
	n := 8
	if shorts > 1 {
		b[n] = shorts
		n++
	}
	setPart(m, hasPrice, b[:n])
}
