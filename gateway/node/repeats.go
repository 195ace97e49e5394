package node

import (
	"sync"
	"time"
)

// Repeats limits log entries about lasting or repeated conditions to one a minute. It is safe for
// concurrent use.
type Repeats struct {
	logged sync.Map // time of the last entry, by event
}

// repeatAfter is the time for which an event is not logged again.
const repeatAfter = time.Minute

// First reports whether to log an event: it was not logged within repeatAfter. For example, while clients wait for an
// instance, each end of a session makes room for a client, and all instances are in use again.
func (n *Repeats) First(what string) bool {
	now := time.Now()
	last, said := n.logged.Load(what)
	if said && now.Sub(last.(time.Time)) < repeatAfter {
		return false
	}
	n.logged.Store(what, now)
	return true
}
