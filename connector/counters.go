package connector

import (
	"fmt"
	"maps"
	"math/bits"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/sms"
)

// Counters are the counters of a connector. Each counter is described here only; its tags define
// how it is displayed (see admin/rows.go). Stats uses atomic.Int64 and ByLabel as N and L. A status
// uses int64 and Labels.
type Counters[N, L any] struct {
	Opened     N `json:"sessions_opened" metric:"sessions_opened_total" help:"Sessions begun."`
	Failing    N `json:"failing" metric:"failing" help:"Connections and logins that failed in a row."`
	InFlight   N `json:"in_flight" metric:"window_used" help:"Messages sent and not yet answered, over all sessions."`
	Queued     N `json:"queued" metric:"queue_messages" help:"Messages that wait to be sent."`
	Accepted   N `json:"accepted" metric:"messages_accepted_total" column:"accepted" help:"Messages from peers that were accepted."`
	ReceiptsIn N `json:"accepted_receipts" metric:"messages_accepted_receipts_total" help:"Receipts among the messages of an SMSC that were accepted. Those that end at the gateway are not among them."`
	Refused    N `json:"refused" metric:"messages_refused_total" column:"refused" help:"Messages from peers that were refused."`
	Sent       N `json:"sent" metric:"messages_sent_total" column:"sent" help:"Messages that a peer accepted."`
	Failed     N `json:"failed" metric:"messages_failed_total" column:"failed" help:"Messages that were given up."`
	Cancelled  N `json:"cancelled" metric:"messages_cancelled_total" column:"cancelled" help:"Messages that their client or an operator deleted before a peer had accepted them."`
	Expired    N `json:"expired" metric:"messages_expired_total" column:"expired" help:"Messages whose validity ran out while they waited."`
	Retried    N `json:"retried" metric:"messages_retried_total" column:"retried" help:"Times a message was put back into the queue."`
	Late       N `json:"answered_late" metric:"messages_answered_late_total" column:"late" help:"Messages whose answer came after the response timeout."`
	Moved      N `json:"moved" metric:"messages_moved_total" column:"moved" help:"Messages that moved to another target of their route, because this connector was down."`
	FailedOver N `json:"failed_over" metric:"messages_failed_over_total" help:"Messages that were refused for a while, or not answered, and went to another target of their route."`
	Untaken    N `json:"receipts_made" metric:"receipts_made_total" help:"Final receipts that the gateway has made of messages which the SMSC has not taken."`
	Unmatched  N `json:"unmatched" metric:"answers_unmatched_total" help:"Answers without a request."`
	Partly     N `json:"partly" metric:"pdus_partly_total" help:"PDUs of peers that were taken though a part of them cannot be read, such as octets behind a text; the pdu log has them as malformed."`
	Headers    N `json:"proxy_headers_refused" metric:"proxy_headers_refused_total" help:"PROXY headers that could not be read, or came from addresses that are not in proxies."`

	Receipts   L `json:"receipts,omitempty" metric:"receipts_total" label:"state" help:"Receipts of an SMSC that were taken, by what they say of the message: delivered, undeliverable, expired and so on. Each counts once, whether or not its message is known."`
	FieldsLost L `json:"fields_lost,omitempty" metric:"fields_lost_total" label:"field" help:"Times a message was sent without a field that the connector's protocol lacks; docs/conversion.md lists the fields."`
}

// expect adds the expected labels with a count of 0, so that an alert sees the first increment of
// each label.
func expect(direction string, c *Counters[atomic.Int64, ByLabel]) {
	if direction == config.Out {
		for _, state := range append(sms.States(), sms.NoState) {
			c.Receipts.Expect(state)
		}
	}
}

// ByLabel is a counter for each value of a label. The values come from a closed set.
type ByLabel struct {
	counts sync.Map // fmt.Stringer → *atomic.Int64
}

// Expect adds a value of the label with a count of 0.
func (b *ByLabel) Expect(value fmt.Stringer) { b.counts.LoadOrStore(value, new(atomic.Int64)) }

// Add adds 1 to the count of a value. first is true if the value was not counted before.
func (b *ByLabel) Add(value fmt.Stringer) (first bool) {
	n, ok := b.counts.Load(value)
	if !ok {
		n, _ = b.counts.LoadOrStore(value, new(atomic.Int64))
	}
	return n.(*atomic.Int64).Add(1) == 1
}

// Counts returns the counts, with the names of the values as keys.
func (b *ByLabel) Counts() Labels {
	counts := Labels{}
	for value, n := range b.counts.Range {
		counts[value.(fmt.Stringer).String()] += n.(*atomic.Int64).Load()
	}
	return counts
}

// Labels are the counts of a ByLabel.
type Labels map[string]int64

// Stats holds all counters of a connector. They may be read at any time.
type Stats struct {
	Counters[atomic.Int64, ByLabel]

	PDUsIn, PDUsOut []atomic.Int64 // index: number of the command
	Answer          Histogram      // time from our request to its answer
	Receipt         Delays         // time from the acceptance of a message to its final receipt
	Networks        ByNetwork      // counts by network; only of a connector to an SMSC

	mu       sync.Mutex
	statuses map[StatusKey]int64
}

// StatusKey identifies answers to a command that have a certain status other than 0.
type StatusKey struct {
	Command  int
	Received bool
	Status   uint32
}

// NewStats makes the counters of a connector. direction is the connector's direction, commands is
// the protocol's number of commands.
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
	receipts := s.ReceiptsIn.Load() // read before the total that includes receipts
	return s.Accepted.Load() - receipts
}

// maxStatuses limits how many statuses are counted separately, because a peer can send any status.
// Further statuses are counted together, as OtherStatus.
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

// A Histogram counts durations in buckets. The upper bounds of the buckets are 1 µs, 2 µs, 4 µs and
// so on. The last bucket has no upper bound.
type Histogram struct {
	Buckets [buckets]atomic.Int64
	Sum     atomic.Int64 // nanoseconds
}

const buckets = 28 // the highest bound is more than a minute

// Observe counts one duration in nanoseconds.
func (h *Histogram) Observe(ns int64) { h.Add(h.Bucket(ns), 1, ns) }

// Bucket returns the index of the bucket for a duration in nanoseconds.
func (h *Histogram) Bucket(ns int64) int {
	return min(bits.Len64(uint64(max(ns-1, 0))/1000), buckets-1)
}

// Add counts n durations that belong to one bucket. sum is the total of the durations.
func (h *Histogram) Add(bucket int, n, sum int64) {
	h.Buckets[bucket].Add(n)
	h.Sum.Add(sum)
}

// Delays are a Histogram of durations that may be days. Its unit is DelayScale times as long.
type Delays struct{ Histogram }

// DelayScale makes the bounds of Delays 1 ms, 2 ms and so on, up to over a day.
const DelayScale = 1000

// Observe counts one duration in nanoseconds.
func (d *Delays) Observe(ns int64) { d.Histogram.Observe(ns / DelayScale) }

// Bound returns the upper bound of bucket i in nanoseconds. The last bucket has no upper bound.
func (h *Histogram) Bound(i int) int64 { return 1000 << i }
