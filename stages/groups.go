package stages

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"pmg/gateway"
)

// groups counts the sessions of each group of stages, and chooses the group of a session that begins. A session belongs to
// its group for its life.
type groups struct {
	all     []group
	sampled int64 // when the listener last looked at what the groups have read
}

type group struct {
	clients, smscs atomic.Int32 // numbers of sessions
	read           atomic.Int64 // octets that the group's reader has read
	_              [40]byte     // another group's reader writes its own count

	// The fields below belong to the listener.
	before int64 // octets at its last look
	rate   int64 // octets that the group read a second, between its last two looks
}

// sampleEvery is how often the listener looks at what the groups read, while sessions begin.
const sampleEvery = int64(time.Second)

// newGroups makes n groups, but at least one.
func newGroups(n int) *groups { return &groups{all: make([]group, max(n, 1))} }

// number returns how many groups there are.
func (g *groups) number() int { return len(g.all) }

// joinClient returns the group for a client's session that begins, and counts the session: the better one of two chosen
// at random. Only the listener calls it.
func (g *groups) joinClient(now int64) int {
	best := 0
	if n := len(g.all); n > 1 {
		g.sample(now)
		a, b := rand.IntN(n), rand.IntN(n-1)
		if b >= a {
			b++
		}
		best = a
		if g.all[b].isBetter(&g.all[a]) {
			best = b
		}
	}
	g.all[best].clients.Add(1)
	return best
}

// sample finds out how much the groups read a second, unless it has done so a short time ago.
func (g *groups) sample(now int64) {
	took := now - g.sampled
	if took < sampleEvery {
		return
	}
	for i := range g.all {
		one := &g.all[i]
		read := one.read.Load()
		one.rate = int64(float64(read-one.before) / float64(took) * 1e9)
		one.before = read
	}
	g.sampled = now
}

// isBetter reports whether a client should join the group rather than another one: the one that reads clearly less, because
// clients with many messages may stay for days; if they read about as much, the one with fewer clients.
func (g *group) isBetter(than *group) bool {
	if most := max(g.rate, than.rate); max(g.rate-than.rate, than.rate-g.rate) > most/8 {
		return g.rate < than.rate
	}
	return g.clients.Load() < than.clients.Load()
}

// joinSMSC returns the group for a session to an SMSC that begins, and counts the session. They go round, because few sessions
// have all the messages.
func (g *groups) joinSMSC() int {
	least := 0
	for i := range g.all {
		if g.all[i].smscs.Load() < g.all[least].smscs.Load() {
			least = i
		}
	}
	g.all[least].smscs.Add(1)
	return least
}

// leave forgets a session that has ended.
func (g *groups) leave(i int, isClient bool) {
	if isClient {
		g.all[i].clients.Add(-1)
	} else {
		g.all[i].smscs.Add(-1)
	}
}

// sessions returns how many sessions each group has.
func (g *groups) sessions() []gateway.Pipeline {
	all := make([]gateway.Pipeline, len(g.all))
	for i := range g.all {
		all[i].Clients, all[i].SMSCs = int64(g.all[i].clients.Load()), int64(g.all[i].smscs.Load())
	}
	return all
}
