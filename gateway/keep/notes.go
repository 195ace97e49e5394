package keep

import (
	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// notes are stored for messages that are about to leave, where they must not be sent again if the
// gateway is killed. A note is the token of its position.
type notes struct {
	last store.AtomicPosition // of the latest; it is set while that is written
	safe store.AtomicPosition // up to which all is committed
	seen store.AtomicPosition // safe, when it was looked at last
}

// Leaves implements connector.Notes.
func (k *Keeper) Leaves(l *connector.Lane, m *sms.Message) (note uint64) {
	return k.keepState(l, m, true).Token()
}

// IsNoted implements connector.Notes.
func (k *Keeper) IsNoted(note uint64) bool {
	return !store.PositionOf(note).After(k.notes.safe.Load())
}

// Stays implements connector.Notes.
func (k *Keeper) Stays(l *connector.Lane, m *sms.Message) { k.KeepState(l, m) }

// waited reports whether there are notes that are not safe.
func (n *notes) waited() bool { return n.last.Load().After(n.safe.Load()) }

// goOn reports, once, that messages may leave because their notes are safe.
func (n *notes) goOn() bool {
	seen := n.seen.Swap(n.safe.Load())
	return n.last.Load().After(seen)
}
