package receipts

import (
	"sync"

	"pmg/internal/window"
)

// reported holds the ids of the messages with a final state in the last receipts. Such a receipt
// may come before its message has ended. Then the end must not replace the state by "on its way".
type reported struct {
	mu   sync.Mutex
	seen *window.Seen // ids, by the number of the receipt as time
	n    int64        // number of the last receipt
}

// lastReceipts is how many receipts count as the last ones.
const lastReceipts = 4096

func newReported() *reported {
	return &reported{seen: window.NewSeen(lastReceipts, lastReceipts)}
}

func (r *reported) add(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	r.seen.Renew(r.n, id)
}

func (r *reported) has(id uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen.Has(r.n, id)
}

// HasTold reports whether one of the last receipts was about the final state of a message, by its
// id.
func (d *Matcher) HasTold(id uint64) bool { return d.told.has(id) }
