package route

import (
	"crypto/sha256"
	"fmt"
	"sync/atomic"

	"pmg/config"
	"pmg/connector"
	"pmg/sms"
)

// Choose routes a message that comes in, as Route does, and counts the message for the chosen route. A message that a later
// step refuses is counted as well, because the route was chosen. Queries that send nothing call Route instead, and so does
// everything that routes a message again. So a message is counted once. A message that was parked, because no route led
// anywhere, is counted for no route.
func (t *Table) Choose(m *sms.Message) *connector.Lane {
	lane, route := t.lead(m)
	if lane != nil {
		route.count.taken.Add(1)
	}
	return lane
}

// A Taken is how many messages a route has taken.
type Taken struct {
	All   int64 // since the start, or since a reload brought the route
	Today int64 // of these, the ones of the day
}

// Taken returns what the routes have taken, in the order of the configuration. day is a number of the present day, not
// 0; the first call on another day is its beginning.
func (t *Table) Taken(day int64) []Taken {
	routes := t.routes.Load().table.routes
	before := t.day.Swap(day)
	begins := before != 0 && before != day
	all := make([]Taken, len(routes))
	for i := range routes {
		c := routes[i].count
		n := c.taken.Load()
		if begins {
			c.before.Store(n)
		}
		all[i] = Taken{n, n - c.before.Load()}
	}
	return all
}

// A count is the number of messages that a route has taken, and what it was when the day began.
type count struct{ taken, before atomic.Int64 }

// continues keeps the counters of old routes for the same routes of the new configuration. Messages that take the old
// routes while they are replaced are counted with the others, because the counters are the same. Of equal routes, only
// the first takes messages.
func (x *index[T]) continues(before *index[T]) {
	counters := map[identity]*count{}
	for i := range before.routes {
		r := &before.routes[i]
		if counters[r.identity] == nil {
			counters[r.identity] = r.count
		}
	}
	for i := range x.routes {
		r := &x.routes[i]
		if c := counters[r.identity]; c != nil {
			r.count = c
			delete(counters, r.identity)
		}
	}
}

// An identity is the same for routes that are written in the same way, wherever they stand.
type identity [sha256.Size]byte

func identityOf(r *config.Route) (id identity) {
	h := sha256.New()
	fmt.Fprintf(h, "%#v", *r) // r includes the prefixes that were read from destination_file
	h.Sum(id[:0])
	return id
}
