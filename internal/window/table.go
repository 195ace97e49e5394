package window

// A table contains values by hash, in order of age. The number of a slot is valid until the slot is removed; 0 means none.
//
//	heads ─► slot ─► slot            those whose hashes end alike, by next
//	oldest ─► … ─► newest            all, by newer; and back by older
//	free ─► slot ─► slot             those that were removed, by next
type table[V any] struct {
	keep   int      // maximum number of slots in use
	heads  []uint32 // heads of the buckets; their number is a power of 2
	pieces []*[pieceSize]slot[V]
	used   int // number of slots that were ever used
	n      int // number of slots that are in use

	free, oldest, newest uint32
}

type slot[V any] struct {
	hash               uint64
	next, older, newer uint32
	live               bool
	value              V
}

// pieceSize is the number of slots that are allocated together.
const pieceSize = 256

// setKeep sets the maximum number of slots in use. It removes the oldest if there are more. The others keep their numbers.
func (t *table[V]) setKeep(keep int) {
	if keep == t.keep {
		return
	}
	for t.n > keep {
		t.remove(t.oldest)
	}
	t.keep = keep
	size := 1
	for size < keep {
		size *= 2
	}
	t.heads = make([]uint32, size)
	for i := t.oldest; i != 0; i = t.at(i).newer {
		t.chain(i)
	}
}

func (t *table[V]) at(i uint32) *slot[V] { return &t.pieces[(i-1)/pieceSize][(i-1)%pieceSize] }

func (t *table[V]) head(hash uint64) *uint32 { return &t.heads[hash&uint64(len(t.heads)-1)] }

// chain adds a slot to its bucket, so that find finds it.
func (t *table[V]) chain(i uint32) {
	head := t.head(t.at(i).hash)
	t.at(i).next, *head = *head, i
}

// find returns the slot of a hash.
func (t *table[V]) find(hash uint64) uint32 {
	i := *t.head(hash)
	for i != 0 && t.at(i).hash != hash {
		i = t.at(i).next
	}
	return i
}

// has reports whether a slot is in use.
func (t *table[V]) has(i uint32) bool { return i > 0 && int(i) <= t.used && t.at(i).live }

// add returns a new slot, the newest, for a hash without a slot. Its value is the zero value.
func (t *table[V]) add(hash uint64) uint32 {
	if t.n == t.keep {
		t.remove(t.oldest)
	}
	i := t.free
	if i != 0 {
		t.free = t.at(i).next
	} else {
		if t.used == len(t.pieces)*pieceSize {
			t.pieces = append(t.pieces, new([pieceSize]slot[V]))
		}
		t.used++
		i = uint32(t.used)
	}
	*t.at(i) = slot[V]{hash: hash, live: true}
	t.n++
	t.chain(i)
	t.append(i)
	return i
}

// append makes a slot the newest.
func (t *table[V]) append(i uint32) {
	s := t.at(i)
	if s.older, s.newer = t.newest, 0; t.newest != 0 {
		t.at(t.newest).newer = i
	} else {
		t.oldest = i
	}
	t.newest = i
}

// detach removes a slot from the order of age.
func (t *table[V]) detach(i uint32) {
	s := t.at(i)
	if s.older != 0 {
		t.at(s.older).newer = s.newer
	} else {
		t.oldest = s.newer
	}
	if s.newer != 0 {
		t.at(s.newer).older = s.older
	} else {
		t.newest = s.older
	}
}

// touch makes a slot that is in use the newest.
func (t *table[V]) touch(i uint32) {
	if i != t.newest {
		t.detach(i)
		t.append(i)
	}
}

// remove frees a slot that is in use.
func (t *table[V]) remove(i uint32) {
	s := t.at(i)
	before := t.head(s.hash)
	for *before != i {
		before = &t.at(*before).next
	}
	*before = s.next
	t.detach(i)
	*s = slot[V]{next: t.free}
	t.free = i
	t.n--
}
