package notes

import (
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// A View has all notes of one moment, in order.
type View struct {
	from   pebble.Reader
	close  func() error // nil: from stays open
	read   func(error) error
	memory []part // newer first
	tables []table
	plain  []uint32
}

// View returns a view. The caller closes it.
func (n *Notes) View() *View {
	n.mu.RLock()
	defer n.mu.RUnlock()
	v := &View{from: n.from, read: n.read, memory: n.parts(), tables: n.tables, plain: n.plain}
	v.memory[0].Recent = n.recent.copied()
	if n.db != nil {
		snapshot := n.db.NewSnapshot()
		v.from, v.close = snapshot, snapshot.Close
	}
	return v
}

// Reader returns the database at the moment of the view.
func (v *View) Reader() pebble.Reader { return v.from }

// Close ends the view.
func (v *View) Close() error {
	if v.close == nil {
		return nil
	}
	return v.close()
}

// Days returns the sorted days for which there are notes.
func (v *View) Days() []uint32 {
	days := slices.Clone(v.plain)
	for _, t := range v.tables {
		days = append(days, t.day)
	}
	for _, p := range v.memory {
		for _, day := range p.days {
			if p.has(day) {
				days = append(days, day)
			}
		}
	}
	slices.Sort(days)
	return slices.Compact(days)
}

// Each calls the function pass for the notes of a day, in the order of the keys, which begin with the kinds. If the argument
// from is not empty, it begins with a kind: then the notes of this kind are passed whose keys are from or higher. pass may use
// the octets only until it returns.
func (v *View) Each(day uint32, from []byte, pass func(key, value []byte) error) error {
	var end []byte
	if len(from) > 0 {
		end = endOf(kindOf(from))
	}
	all, err := v.Open(day, from, end)
	defer func() {
		for _, c := range all {
			_ = c.Close()
		}
	}()
	if err != nil {
		return err
	}
	return merged(all, func(key, value []byte, removed bool) error {
		if removed {
			return nil
		}
		return pass(key, value)
	})
}

// Open opens cursors over the notes of a day whose keys are at least lower and below upper; nil is no limit. The cursor over the
// newest notes is the first. The caller closes the cursors, after an error as well.
func (v *View) Open(day uint32, lower, upper []byte) (all []*Cursor, err error) {
	for _, p := range v.memory {
		if p.has(day) {
			all = append(all, &Cursor{list: p.sort(day, lower, upper), at: -1})
		}
	}
	kind := string(kindOf(lower))
	for _, t := range slices.Backward(v.tables) {
		if t.day != day || kind != "" && !slices.Contains(t.kinds, kind) {
			continue
		}
		c, err := openCursor(v.from, t.prefix(), lower, upper, true, v.read)
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	if slices.Contains(v.plain, day) {
		c, err := openCursor(v.from, AppendDay(nil, Plain, day), lower, upper, false, v.read)
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

// A Cursor is at a note of one table, in memory or on disk.
type Cursor struct {
	list sorted // notes in memory; unused if there is an iterator
	at   int    // index of the note in list

	it     *pebble.Iterator // iterator over a table on disk; nil: the notes are in memory
	prefix int              // octets in front of a key
	tagged bool             // the first octet of a value says whether the note was removed
	read   func(error) error
}

// openCursor opens a cursor over the keys with a prefix. The rest of each key is at least lower and below upper; nil is no limit.
func openCursor(
	from pebble.Reader, prefix, lower, upper []byte, tagged bool, read func(error) error,
) (*Cursor, error) {
	o := &pebble.IterOptions{LowerBound: append(slices.Clip(prefix), lower...), UpperBound: append(slices.Clip(prefix), upper...)}
	if upper == nil {
		o.UpperBound = after(prefix)
	}
	it, err := from.NewIter(o)
	if err != nil {
		return nil, read(err)
	}
	return &Cursor{it: it, prefix: len(prefix), tagged: tagged, read: read}, nil
}

// after returns the lowest key that is above all with a prefix, which ends with a number.
func after(prefix []byte) []byte {
	end := slices.Clone(prefix)
	last := end[len(end)-4:]
	if n := binary.BigEndian.Uint32(last); n < math.MaxUint32 {
		binary.BigEndian.PutUint32(last, n+1)
		return end
	}
	return append(end, 0xFF)
}

// First moves the cursor to the first note. It returns false if there is none.
func (c *Cursor) First() bool {
	if c.it != nil {
		return c.it.First()
	}
	c.at = 0
	return c.at < len(c.list.all)
}

// Last moves the cursor to the last note. It returns false if there is none.
func (c *Cursor) Last() bool {
	if c.it != nil {
		return c.it.Last()
	}
	c.at = len(c.list.all) - 1
	return c.at >= 0
}

// Next moves the cursor to the next note. It returns false if there is none.
func (c *Cursor) Next() bool {
	if c.it != nil {
		return c.it.Next()
	}
	c.at++
	return c.at < len(c.list.all)
}

// Prev moves the cursor to the note before. It returns false if there is none.
func (c *Cursor) Prev() bool {
	if c.it != nil {
		return c.it.Prev()
	}
	c.at--
	return c.at >= 0
}

// Key returns the key of the note, which begins with its kind.
func (c *Cursor) Key() []byte {
	if c.it != nil {
		return c.it.Key()[c.prefix:]
	}
	r := c.list.of
	return r.keyOf(&r.entries[c.list.all[c.at]])
}

// Value returns the value of the note, or that it was removed.
func (c *Cursor) Value() (value []byte, removed bool, err error) {
	if c.it == nil {
		r := c.list.of
		e := &r.entries[c.list.all[c.at]]
		return r.valueOf(e), e.removed, nil
	}
	value, err = c.it.ValueAndErr()
	if err != nil {
		return nil, false, c.read(err)
	}
	if c.tagged {
		value, removed = read(value)
	}
	return value, removed, nil
}

// Error returns the error that has ended the notes, or nil.
func (c *Cursor) Error() error {
	if c.it == nil {
		return nil
	}
	return c.read(c.it.Error())
}

// Close closes the cursor.
func (c *Cursor) Close() error {
	if c.it == nil {
		return nil
	}
	return c.it.Close()
}

// merged calls the function pass for the notes of cursors, in the order of the keys. Of several notes with one key, the note of
// the first cursor counts.
func merged(all []*Cursor, pass func(key, value []byte, removed bool) error) error {
	var ahead frontier
	for i, c := range all {
		if c.First() {
			ahead = append(ahead, place{c, i})
		}
	}
	heap.Init(&ahead)
	var last []byte
	for first := true; len(ahead) > 0; ahead.advance() {
		c := ahead[0].Cursor
		if !first && bytes.Equal(c.Key(), last) {
			continue
		}
		first, last = false, append(last[:0], c.Key()...)
		value, removed, err := c.Value()
		if err == nil {
			err = pass(c.Key(), value, removed)
		}
		if err != nil {
			return err
		}
	}
	var err error
	for _, c := range all {
		err = errors.Join(err, c.Error())
	}
	return err
}

// A frontier is a heap of the cursors that are at a note, the one with the lowest key first.
type frontier []place

// A place is a cursor with its rank: of equal keys the one with the lowest rank comes first.
type place struct {
	*Cursor
	rank int
}

func (f frontier) Len() int { return len(f) }

func (f frontier) Less(i, j int) bool {
	return cmp.Or(bytes.Compare(f[i].Key(), f[j].Key()), cmp.Compare(f[i].rank, f[j].rank)) < 0
}

func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(p any)   { *f = append(*f, p.(place)) }

func (f *frontier) Pop() any {
	last := len(*f) - 1
	p := (*f)[last]
	*f = (*f)[:last]
	return p
}

// advance moves the first cursor to its next note.
func (f *frontier) advance() {
	if (*f)[0].Next() {
		heap.Fix(f, 0)
	} else {
		heap.Pop(f)
	}
}
