package kannel

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// values are the values of a URL's escapes. Strings are octets, in the charset that the codes c and C name.
type values struct {
	phone, local string // numbers of the mobile, and of the other side
	text         string
	words        []string
	at           time.Time
	connector    string
	id           string // UUID
	foreign      string // the SMSC's id
	mask         int
	url          string
	meta         string
	service      string
	coding       int
	charset      string
	class        int // -1: none
	dcs          int
	udh          string
	billing      string
	account      string

	used int // words that %s and %S have taken
}

// maxCall is about how many octets a URL may have. Each escape can make many of two.
const maxCall = 64 << 10

// expand returns a URL with values in the place of escapes. Characters that cannot stand in a URL are
// encoded, so that it can be called whatever the client or a mobile has written. expand truncates a URL that
// is too long.
func (v *values) expand(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern) && b.Len() < maxCall; i++ {
		if pattern[i] != '%' || i+1 == len(pattern) {
			writeLiteral(&b, pattern[i])
			continue
		}
		i++
		switch c := pattern[i]; c {
		case '#':
			i += v.metaValue(&b, pattern[i+1:])
		case 'S':
			for _, c := range []byte(strings.ReplaceAll(v.word(), "*", "~")) {
				writeLiteral(&b, c)
			}
		default:
			if value, ok := v.escape(c); ok {
				b.WriteString(value)
				continue
			}
			b.WriteByte('%')
			writeLiteral(&b, c)
		}
	}
	return b.String()
}

func writeLiteral(b *strings.Builder, c byte) {
	if c <= ' ' || c >= 0x7F {
		fmt.Fprintf(b, "%%%02X", c)
		return
	}
	b.WriteByte(c)
}

// escape returns the value of an escape, encoded for a URL. It reports false for an unknown escape.
func (v *values) escape(c byte) (string, bool) {
	switch c {
	case '%':
		return "%", true
	case 'a':
		return join(v.words), true
	case 'r':
		return join(v.words[min(1+v.used, len(v.words)):]), true
	case 's':
		return quote(v.word()), true
	case 't':
		return v.at.UTC().Format("2006-01-02+15:04:05"), true
	case 'O':
		return fmt.Sprintf("%02d", v.dcs), true
	}
	value, ok := v.plain(c)
	return quote(value), ok
}

// plain returns the value of an escape before encoding.
func (v *values) plain(c byte) (string, bool) {
	switch c {
	case 'p':
		return v.phone, true
	case 'P':
		return v.local, true
	case 'q':
		return international(v.phone), true
	case 'Q':
		return international(v.local), true
	case 'A', 'b':
		return v.text, true
	case 'k':
		return strings.Join(v.words[:min(1, len(v.words))], ""), true
	case 'T':
		return strconv.FormatInt(v.at.Unix(), 10), true
	case 'i':
		return v.connector, true
	case 'I':
		return v.id, true
	case 'F':
		return v.foreign, true
	case 'd':
		return strconv.Itoa(v.mask), true
	case 'R':
		return v.url, true
	case 'D':
		return v.meta, true
	case 'n':
		return v.service, true
	case 'c':
		return strconv.Itoa(v.coding), true
	case 'C':
		return v.charset, true
	case 'm':
		return strconv.Itoa(v.class), true
	case 'M':
		return strconv.Itoa(notGiven), true
	case 'u':
		return v.udh, true
	case 'B':
		return v.billing, true
	case 'o':
		return v.account, true
	case 'f', 'v', 'V': // the number of the SMSC, and times left, which no call here knows
		return "", true
	}
	return "", false
}

// word returns the next word that no escape has taken, from the second on.
func (v *values) word() string {
	if 1+v.used >= len(v.words) {
		return ""
	}
	v.used++
	return v.words[v.used]
}

func join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, "+")
}

// international returns a number with '+' in place of a leading 00.
func international(number string) string {
	if rest, ok := strings.CutPrefix(number, "00"); ok {
		return "+" + rest
	}
	return number
}

// quote encodes octets as Kannel does: a blank as '+', and all but letters, digits and the marks of RFC 2396 as %XX.
func quote(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c == ' ':
			b.WriteByte('+')
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', strings.IndexByte("-_.!~*'()", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// metaValue writes the value that "group#key#" at the beginning of rest names, and returns how many octets of
// rest that is. An invalid name is kept as text.
func (v *values) metaValue(b *strings.Builder, rest string) int {
	group, more, ok := strings.Cut(rest, "#")
	key, _, closed := strings.Cut(more, "#")
	if !ok || !closed {
		b.WriteString("%#")
		return 0
	}
	b.WriteString(quote(metaData(v.meta, group, key)))
	return len(group) + len(key) + 2
}

// metaData returns a value of meta-data: "?group?key=value&key=value?group2?…".
func metaData(meta, group, key string) string {
	parts := strings.Split(meta, "?") // "", group, pairs, group, pairs…
	for i := 1; i+1 < len(parts); i += 2 {
		if g, _ := unescape(parts[i]); g != group {
			continue
		}
		for pair := range strings.SplitSeq(parts[i+1], "&") {
			name, value, _ := strings.Cut(pair, "=")
			if name, _ = unescape(name); name == key {
				value, _ = unescape(value)
				return value
			}
		}
	}
	return ""
}
