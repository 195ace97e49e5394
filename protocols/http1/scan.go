package http1

import (
	"encoding/binary"
	"math/bits"
)

// Words that have one value in each of their eight octets.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// skipQuery returns the place of the first octet from place i on that is not in a query, len(b) if there is none.
func skipQuery(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if other := (outside(x, '!') | zeros(x^'#'*ones)) & highs; other != 0 {
			return i + bits.TrailingZeros64(other)/8
		}
	}
	for i < len(b) && classes[b[i]]&inQuery != 0 {
		i++
	}
	return i
}

// skipValue returns the place of the first octet from place i on that is not in the value of a field, len(b) if there is none.
func skipValue(b []byte, i int) int {
	for i+8 <= len(b) {
		other := outside(binary.LittleEndian.Uint64(b[i:]), ' ') & highs
		if other == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(other) / 8; b[i] != '\t' {
			return i
		}
		i++
	}
	for i < len(b) && classes[b[i]]&inValue != 0 {
		i++
	}
	return i
}

// outside returns a word whose high bits mark the octets of x that are below least, or above '~'. Above the first octet that is
// marked, marks may be wrong.
func outside(x, least uint64) uint64 { return (x-least*ones)&^x | x | (x + ones) }

// zeros returns a word whose high bits mark the octets of x that are zero. Above the first octet that is marked, marks may
// be wrong.
func zeros(x uint64) uint64 { return (x - ones) &^ x }
