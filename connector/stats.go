package connector

import (
	"maps"
	"math/bits"
	"sync"
	"sync/atomic"
)

// Stats holds what is counted of a connector. All of it may be read at any time.
type Stats struct {
	Counters[atomic.Int64, ByLabel]

	PDUsIn, PDUsOut []atomic.Int64 // by command
	Answer          Histogram      // time from our request to its answer
	Receipt         Delays         // time from a message's acceptance to the receipt of its end

	mu       sync.Mutex
	statuses map[StatusKey]int64
}

// StatusKey identifies the answers of a command with a status other than 0.
type StatusKey struct {
	Command  int
	Received bool
	Status   uint32
}

// NewStats makes the counters of a connector in a direction, for a protocol with a number of
// commands.
func NewStats(direction string, commands int) *Stats {
	s := &Stats{
		PDUsIn: make([]atomic.Int64, commands), PDUsOut: make([]atomic.Int64, commands),
		statuses: map[StatusKey]int64{},
	}
	expect(direction, &s.Counters)
	return s
}

// Messages returns how many messages of the peer were accepted, without receipts.
func (s *Stats) Messages() int64 {
	receipts := s.ReceiptsIn.Load() // before the count that they are part of
	return s.Accepted.Load() - receipts
}

// maxStatuses limits how many statuses are counted separately, because peers can invent
// any number. Further ones are counted together, as OtherStatus.
const maxStatuses = 1000

// OtherStatus is the key for all statuses beyond maxStatuses.
const OtherStatus = 0xFFFFFFFF

// Count counts n PDUs of a command.
func (s *Stats) Count(command int, received bool, n int64) {
	if received {
		s.PDUsIn[command].Add(n)
	} else {
		s.PDUsOut[command].Add(n)
	}
}

// CountStatus counts an answer, if its status is not 0.
func (s *Stats) CountStatus(command int, received bool, status uint32) {
	if status == 0 {
		return
	}
	k := StatusKey{command, received, status}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.statuses[k]; !ok && len(s.statuses) >= maxStatuses {
		k.Status = OtherStatus
	}
	s.statuses[k]++
}

// Statuses returns the counts of answers with a status other than 0.
func (s *Stats) Statuses() map[StatusKey]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.statuses)
}

// A Histogram counts durations in buckets. Their upper bounds are 1 µs, 2 µs, 4 µs and so
// on; the last bucket has none.
type Histogram struct {
	Buckets [buckets]atomic.Int64
	Sum     atomic.Int64 // nanoseconds
}

const buckets = 28 // the highest bound is over a minute

// Observe counts one duration in nanoseconds.
func (h *Histogram) Observe(ns int64) { h.Add(h.Bucket(ns), 1, ns) }

// Bucket returns the bucket of a duration in nanoseconds.
func (h *Histogram) Bucket(ns int64) int {
	return min(bits.Len64(uint64(max(ns-1, 0))/1000), buckets-1)
}

// Add counts n durations of one bucket.
func (h *Histogram) Add(bucket int, n, sum int64) {
	h.Buckets[bucket].Add(n)
	h.Sum.Add(sum)
}

// Delays are a Histogram of durations that may be days: what it counts is DelayScale times as long.
type Delays struct{ Histogram }

// DelayScale makes the bounds of Delays 1 ms, 2 ms and so on, up to over a day.
const DelayScale = 1000

// Observe counts one duration in nanoseconds.
func (d *Delays) Observe(ns int64) { d.Histogram.Observe(ns / DelayScale) }

// Bound returns the upper bound of bucket i in nanoseconds. The last bucket has none.
func (h *Histogram) Bound(i int) int64 { return 1000 << i }
