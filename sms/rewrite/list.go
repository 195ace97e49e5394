package rewrite

import "slices"

// A list contains addresses and prefixes, in lower case and without a leading '+'.
type list struct {
	whole    map[string]bool
	prefixes map[string]bool
	lengths  []int // lengths of the prefixes
}

func newList(entries []string) *list {
	l := &list{whole: map[string]bool{}, prefixes: map[string]bool{}}
	for _, e := range entries {
		name, isPrefix := e, e[len(e)-1:] == "*"
		if isPrefix {
			name = e[:len(e)-1]
		}
		var room [maxGiven]byte
		key := listed(room[:0], []byte(name))
		if !isPrefix {
			l.whole[string(key)] = true
			continue
		}
		l.prefixes[string(key)] = true
		if !slices.Contains(l.lengths, len(key)) {
			l.lengths = append(l.lengths, len(key))
		}
	}
	return l
}

// has reports whether the list has the address, or a prefix of it.
func (l *list) has(address []byte) bool {
	var room [maxGiven]byte
	key := listed(room[:0], address)
	if l.whole[string(key)] {
		return true
	}
	for _, n := range l.lengths {
		if n <= len(key) && l.prefixes[string(key[:n])] {
			return true
		}
	}
	return false
}

// listed appends an address in the form of lists.
func listed(to, address []byte) []byte {
	if len(address) > 0 && address[0] == '+' {
		address = address[1:]
	}
	for _, c := range address[:min(len(address), maxGiven)] {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}
