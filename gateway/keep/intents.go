package keep

import (
	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// intents are stored for messages that are about to leave, if such messages must not be sent again
// after the gateway was killed. The number of an intent is the token of its position.
type intents struct {
	last store.AtomicPosition // position of the latest intent; set while the intent is written
	safe store.AtomicPosition // everything up to this position is committed
	seen store.AtomicPosition // the value of safe at the last check
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

// waited reports whether some intents are not safe yet.
func (n *intents) waited() bool { return n.last.Load().After(n.safe.Load()) }

// goOn reports whether messages may leave because their intents are safe. It returns true once.
func (n *intents) goOn() bool {
	seen := n.seen.Swap(n.safe.Load())
	return n.last.Load().After(seen)
}
