package queue

// A ring is a first-in-first-out list of entries, sorted by their places. The first and the last
// entry never have the state gone. A ring consists of chunks, so that it grows without copying and
// frees memory as it becomes shorter.
type ring struct {
	n          int
	start      uint64   // number of the first entry, which is how many entries have left
	head, tail *chunk   // the chunks with the first and the last entry
	chunks     []*chunk // all chunks: entry number i is in chunks[i/chunkSize modulo the length]; the length is a power of two
	spare      *chunk   // the chunk that became empty last
	ahead      uint64   // number of the first entry whose body was not requested yet
}

const chunkSize = 64

type chunk [chunkSize]Entry

// extend adds an entry at the end of the ring. The caller fills the entry.
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

// grow returns the chunk with this number, to which the next last entry is added.
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

// chunk returns a pointer to the place of the chunk with this number.
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

// trim drops entries with the state gone from both ends.
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
		*r = ring{start: r.start} // after a long backlog the memory is freed
	}
}

// maxIdleChunks is for how many chunks an empty ring keeps pointers.
const maxIdleChunks = 16

func (r *ring) at(i int) *Entry {
	number := r.start + uint64(i)
	return &(*r.chunk(number / chunkSize))[number%chunkSize]
}

// first returns the first entry of the ring, which must not be empty.
func (r *ring) first() *Entry { return &r.head[r.start%chunkSize] }

func (r *ring) last() *Entry { return &r.tail[(r.start+uint64(r.n)-1)%chunkSize] }

// fits reports whether an entry with this due time and id can be added at the end.
func (r *ring) fits(due int64, id uint64) bool {
	if r.n == 0 {
		return true
	}
	last := r.last()
	return last.Due < due || last.Due == due && last.ID <= id
}

// find returns the entry with the id and place of e, or nil if the ring has no such entry.
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
