package loadtest

import (
	"math"
	"time"
)

// The longest and the shortest slot. The pacer wakes often enough that messages to be
// sent again do not wait long, but not for every message of a high rate: then a slot has
// more than one.
const (
	maxSlot = 10 * time.Millisecond
	minSlot = 250 * time.Microsecond
)

// A plan sets the time at which to send each message of an open loop, whatever the
// peer does: message i in the first slot that begins at or after i/rate. Slots begin at
// the wake-ups of the pacer, so that the pacer can meet every planned time.
type plan struct {
	start   int64   // time of slot 0
	slot    int64   // nanoseconds between slots
	perSlot float64 // messages
}

func newPlan(start int64, rate float64) *plan {
	gap := float64(time.Second) / rate
	slot := max(minSlot, time.Duration(gap/math.Ceil(gap/float64(maxSlot))))
	return &plan{start: start, slot: int64(slot), perSlot: rate * slot.Seconds()}
}

// due returns how many messages should have been sent by now.
func (p *plan) due(now int64) int64 {
	slots := (now - p.start) / p.slot
	return int64(float64(slots)*p.perSlot) + 1
}

// at returns the planned time of message i.
func (p *plan) at(i int64) int64 {
	return p.start + int64(math.Ceil(float64(i)/p.perSlot))*p.slot
}
