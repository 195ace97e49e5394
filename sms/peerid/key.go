package peerid

import (
	"bytes"
	"math"
	"strconv"
)

// A Relation describes how a peer writes an id in a receipt, compared with its answer to the submit. Letter
// case and leading zeros of numbers never matter.
type Relation uint8

// The relations.
const (
	Same      Relation = iota // in the same way
	ToDecimal                 // hexadecimal in the answer, decimal in the receipt
	ToHex                     // decimal in the answer, hexadecimal in the receipt
	relations
)

var relationNames = [relations]string{"same", "decimal", "hexadecimal"}

// String returns the relation's name in the configuration: the form of ids in receipts.
func (r Relation) String() string {
	if r < relations {
		return relationNames[r]
	}
	return "unknown"
}

// Relations returns all relations.
func Relations() [relations]Relation { return [...]Relation{Same, ToDecimal, ToHex} }

// ParseRelation returns the relation of that name.
func ParseRelation(name string) (Relation, bool) {
	for r, n := range relationNames {
		if n == name {
			return Relation(r), true
		}
	}
	return Same, false
}

// MaxLen is the maximum length of an id in SMPP's field. Longer ids are compared unchanged.
const MaxLen = 64

// AppendKey appends the key of an id to dst: with Same, the key of the unchanged id; with another relation, the key of the
// answer that a receipt with this id belongs to. It reports false if no answer can have this relation to the id, and for an
// empty id.
//
// The key of a hexadecimal number in one letter case is in lower case without leading zeros. So is the key of a UUID, without
// dashes and braces. The key of other hexadecimal digits with dashes is in lower case. Other ids are their own keys, because
// some SMSCs use upper and lower case as different digits. Blanks around an id are ignored.
func AppendKey(dst, id []byte, r Relation) ([]byte, bool) {
	if id = trimmed(id); len(id) == 0 {
		return dst, false
	}
	switch r {
	case Same:
		return appendFolded(dst, id), true
	case ToDecimal:
		if n, ok := number(id, 10); ok {
			return strconv.AppendUint(dst, n, 16), true
		}
	case ToHex:
		if n, ok := number(id, 16); ok {
			return strconv.AppendUint(dst, n, 10), true
		}
	}
	return dst, false
}

// trimmed returns an id without the blanks around it.
func trimmed(id []byte) []byte {
	if len(id) > 0 && id[0] > ' ' && id[len(id)-1] > ' ' {
		return id
	}
	return bytes.Trim(id, " \t\r\n\x00")
}

// appendFolded appends an id in small letters, if it has only hexadecimal digits, and without leading zeros, if it is a number.
func appendFolded(dst, id []byte) []byte {
	if isUUID(id) {
		return appendUUID(dst, id)
	}
	if len(id) > MaxLen || !isFoldable(id) {
		return append(dst, id...)
	}
	if id[0] == '0' && bytes.IndexByte(id, '-') < 0 {
		for len(id) > 1 && id[0] == '0' {
			id = id[1:]
		}
	}
	for _, c := range id {
		if c >= 'A' {
			c |= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// lenUUID is the length of a UUID with dashes.
const lenUUID = 36

// isUUID reports whether an id is a UUID with dashes, perhaps in braces.
func isUUID(id []byte) bool {
	if len(id) == lenUUID+2 && id[0] == '{' && id[lenUUID+1] == '}' {
		id = id[1 : lenUUID+1]
	}
	if len(id) != lenUUID || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return false
	}
	return isFoldable(id) && bytes.Count(id, []byte("-")) == 4
}

// appendUUID appends the digits of a UUID, as of a number.
func appendUUID(dst, id []byte) []byte {
	var digits [32]byte
	n := 0
	for _, c := range id {
		if c != '-' && c != '{' && c != '}' {
			digits[n] = c
			n++
		}
	}
	return appendFolded(dst, digits[:])
}

// leastUUID is the minimum number of digits in a UUID without leading zeros, except for one UUID in 2³². Numbers have fewer
// digits.
const leastUUID = 24

// OlderKey returns the key that earlier versions, which kept the dashes of UUIDs, made for an id with this key. It reports
// false if the id is not a UUID.
func OlderKey(key []byte) (older []byte, ok bool) {
	if len(key) < leastUUID || len(key) > 32 || !isHex(key) {
		return nil, false
	}
	digits := append(bytes.Repeat([]byte("0"), 32-len(key)), key...)
	return bytes.Join([][]byte{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, []byte("-")), true
}

// isHex reports whether an id may be a hexadecimal number in one letter case.
func isHex(id []byte) bool { return isFoldable(id) && bytes.IndexByte(id, '-') < 0 }

// isFoldable reports whether an id has hexadecimal digits in one letter case, and dashes.
func isFoldable(id []byte) bool {
	all := uint8(0)
	for _, c := range id {
		all |= octetKinds[c]
	}
	return all&otherOctet == 0 && all&(smallLetter|capitalLetter) != smallLetter|capitalLetter
}

// The kinds of octets in ids. A digit and a dash have no kind.
const (
	smallLetter   uint8 = 1 << iota // a to f
	capitalLetter                   // A to F
	otherOctet                      // not part of a hexadecimal number
)

// octetKinds are the kinds of all octets.
var octetKinds = func() (all [256]uint8) {
	for c := range all {
		switch {
		case c >= '0' && c <= '9', c == '-':
		case c >= 'a' && c <= 'f':
			all[c] = smallLetter
		case c >= 'A' && c <= 'F':
			all[c] = capitalLetter
		default:
			all[c] = otherOctet
		}
	}
	return all
}()

// number parses an id in base 10 or 16. A number has up to 64 bits: longer ids are not numbers.
func number(id []byte, base uint64) (n uint64, ok bool) {
	if len(id) > MaxLen || !isHex(id) {
		return 0, false
	}
	for _, c := range id {
		d := uint64(c - '0')
		if c > '9' {
			d = uint64(c|('a'-'A')) - 'a' + 10
		}
		if d >= base || n > (math.MaxUint64-d)/base {
			return 0, false
		}
		n = n*base + d
	}
	return n, true
}
