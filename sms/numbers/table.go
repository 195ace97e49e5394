package numbers

import (
	"iter"

	"pmg/internal/sortedset"
)

// A Table is the contents of a file. It does not change, so that it is safe for concurrent use.
type Table struct {
	numbers  sortedset.Set
	prefixes sortedset.Set // prefixes, none of which begins with another
	names    words
	starts   words // prefixes of names

	Counts Counts
	First  []string // the first rows, as they were parsed
}

// Counts describe the contents of a file.
type Counts struct {
	Lines      int // number of lines, including comments and empty lines
	Numbers    int
	Prefixes   int
	Names      int // names of senders, and prefixes of names
	Duplicates int // entries that occur more than once
	Covered    int // prefixes that begin with another prefix of the table
	Octets     int // octets of memory
}

// Entries returns the number of entries.
func (c *Counts) Entries() int { return c.Numbers + c.Prefixes + c.Names }

// has reports whether an address is in the table.
func (t *Table) has(e *entry) bool { return t.hasItself(e) || t.hasBeginning(e) }

// hasItself reports whether the table has an address as an entry of its own.
func (t *Table) hasItself(e *entry) bool {
	return e.number != 0 && t.numbers.Has(e.number) || e.number == 0 && t.names.has(e.name)
}

// hasBeginning reports whether the table has a prefix of an address.
func (t *Table) hasBeginning(e *entry) bool {
	return e.digits > 0 && t.prefixes.Len() > 0 && t.hasPrefixOf(e) || e.number == 0 && t.starts.hasPrefixOf(e.name)
}

// all returns the entries of the table, without lead.
func (t *Table) all() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for n := range t.numbers.All() {
			if !yield(entryOf(n)) {
				return
			}
		}
		for key := range t.prefixes.All() {
			n := key % lengths
			if !yield(entry{number: powers[n] + key/lengths/powers[maxDigits-n], digits: int(n), prefix: true}) {
				return
			}
		}
		for i := range t.names.at {
			if !yield(entry{name: t.names.word(i)}) {
				return
			}
		}
		for i := range t.starts.at {
			if !yield(entry{name: t.starts.word(i), prefix: true}) {
				return
			}
		}
	}
}

// hasPrefixOf reports whether a number begins with a prefix of the table. Because no prefix begins with
// another, only the greatest prefix that is not greater than the number can be its beginning.
func (t *Table) hasPrefixOf(e *entry) bool {
	key, _, ok := t.prefixes.Floor(e.lead*lengths + uint64(e.digits))
	return ok && covers(key, e.lead*lengths+uint64(e.digits))
}

// covers reports whether the prefix key is a prefix of other, which is a prefix or a number.
func covers(key, other uint64) bool {
	n := key % lengths
	unit := powers[maxDigits-n]
	return n <= other%lengths && key/lengths/unit == other/lengths/unit
}

// A builder makes a table of entries.
type builder struct {
	numbers, prefixes collector
	names, starts     words
}

func newBuilder(rest func()) *builder {
	return &builder{numbers: collector{rest: rest}, prefixes: collector{rest: rest}}
}

func (b *builder) add(e *entry) {
	switch {
	case e.prefix && e.digits > 0:
		b.prefixes.add(e.lead*lengths + uint64(e.digits))
	case e.prefix:
		b.starts.add(e.name)
	case e.number != 0:
		b.numbers.add(e.number)
	default:
		b.names.add(e.name)
	}
}

// size returns the number of numbers and prefixes, and the number of names.
func (b *builder) size() (digits, names int) {
	return b.numbers.n + b.prefixes.n, len(b.names.at) + len(b.starts.at)
}

// table makes the table, and empties the builder.
func (b *builder) table(lines int) *Table {
	t := new(Table)
	c := &t.Counts
	var again int
	t.numbers, c.Duplicates = b.numbers.set(nil)
	all := b.prefixes.n
	t.prefixes, again = b.prefixes.set(func(key, last uint64) bool { return !covers(last, key) })
	c.Covered = all - again - t.prefixes.Len()
	c.Duplicates += again + b.names.sort() + b.starts.sort()
	t.names, t.starts = b.names, b.starts
	c.Lines, c.Numbers, c.Prefixes, c.Names = lines, t.numbers.Len(), t.prefixes.Len(), len(t.names.at)+len(t.starts.at)
	c.Octets = t.numbers.Octets() + t.prefixes.Octets() + t.names.octets() + t.starts.octets()
	return t
}
