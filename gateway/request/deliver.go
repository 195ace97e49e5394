package request

import (
	"hash/maphash"
	"sync"

	"pmg/connector"
	"pmg/gateway/intake"
)

// turns handle the receipts of a message in order of arrival: a receipt waits until the previous one has ended.
type turns struct {
	seed maphash.Seed
	of   [256]sync.Mutex
}

func newTurns() *turns { return &turns{seed: maphash.MakeSeed()} }

// wait waits until no other request handles a receipt with an id, and returns the function that passes
// the turn to the next one.
func (t *turns) wait(id []byte) (end func()) {
	m := &t.of[maphash.Bytes(t.seed, id)%uint64(len(t.of))]
	m.Lock()
	return m.Unlock
}

// Deliver accepts a message from a mobile, or a receipt, that an SMSC delivers by a request. It returns the result after the
// message is stored. from is the source of this request, without an account.
func (d *Requests) Deliver(from *connector.Source, fill Fill) Result {
	g := d.newGroup(from, 1)
	defer func() {
		if g.endTurn != nil {
			g.endTurn()
		}
	}()
	s := d.submission(from, &Item{Fill: fill}, g.acceptor.Room())
	s.Way = intake.Delivered
	g.acceptor.Submit(d.node.Clock.Now(), 0, s)
	g.goOn()
	return g.results[0]
}

// InTurn implements accept.Executor.
func (g *group) InTurn(id []byte) { g.endTurn = g.requests.turns.wait(id) }
