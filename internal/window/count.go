package window

// A Span is a sliding period for counts. It is divided into slices, and counts expire slice by slice.
type Span struct{ slice int64 }

// slices is the number of slices in a Span. Events still count in the slice that comes so many after their own, so that all
// events within the span are counted.
const slices = 12

// NewSpan returns a span of a time in nanoseconds.
func NewSpan(within int64) Span { return Span{max((within+slices-1)/slices, 1)} }

// of returns the number of the slice of a time. Times before 0 count as 0.
func (s Span) of(at int64) int64 { return max(at, 0) / s.slice }

// A Count is a number of events within a span. All calls must have the same span. The zero value is a Count of 0.
type Count struct {
	newest int64 // the number of the newest slice
	n      [slices + 1]uint32
}

// move begins the slice of a time, and returns its number. For a time before the oldest slice it returns the oldest slice.
func (c *Count) move(s Span, at int64) int64 {
	k := s.of(at)
	if k <= c.newest {
		return max(k, c.newest-slices)
	}
	if k-c.newest > slices {
		clear(c.n[:])
	} else {
		for i := c.newest + 1; i <= k; i++ {
			c.n[i%(slices+1)] = 0
		}
	}
	c.newest = k
	return k
}

// Of returns the events within the span before a time, or within up to a twelfth more.
func (c *Count) Of(s Span, at int64) (n int) {
	c.move(s, at)
	for _, of := range c.n {
		n += int(of)
	}
	return n
}

// Add counts an event at a time.
func (c *Count) Add(s Span, at int64) { c.n[c.move(s, at)%(slices+1)]++ }

// GiveBack undoes an Add for a time.
func (c *Count) GiveBack(s Span, at int64) {
	k := s.of(at)
	if n := &c.n[k%(slices+1)]; k <= c.newest && k >= c.newest-slices && *n > 0 {
		*n--
	}
}

// Counts are Counts by hash. Make them with NewCounts.
type Counts struct {
	span  Span
	table table[Count]
}

// NewCounts returns counts for the latest keep hashes.
func NewCounts(s Span, keep int) *Counts {
	c := &Counts{span: s}
	c.SetKeep(keep)
	return c
}

// SetKeep changes the maximum number of hashes.
func (c *Counts) SetKeep(keep int) { c.table.setKeep(keep) }

// Of returns the Count of a hash at a time.
func (c *Counts) Of(at int64, hash uint64) int {
	if i := c.table.find(hash); i != 0 {
		return c.table.at(i).value.Of(c.span, at)
	}
	return 0
}

// Add counts an event of a hash, which becomes the newest.
func (c *Counts) Add(at int64, hash uint64) {
	c.sweep(at)
	i := c.table.find(hash)
	if i == 0 {
		i = c.table.add(hash)
	} else {
		c.table.touch(i)
	}
	c.table.at(i).value.Add(c.span, at)
}

// GiveBack undoes an Add for a time.
func (c *Counts) GiveBack(at int64, hash uint64) {
	if i := c.table.find(hash); i != 0 {
		c.table.at(i).value.GiveBack(c.span, at)
	}
}

// Len returns the number of hashes with counts. Some counts may be 0.
func (c *Counts) Len() int { return c.table.n }

// sweep removes some of the oldest counts that have expired.
func (c *Counts) sweep(at int64) {
	for range sweeps {
		i := c.table.oldest
		if i == 0 || c.span.of(at)-c.table.at(i).value.newest <= slices {
			return
		}
		c.table.remove(i)
	}
}
