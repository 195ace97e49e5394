// Package logtext writes and reads the fields of PDUs in the pdu log: names, numbers,
// strings and octets, in a form that all protocols share.
//
// # Form
//
//	name=17                  a number
//	name=0x58(NAME)          a number with the name that the protocol gives it
//	name=46700000001         a string of A-Z a-z 0-9 + _ . : @ - alone
//	name="say \"hi\"\x0a"    any other string; \" \\ and \xNN are the escapes
//	name=00ff                octets of unknown meaning, in hex
//	name=*5                  5 octets that are hidden
//	name=00ff*62             2 octets, and 62 that were cut off
//	name=***                 a hidden password
//
// # Start reading
//
// This file writes, scan.go reads.
package logtext

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
)

// AppendName appends " name=".
func AppendName(b []byte, name string) []byte {
	at := len(b)
	end := at + len(name) + 1
	b = slices.Grow(b, len(name)+2)[:end+1]
	b[at], b[end] = ' ', '='
	copy(b[at+1:], name)
	return b
}

// AppendCode appends a number that has a name, with the name in brackets.
func AppendCode(b []byte, n uint32, name string) []byte {
	b = strconv.AppendUint(append(b, "0x"...), uint64(n), 16)
	if name != "" {
		b = append(append(append(b, '('), name...), ')')
	}
	return b
}

// AppendValue appends a string, with quotes if necessary.
func AppendValue(b, v []byte) []byte {
	for _, c := range v {
		if !bare[c] {
			return AppendQuoted(b, v)
		}
	}
	if len(v) == 0 {
		return append(b, `""`...)
	}
	return append(b, v...)
}

// AppendQuoted appends a string in quotes.
func AppendQuoted(b, v []byte) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for {
		n := plainPrefix(v)
		b = append(b, v[:n]...)
		if n == len(v) {
			return append(b, '"')
		}
		if c := v[n]; Printable(c) {
			b = append(b, '\\', c)
		} else {
			b = append(b, '\\', 'x', digits[c>>4], digits[c&15])
		}
		v = v[n+1:]
	}
}

// AppendHidden appends the length of a value in place of the value.
func AppendHidden(b []byte, n int) []byte {
	return strconv.AppendInt(append(b, '*'), int64(n), 10)
}

// AppendOctets appends octets in hex: the first shown of them, then the number of the
// others.
func AppendOctets(b, v []byte, shown int) []byte {
	if len(v) <= shown {
		return hex.AppendEncode(b, v)
	}
	b = hex.AppendEncode(b, v[:shown])
	return AppendHidden(b, len(v)-shown)
}

// AppendPassword appends *** in place of a password.
func AppendPassword(b []byte) []byte { return append(b, "***"...) }

// Printable reports whether an octet is a printable character of ASCII.
func Printable(c byte) bool { return c >= ' ' && c <= '~' }

// A set is a set of octets.
type set [256]bool

func setOf(holds func(c byte) bool) (s set) {
	for c := range s {
		s[c] = holds(byte(c))
	}
	return s
}

var (
	// bare holds the octets of values that need no quotes.
	bare = setOf(func(c byte) bool {
		return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || bytes.IndexByte([]byte("+_.:@-"), c) >= 0
	})
	// plain holds the octets that need no escape between quotes.
	plain = setOf(func(c byte) bool { return Printable(c) && c != '"' && c != '\\' })
)

// plainPrefix returns the number of octets at the start of v that need no escape between quotes. It checks
// eight octets at a time. Each term has the top bit set of the first octet that is below 0x20, above 0x7E, a
// quote or a backslash. Top bits of later octets may be set too and mean nothing.
func plainPrefix(v []byte) (n int) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(v)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(v[n:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		if (x|(x-ones*' ')|(x+ones)|(quote-ones)|(slash-ones))&tops != 0 {
			break
		}
	}
	for n < len(v) && plain[v[n]] {
		n++
	}
	return n
}
