package charset

import (
	"encoding/binary"
	"unicode/utf8"
)

// FromName returns the octets of a name as UTF-8, the form of names within the gateway: octets that are no
// UTF-8 are read as Latin-1. It allocates nothing for a name in ASCII.
func FromName(octets []byte) []byte {
	if utf8.Valid(octets) {
		return octets
	}
	text, _ := Charset{Coding: Latin1}.Decode(nil, octets)
	return text
}

// IsASCII reports whether octets have the same characters in all charsets.
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
