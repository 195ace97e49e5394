package gateway

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

// Leaves implements connector.Policy.
func (g *Gateway) Leaves(l *connector.Lane, m *sms.Message) (note uint64) {
	if !g.Durable() {
		return 0
	}
	b := g.Committer.Begin()
	b.Keep(m, store.State{Lane: laneName(l), UnderWay: true})
	g.notes.last.Store(g.Committer.Number())
	return g.Committer.End()
}

// IsNoted implements connector.Policy.
func (g *Gateway) IsNoted(note uint64) bool { return note <= g.notes.safe.Load() }

// Stays implements connector.Policy.
func (g *Gateway) Stays(l *connector.Lane, m *sms.Message) { g.keepState(l, m) }

// waited reports whether there are notes that are not safe.
func (n *notes) waited() bool { return n.last.Load() > n.safe.Load() }

// goOn reports, once, that messages may leave because their notes are safe.
func (n *notes) goOn() bool {
	seen := n.seen.Swap(n.safe.Load())
	return n.last.Load() > seen
}
