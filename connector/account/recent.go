package account

import "time"

// A recent is a map whose entries expire. An entry expires one to two lifetimes after it was last
// put, and there are at most 2·size entries. It is not safe for concurrent use.
//
// The map has two generations. A young generation that is full or old replaces the old generation,
// whose entries are all dropped. So no search for expired entries is needed.
type recent[K comparable, V any] struct {
	size       int
	life       int64
	young, old map[K]V
	since      int64 // when the young generation began
}

func newRecent[K comparable, V any](size int, life time.Duration) recent[K, V] {
	return recent[K, V]{size: max(size, 1), life: int64(life), young: map[K]V{}}
}

func (r *recent[K, V]) get(now int64, k K) (V, bool) {
	r.age(now)
	v, ok := r.young[k]
	if !ok {
		v, ok = r.old[k]
	}
	return v, ok
}

func (r *recent[K, V]) put(now int64, k K, v V) {
	r.age(now)
	if _, ok := r.young[k]; !ok && len(r.young) >= r.size {
		r.old, r.young, r.since = r.young, map[K]V{}, now
	}
	r.young[k] = v
}

func (r *recent[K, V]) delete(k K) {
	delete(r.young, k)
	delete(r.old, k)
}

// age begins a new generation if the young generation is old enough.
func (r *recent[K, V]) age(now int64) {
	switch age := now - r.since; {
	case age > 2*r.life:
		r.old, r.young, r.since = nil, map[K]V{}, now
	case age > r.life:
		r.old, r.young, r.since = r.young, map[K]V{}, now
	}
}
