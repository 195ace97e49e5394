package route

import (
	"math"
	"math/bits"

	"pmg/connector"
	"pmg/sms"
	"pmg/sms/number"
)

// quality returns how many of a thousand messages to a network the target has delivered lately, if that is known.
func (t target) quality(n sms.Network) int {
	if t.lane == nil {
		return connector.MostQuality
	}
	quality, _ := t.lane.Home().Stats.Networks.Quality(n)
	return quality
}

// cost returns what the target's SMSC charges for a message, at a time of the wall clock; noCost if that is not known.
func (t target) cost(m *sms.Message, wall int64) int64 {
	if t.costs == nil {
		return noCost
	}
	price, ok := t.costs.Of(number.Of(m.Dest()), m.Network, wall)
	if !ok {
		return noCost
	}
	return int64(price)
}

// noCost is higher than any price.
const noCost = math.MaxInt64 / 4

// A choice is the choice of a target for a message, by the policy of its route.
type choice struct {
	route    *Route[target]
	m        *sms.Message
	together uint64 // equal for all parts of one message
	wall     int64
}

// choiceOf prepares the choice for a message. Only what the policy of its route needs is found out.
func choiceOf(t *Table, route *Route[target], m *sms.Message) choice {
	c := choice{route: route, m: m}
	if route.weighted || route.best || route.cheapest {
		c.together = t.togetherOf(m)
	}
	if route.cheapest {
		c.wall = t.node.Clock.WallNow()
	}
	return c
}

// pick returns the target for a message. If no target is up, it returns the one that it would return if all were up, and the
// message waits there.
func (c *choice) pick() target {
	if c.m.Tried != 0 {
		if i, ok := c.untried(tried(c.m, c.route.number), target.up); ok {
			return c.route.Targets[i].To
		}
	}
	i, ok := c.untried(0, target.up)
	if !ok {
		i, _ = c.untried(0, func(target) bool { return true })
	}
	return c.route.Targets[i].To
}

// untried returns the position of a target that has not been tried and is up.
func (c *choice) untried(tried uint16, up func(target) bool) (position int, ok bool) {
	switch quality := func(to target) int { return to.quality(c.m.Network) }; {
	case c.route.best:
		return c.route.PickBest(tried, c.together, up, quality)
	case c.route.cheapest:
		cost := func(to target) int64 { return to.cost(c.m, c.wall) }
		return c.route.PickCheapest(tried, c.together, up, cost, quality)
	}
	return c.route.PickUntried(tried, c.together, up)
}

const (
	// alike is the difference in quality above which a target is better than one in front of it.
	alike = 20
	// About one of triedOf messages goes to any target that is up, so that it is known when another target has become better.
	triedOf = 32
)

// PickBest returns the untried target with the best quality, which is at most connector.MostQuality. Of targets that are
// about as good it returns the first one.
func (r *Route[T]) PickBest(tried uint16, together uint64, up func(T) bool, quality func(T) int) (position int, ok bool) {
	if together == 0 {
		together = r.picks.Add(1)
	}
	hash, n, best := together*golden, uint64(0), 0
	for i := range r.Targets {
		if isIn(tried, i) || !up(r.Targets[i].To) {
			continue
		}
		n++
		if q := quality(r.Targets[i].To); !ok || q >= best+alike {
			position, best, ok = i, q, true
		}
	}
	if hash%triedOf != 0 || n < 2 {
		return position, ok
	}
	place, _ := bits.Mul64(hash, n)
	for i := range r.Targets {
		if isIn(tried, i) || !up(r.Targets[i].To) {
			continue
		}
		if place == 0 {
			return i, true
		}
		place--
	}
	return position, ok // a target went down after it was counted
}

// PickCheapest returns the untried target of the lowest cost, of those that deliver as much as they must. Of targets that cost
// the same it returns the first one. Targets that deliver less come behind the others, and get a few messages all the same, so
// that it is known when one has become better.
func (r *Route[T]) PickCheapest(
	tried uint16, together uint64, up func(T) bool, cost func(T) int64, quality func(T) int,
) (position int, ok bool) {
	least := r.least
	if least > 0 {
		if together == 0 {
			together = r.picks.Add(1)
		}
		if together*golden%triedOf == 0 {
			least = 0
		}
	}
	lowest := int64(math.MaxInt64)
	for i := range r.Targets {
		if isIn(tried, i) || !up(r.Targets[i].To) {
			continue
		}
		c := cost(r.Targets[i].To)
		if least > 0 && quality(r.Targets[i].To) < least {
			c += 2 * noCost
		}
		if !ok || c < lowest {
			position, lowest, ok = i, c, true
		}
	}
	return position, ok
}
