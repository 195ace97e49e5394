package notes

import (
	"bytes"
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

// Each passes the notes of a day with keys from lower on and below upper to f, in their order. An upper that is nil is no limit.
// The keys begin with their kinds. f may use its octets only until it returns.
func (v *View) Each(day uint32, lower, upper []byte, f func(key, value []byte) error) error {
	all, err := v.Open(day, lower, upper)
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
		return f(key, value)
	})
}

// Open opens cursors over the notes of a day with keys from lower on and below upper, the newest first. The caller closes them,
// after an error as well.
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
		c, err := openCursor(v.from, appendDay(nil, Plain, day), lower, upper, false, v.read)
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

// A Cursor is at a note of one table, in memory or on disk.
type Cursor struct {
	list sorted // it is nil: the notes
	at   int

	it     *pebble.Iterator
	prefix int  // octets in front of a key
	tagged bool // the first octet of a value says whether the note was removed
	read   func(error) error
}

// openCursor opens a cursor over the keys behind a prefix, from lower on and below upper.
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

// merged passes the notes at cursors to f in the order of their keys. Of notes with one key it passes that of the first cursor.
func merged(all []*Cursor, f func(key, value []byte, removed bool) error) error {
	h := make(heap, 0, len(all))
	for i, c := range all {
		if c.First() {
			h = append(h, place{c, i})
		}
	}
	h.order()
	var last []byte
	for first := true; len(h) > 0; h.advance() {
		c := h[0].Cursor
		if !first && bytes.Equal(c.Key(), last) {
			continue
		}
		first, last = false, append(last[:0], c.Key()...)
		value, removed, err := c.Value()
		if err == nil {
			err = f(c.Key(), value, removed)
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

// A heap has the cursors that are at a note, the one with the lowest key first.
type heap []place

// A place is a cursor with its rank: of equal keys the lowest rank comes first.
type place struct {
	*Cursor
	rank int
}

func (h heap) less(i, j int) bool {
	if c := bytes.Compare(h[i].Key(), h[j].Key()); c != 0 {
		return c < 0
	}
	return h[i].rank < h[j].rank
}

func (h heap) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h heap) down(i int) {
	for {
		least := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(h) && h.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// advance moves the first cursor to its next note.
func (h *heap) advance() {
	all := *h
	if !all[0].Next() {
		all[0] = all[len(all)-1]
		all = all[:len(all)-1]
	}
	all.down(0)
	*h = all
}
