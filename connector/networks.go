package connector

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"pmg/sms"
)

// MaxNetworks is how many networks are counted separately of a connector. Further ones are counted together, as network 0.
const MaxNetworks = 1000

// ByNetwork counts what became of messages by their networks. It is safe for concurrent use.
type ByNetwork struct {
	counts atomic.Pointer[map[sms.Network]*networkCounts] // replaced by one with more; nil: empty
	mu     sync.Mutex                                     // one replaces it
}

type networkCounts struct {
	sent, delivered, undelivered, delay atomic.Int64

	share atomic.Int64 // of the latest that were delivered, in millionths
}

const (
	latestEnds = 256 // how many ends the share is about
	fewestEnds = 20  // from which it counts
	wholeShare = 1_000_000
)

// MostQuality is the highest Quality.
const MostQuality = 1000

// NetworkCounts are what became of the messages to a network.
type NetworkCounts struct {
	Network     sms.Network // 0: all others
	Sent        int64       // that an SMSC has accepted
	Delivered   int64
	Undelivered int64 // that have ended otherwise, by their receipts
	Delay       int64 // of all that were delivered, together, in nanoseconds
}

// of returns the counts of a network.
func (b *ByNetwork) of(n sms.Network) *networkCounts {
	if all := b.counts.Load(); all != nil {
		if c := (*all)[n]; c != nil {
			return c
		}
	}
	return b.add(n)
}

// add makes the counts of a network.
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

// Ended counts the receipt of a message's end, which came some nanoseconds after the message.
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
	before := c.share.Load() // an end that two goroutines count at the same time may be lost, which does not matter
	c.share.Store(before + (share-before)/min(c.delivered.Load()+c.undelivered.Load(), latestEnds))
}

// Quality returns how many of a thousand messages to a network were delivered lately, MostQuality while too few have ended.
func (b *ByNetwork) Quality(n sms.Network) int {
	all := b.counts.Load()
	if all == nil {
		return MostQuality
	}
	c := (*all)[n]
	if c == nil || c.delivered.Load()+c.undelivered.Load() < fewestEnds {
		return MostQuality
	}
	return int(c.share.Load() * MostQuality / wholeShare)
}

// Counts returns what was counted, in the order of the networks.
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
