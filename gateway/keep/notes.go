package keep

import (
	"sync/atomic"

	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// notes are what the store is told of messages that are about to leave, where they must
// not be sent again if the gateway is killed. A note is the number of its batch.
type notes struct {
	last atomic.Uint64 // the latest; the committer's lock is held while it is set
	safe atomic.Uint64 // batches up to this one are committed
	seen atomic.Uint64 // safe, when it was looked at last
}

// Leaves implements connector.Notes.
func (k *Keeper) Leaves(l *connector.Lane, m *sms.Message) (note uint64) {
	if !k.Durable() {
		return 0
	}
	b := k.Committer.Begin()
	b.Keep(m, store.State{Lane: LaneName(l), UnderWay: true})
	k.notes.last.Store(k.Committer.Number())
	return k.Committer.End()
}

// IsNoted implements connector.Notes.
func (k *Keeper) IsNoted(note uint64) bool { return note <= k.notes.safe.Load() }

// Stays implements connector.Notes.
func (k *Keeper) Stays(l *connector.Lane, m *sms.Message) { k.KeepState(l, m) }

// waited reports whether there are notes that are not safe.
func (n *notes) waited() bool { return n.last.Load() > n.safe.Load() }

// goOn reports, once, that messages may leave because their notes are safe.
func (n *notes) goOn() bool {
	seen := n.seen.Swap(n.safe.Load())
	return n.last.Load() > seen
}
