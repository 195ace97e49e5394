package networks

import (
	"cmp"
	"slices"

	"pmg/internal/sortedset"
	"pmg/internal/textfile"
	"pmg/sms"
)

// A row is a range of numbers of a network, by their prefixes.
type row struct {
	from, to uint64 // keys of the first and of the last number
	line     uint32
	place    uint16 // in builder.networks
}

// compare orders rows by their first numbers, and larger rows before the rows within them.
func compare(a, b row) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.line, b.line))
}

// A builder makes a table from rows in any order.
type builder struct {
	table  *Table
	places map[sms.Network]uint16
	runs   []sortedset.Run[row]
	rows   []row // not yet in a run
	p      *textfile.Problems
	rest   func() // yields the processor for a moment

	open    []row // rows that may contain the next row, each within the row before
	begin   uint64
	place   uint16 // network of the numbers from begin on, which are not in the table yet
	started bool   // begin is set
}

func newBuilder(p *textfile.Problems, rest func()) *builder {
	t := &Table{networks: []sms.Network{0}, names: map[sms.Network]string{}}
	return &builder{table: t, places: map[sms.Network]uint16{}, p: p, rest: rest}
}

// maxNetworks is the maximum number of networks in a table. There are about 3,000 in the world.
const maxNetworks = 1<<16 - 1

// placeOf returns the index of a network. It reports false if there is no room for another network.
func (b *builder) placeOf(n sms.Network, name []byte) (uint16, bool) {
	place, ok := b.places[n]
	if !ok {
		if len(b.table.networks) > maxNetworks {
			return 0, false
		}
		place = uint16(len(b.table.networks))
		b.places[n] = place
		b.table.networks = append(b.table.networks, n)
		if len(name) > 0 {
			b.table.names[n] = string(name)
		}
	}
	return place, true
}

// add adds a row.
func (b *builder) add(r row) {
	if len(b.rows) == sortedset.RunSize {
		b.cut()
	}
	if b.rows == nil {
		b.rows = make([]row, 0, sortedset.RunSize)
	}
	b.rows = append(b.rows, r)
	b.table.Counts.Rows++
}

// cut makes a run of the rows that were added since the last run.
func (b *builder) cut() {
	if len(b.rows) > 0 {
		slices.SortFunc(b.rows, compare)
		rows := b.rows
		b.runs, b.rows = append(b.runs, func() (from uint64, r row, ok bool) {
			if ok = len(rows) > 0; ok {
				r, rows = rows[0], rows[1:]
			}
			return r.from, r, ok
		}), nil
		b.rest()
	}
}

// end makes the table, and empties the builder.
func (b *builder) end(lines int) *Table {
	b.cut()
	sortedset.Merge(b.runs, func(x, y row) bool { return compare(x, y) < 0 }, func(_ uint64, r row) { b.take(r) }, b.rest)
	b.close(^uint64(0))
	b.put()
	t := b.table
	t.bounds.End()
	if last := len(t.places) - 1; last >= 0 {
		t.places[last] = slices.Clone(t.places[last])
	}
	t.Counts.Lines, t.Counts.Networks = lines, len(t.networks)-1
	for _, n := range t.networks[1:] {
		if n.IsCountry() {
			t.Counts.Countries++
		}
	}
	t.Counts.Octets = t.octets()
	return t
}

// take adds the next row in order.
func (b *builder) take(r row) {
	b.close(r.from)
	if n := len(b.open); n > 0 {
		switch outer := &b.open[n-1]; {
		case outer.from == r.from && outer.to == r.to && outer.place == r.place:
			b.table.Counts.Duplicates++
			return
		case outer.from == r.from && outer.to == r.to:
			b.p.Add(
				int(r.line), "its numbers are of network %s, and of network %s in line %d: remove one of the rows",
				b.table.networks[r.place], b.table.networks[outer.place], outer.line,
			)
			return
		case r.to > outer.to:
			b.p.Add(
				int(r.line), "its numbers overlap with those of line %d, and neither contains the other: correct one of them",
				outer.line,
			)
			return
		}
		b.table.Counts.Within++
	}
	b.open = append(b.open, r)
	b.bound(r.from, r.place)
}

// close ends the open rows whose numbers are before a key.
func (b *builder) close(key uint64) {
	for n := len(b.open); n > 0 && b.open[n-1].to < key; n-- {
		ended, place := b.open[n-1].to, uint16(0)
		if b.open = b.open[:n-1]; n > 1 {
			place = b.open[n-2].place
		}
		b.bound(ended+1, place)
	}
}

// bound sets the network of the numbers from a key on. The last of several calls with the same key counts.
func (b *builder) bound(key uint64, place uint16) {
	if b.started && key != b.begin {
		b.put()
	}
	b.begin, b.place, b.started = key, place, true
}

// put adds the last bound to the table, unless the numbers before belong to the same network.
func (b *builder) put() {
	if !b.started {
		return
	}
	t := b.table
	last := len(t.places) - 1
	before := uint16(0)
	if last >= 0 {
		before = t.places[last][len(t.places[last])-1]
	}
	if b.place == before {
		return
	}
	if last < 0 || len(t.places[last]) == 1<<placesBits {
		t.places = append(t.places, make([]uint16, 0, 1<<placesBits))
		last++
	}
	t.places[last] = append(t.places[last], b.place)
	t.bounds.Add(b.begin)
}
