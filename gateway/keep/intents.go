package keep

import (
	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// intents are stored for messages that are about to leave, where they must not be sent again if the
// gateway is killed. The number of an intent is the token of its position.
type intents struct {
	last store.AtomicPosition // of the latest; it is set while that is written
	safe store.AtomicPosition // up to which all is committed
	seen store.AtomicPosition // safe, when it was looked at last
}

// Leaves implements connector.Intents.
func (k *Keeper) Leaves(l *connector.Lane, m *sms.Message) (token uint64) {
	return k.keepState(l, m, true).Token()
}

// IsStored implements connector.Intents.
func (k *Keeper) IsStored(token uint64) bool {
	return !store.PositionOf(token).After(k.intents.safe.Load())
}

// Stays implements connector.Intents.
func (k *Keeper) Stays(l *connector.Lane, m *sms.Message) { k.KeepState(l, m) }

// waited reports whether there are intents that are not safe.
func (n *intents) waited() bool { return n.last.Load().After(n.safe.Load()) }

// goOn reports, once, that messages may leave because their intents are safe.
func (n *intents) goOn() bool {
	seen := n.seen.Swap(n.safe.Load())
	return n.last.Load().After(seen)
}
