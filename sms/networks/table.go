package networks

import (
	"slices"

	"pmg/internal/sortedset"
	"pmg/sms"
	"pmg/sms/number"
)

// maxDigits is the maximum number of digits in a number (ITU-T E.164). A look-up ignores further digits.
const maxDigits = 15

// base is the base of keys: a digit is its value plus one, and 0 is the end of a number.
const base = 11

// weights returns the powers of base, which are the weights of digits.
func weights() (all [maxDigits + 1]uint64) {
	all[0] = 1
	for i := 1; i <= maxDigits; i++ {
		all[i] = all[i-1] * base
	}
	return all
}

// A Table maps numbers to networks. It does not change, so that it is safe for concurrent use.
type Table struct {
	bounds   sortedset.Set // the keys of the numbers at which another network begins
	places   [][]uint16    // in networks, by the position of the bound
	networks []sms.Network // networks of the rows; the first is 0, which means no network
	names    map[sms.Network]string

	Counts Counts
	First  []string // the first rows, as they were parsed
}

// placesBits is the number of index bits within a slice of places.
const placesBits = 16

// Counts describe the contents of a file.
type Counts struct {
	Lines      int // number of lines, including comments and empty lines
	Rows       int // prefixes and ranges
	Ranges     int
	Networks   int // number of networks, including countries
	Countries  int // countries that rows name without a network
	Duplicates int // number of rows that repeat another row
	Within     int // rows whose numbers another row contains, too
	Octets     int // octets of memory
}

// Of returns the network of an international number, 0 if the table has none for it, or if the number is not international. It
// does not allocate.
func (t *Table) Of(of number.Number) sms.Network {
	if !of.IsInternational() {
		return 0
	}
	return t.OfDigits(of.Digits())
}

// OfDigits returns the network of the numbers that begin with digits, such as the routing prefix of a ported number.
func (t *Table) OfDigits(digits []byte) sms.Network {
	key, n := uint64(0), 0
	for ; n < maxDigits && n < len(digits); n++ {
		key = key*base + uint64(digits[n]-'0') + 1
	}
	for ; n < maxDigits; n++ {
		key *= base
	}
	_, at, ok := t.bounds.Floor(key)
	if !ok {
		return 0
	}
	return t.networks[t.places[at>>placesBits][at&(1<<placesBits-1)]]
}

// Networks returns the networks of the table, sorted.
func (t *Table) Networks() []sms.Network { return slices.Sorted(slices.Values(t.networks[1:])) }

// Name returns the name of a network in the file, "" if the file has no name for it.
func (t *Table) Name(n sms.Network) string { return t.names[n] }

// octets returns the memory that the table takes.
func (t *Table) octets() int {
	n := t.bounds.Octets() + 4*cap(t.networks)
	for _, some := range t.places {
		n += 2 * cap(some)
	}
	for _, name := range t.names {
		n += len(name) + 64
	}
	return n
}
