package httpsink

import "sync"

// maxRemembered is how many names a recent remembers at least. It remembers twice as many at most.
const maxRemembered = 1 << 18

// maxName is the longest name that is remembered, in octets.
const maxName = 256

// A recent remembers the names that have come last, each with a value.
type recent[V any] struct {
	mu          sync.Mutex
	most        int
	now, before map[string]V
}

func newRecent[V any](most int) *recent[V] { return &recent[V]{most: most, now: map[string]V{}} }

// add remembers a name. If it is known, it returns the value that it came with first.
func (r *recent[V]) add(name string, value V) (first V, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, known = r.now[name]; known {
		return first, true
	}
	if first, known = r.before[name]; !known {
		first = value
	}
	if len(r.now) >= r.most {
		r.before, r.now = r.now, map[string]V{}
	}
	r.now[name] = first
	return first, known
}

func (r *recent[V]) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.now, name)
	delete(r.before, name)
}

// maxShown is how many requests a ring has.
const maxShown = 1000

// A ring keeps what has come last.
type ring[T any] struct {
	mu   sync.Mutex
	last []T
	next int
}

func (r *ring[T]) add(one T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) < maxShown {
		r.last = append(r.last, one)
		return
	}
	r.last[r.next] = one
	r.next = (r.next + 1) % maxShown
}

// all returns what is there, the oldest first.
func (r *ring[T]) all() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(append(make([]T, 0, len(r.last)), r.last[r.next:]...), r.last[:r.next]...)
}

// maxTypes is how many types of events are counted for themselves, and maxType the longest one, in octets.
const (
	maxTypes = 100
	maxType  = 64
)

// types counts events by type.
type types struct {
	mu sync.Mutex
	of map[string]int64
}

func (t *types) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]int64{}
	}
	if _, known := t.of[name]; !known && len(t.of) >= maxTypes {
		name = "other"
	}
	t.of[name]++
}

func (t *types) all() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make(map[string]int64, len(t.of))
	for name, n := range t.of {
		all[name] = n
	}
	return all
}
