package stages

import (
	"math/rand/v2"
	"sync/atomic"

	"pmg/gateway"
)

// groups counts the sessions of each group of stages, and chooses the group of a session that begins. A session belongs to
// its group for its life.
type groups []group

type group struct{ in, out atomic.Int32 } // sessions of clients; sessions to SMSCs

// newGroups makes n groups, but at least one.
func newGroups(n int) groups { return make(groups, max(n, 1)) }

// number returns how many groups there are.
func (g groups) number() int { return max(len(g), 1) }

// join returns the group for a session that begins, and counts the session. A client's is the one with fewer clients of
// two chosen at random. SMSCs' go round, because few sessions have all the messages.
func (g groups) join(listens bool) int {
	switch {
	case len(g) == 0: // a stage that is tested alone
		return 0
	case listens && len(g) > 1:
		a, b := rand.IntN(len(g)), rand.IntN(len(g)-1)
		if b >= a {
			b++
		}
		if g[b].in.Load() < g[a].in.Load() {
			a = b
		}
		g[a].in.Add(1)
		return a
	case listens:
		g[0].in.Add(1)
		return 0
	}
	least := 0
	for i := range g {
		if g[i].out.Load() < g[least].out.Load() {
			least = i
		}
	}
	g[least].out.Add(1)
	return least
}

// leave forgets a session that has ended.
func (g groups) leave(i int, listens bool) {
	switch {
	case len(g) == 0:
	case listens:
		g[i].in.Add(-1)
	default:
		g[i].out.Add(-1)
	}
}

// sessions returns how many sessions each group has.
func (g groups) sessions() []gateway.Pipeline {
	all := make([]gateway.Pipeline, len(g))
	for i := range g {
		all[i].Clients, all[i].SMSCs = int64(g[i].in.Load()), int64(g[i].out.Load())
	}
	return all
}
