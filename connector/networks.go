package connector

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"pmg/sms"
)

// MaxNetworks is how many networks a connector counts separately. Further networks are counted
// together, as network 0.
const MaxNetworks = 1000

// ByNetwork counts the outcomes of messages by network. It is safe for concurrent use.
type ByNetwork struct {
	counts atomic.Pointer[map[sms.Network]*networkCounts] // copied on write when a network is added; nil: empty
	mu     sync.Mutex                                     // guards the replacement of counts
}

type networkCounts struct {
	sent, delivered, undelivered, delay atomic.Int64

	share atomic.Int64 // the share of delivered messages among the latest ones, in millionths
}

const (
	latestEnds = 256 // over how many of the latest ends the share is averaged
	fewestEnds = 20  // how many messages must have ended before the share is used
	wholeShare = 1_000_000
)

// MostQuality is the highest result of Quality.
const MostQuality = 1000

// NetworkCounts are the outcomes of the messages to one network.
type NetworkCounts struct {
	Network     sms.Network // 0: all other networks together
	Sent        int64       // messages that an SMSC has accepted
	Delivered   int64
	Undelivered int64 // messages that ended undelivered, by their receipts
	Delay       int64 // sum of the delivery times of all delivered messages, in nanoseconds
}

// of returns the counts of a network, and creates them if needed.
func (b *ByNetwork) of(n sms.Network) *networkCounts {
	if all := b.counts.Load(); all != nil {
		if c := (*all)[n]; c != nil {
			return c
		}
	}
	return b.add(n)
}

// add creates the counts of a network.
func (b *ByNetwork) add(n sms.Network) *networkCounts {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[sms.Network]*networkCounts{}
	if before := b.counts.Load(); before != nil {
		if len(*before) >= MaxNetworks {
			n = 0
		}
		if c := (*before)[n]; c != nil {
			return c
		}
		all = maps.Clone(*before)
	}
	c := &networkCounts{}
	all[n] = c
	b.counts.Store(&all)
	return c
}

// Sent counts a message that an SMSC has accepted.
func (b *ByNetwork) Sent(n sms.Network) { b.of(n).sent.Add(1) }

// Ended counts the final receipt of a message. delay is the time from the message to the receipt,
// in nanoseconds.
func (b *ByNetwork) Ended(n sms.Network, delivered bool, delay int64) {
	c := b.of(n)
	share := int64(0)
	if delivered {
		c.delivered.Add(1)
		c.delay.Add(max(delay, 0))
		share = wholeShare
	} else {
		c.undelivered.Add(1)
	}
	before := c.share.Load() // if two goroutines count at the same time, one end may be lost, which does not matter
	c.share.Store(before + (share-before)/min(c.delivered.Load()+c.undelivered.Load(), latestEnds))
}

// Quality returns how many of a thousand recent messages to a network were delivered. While too few messages have ended it is
// not known, and MostQuality.
func (b *ByNetwork) Quality(n sms.Network) (quality int, known bool) {
	all := b.counts.Load()
	if all == nil {
		return MostQuality, false
	}
	c := (*all)[n]
	if c == nil || c.delivered.Load()+c.undelivered.Load() < fewestEnds {
		return MostQuality, false
	}
	return int(c.share.Load() * MostQuality / wholeShare), true
}

// Counts returns the counts of all networks, sorted by network.
func (b *ByNetwork) Counts() []NetworkCounts {
	all := b.counts.Load()
	if all == nil {
		return nil
	}
	rows := make([]NetworkCounts, 0, len(*all))
	for _, n := range slices.Sorted(maps.Keys(*all)) {
		c := (*all)[n]
		rows = append(rows, NetworkCounts{n, c.sent.Load(), c.delivered.Load(), c.undelivered.Load(), c.delay.Load()})
	}
	return rows
}
