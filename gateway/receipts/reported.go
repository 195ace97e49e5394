package receipts

import "sync"

// reported holds the ids of the messages with a final state in the last receipts. Such a receipt
// may come before its message has ended. Then the end must not replace the state by "on its way".
type reported struct {
	mu   sync.Mutex
	ids  map[uint64]int // how often each id is in ring
	ring [4096]uint64
	next int
}

func (r *reported) add(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids == nil {
		r.ids = map[uint64]int{}
	}
	old := r.ring[r.next]
	if r.ids[old]--; r.ids[old] <= 0 {
		delete(r.ids, old)
	}
	r.ring[r.next] = id
	r.ids[id]++
	r.next = (r.next + 1) % len(r.ring)
}

func (r *reported) has(id uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[id] > 0
}

// HasTold reports whether one of the last receipts was about the final state of a message, by its
// id.
func (d *Matcher) HasTold(id uint64) bool { return d.told.has(id) }
