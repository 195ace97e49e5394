package charset

import (
	"encoding/binary"
	"unicode/utf8"
)

// FromName returns a name as UTF-8, which is the form of names in the gateway: octets that are not UTF-8 are read as Latin-1.
// It does not allocate for a name in ASCII.
func FromName(octets []byte) []byte {
	if utf8.Valid(octets) {
		return octets
	}
	text, _ := Charset{Coding: Latin1}.Decode(nil, octets)
	return text
}

// IsASCII reports whether all octets are ASCII.
func IsASCII(octets []byte) bool {
	for len(octets) >= 8 {
		if binary.LittleEndian.Uint64(octets)&0x8080808080808080 != 0 {
			return false
		}
		octets = octets[8:]
	}
	for _, c := range octets {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
