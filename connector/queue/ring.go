package queue

// A ring is a first-in-first-out list of entries, sorted by their places. Its first and
// its last entry are not gone. It lies in chunks, so that a long one grows without
// copying, and gives its memory back as it gets shorter.
type ring struct {
	n          int
	start      uint64   // entries that have left: the number of the first one there is
	head, tail *chunk   // with the first and the last entry
	chunks     []*chunk // all: entry number i is in chunks[i/chunkSize], modulo the length, a power of two
	spare      *chunk   // the last one that became empty
	ahead      uint64   // number of the entry from which on no body was asked for
}

const chunkSize = 64

type chunk [chunkSize]Entry

// extend adds an entry at the end, which is the caller's to fill.
func (r *ring) extend() *Entry {
	number := r.start + uint64(r.n)
	if number%chunkSize == 0 || r.n == 0 {
		r.tail = r.grow(number / chunkSize)
		if r.n == 0 {
			r.head = r.tail
		}
	}
	r.n++
	return &r.tail[number%chunkSize]
}

// grow returns the chunk with that number, for the entry that will be the last.
func (r *ring) grow(number uint64) *chunk {
	if number-r.start/chunkSize >= uint64(len(r.chunks)) {
		r.resize()
	}
	c := r.chunk(number)
	if *c == nil {
		*c, r.spare = r.spare, nil
		if *c == nil {
			*c = &chunk{}
		}
	}
	return *c
}

// chunk returns where the chunk with that number is.
func (r *ring) chunk(number uint64) **chunk { return &r.chunks[number&uint64(len(r.chunks)-1)] }

// resize makes room for more chunks.
func (r *ring) resize() {
	old := *r
	r.chunks = make([]*chunk, max(4, 2*len(r.chunks)))
	for i := range uint64(len(old.chunks)) {
		number := r.start/chunkSize + i
		*r.chunk(number) = *old.chunk(number)
	}
}

// trim drops entries that are gone from both ends.
func (r *ring) trim() {
	for r.n > 0 && r.first().state == gone {
		r.n--
		if r.start++; r.start%chunkSize == 0 {
			c := r.chunk(r.start/chunkSize - 1)
			r.spare, *c = *c, nil
			r.head = *r.chunk(r.start / chunkSize)
		}
	}
	for r.n > 0 && r.last().state == gone {
		if r.n--; (r.start+uint64(r.n))%chunkSize == 0 {
			r.tail = *r.chunk((r.start + uint64(r.n) - 1) / chunkSize)
		}
	}
	if r.n == 0 && len(r.chunks) > maxIdleChunks {
		*r = ring{start: r.start} // a backlog has gone, and its memory goes too
	}
}

// maxIdleChunks is for how many chunks an empty ring keeps room.
const maxIdleChunks = 16

func (r *ring) at(i int) *Entry {
	number := r.start + uint64(i)
	return &(*r.chunk(number / chunkSize))[number%chunkSize]
}

// first and last are of a ring that is not empty.
func (r *ring) first() *Entry { return &r.head[r.start%chunkSize] }

func (r *ring) last() *Entry { return &r.tail[(r.start+uint64(r.n)-1)%chunkSize] }

// fits reports whether an entry can stand at the end.
func (r *ring) fits(due int64, id uint64) bool {
	if r.n == 0 {
		return true
	}
	last := r.last()
	return last.Due < due || last.Due == due && last.ID <= id
}

// find returns the entry with the id and place of e, nil if it is not there.
func (r *ring) find(e *Entry) *Entry {
	low, high := 0, r.n
	for low < high {
		if middle := (low + high) / 2; placeFirst(r.at(middle), e) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < r.n {
		if found := r.at(low); found.ID == e.ID && found.Due == e.Due && found.state != gone {
			return found
		}
	}
	return nil
}
