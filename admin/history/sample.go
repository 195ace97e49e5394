package history

import (
	"math"
	"time"

	"pmg/connector"
)

// The figures of a sample.
const (
	In       = iota // messages accepted, without receipts, a second
	Out             // messages sent, a second
	Receipts        // receipts of SMSCs, a second
	Refused         // messages refused, a second
	Waiting         // messages that wait; in the sample of the whole gateway: those for SMSCs
	Oldest          // age of the next message to be sent, in seconds
	Median          // median of the time to the answer to a message, in seconds
	P95             // the 95th percentile of that time
	Clients         // waiting receipts, messages and events for clients; whole gateway only
	Memory          // octets; whole gateway only

	figures
)

// Names returns the names of the figures in JSON.
func Names() [figures]string {
	return [figures]string{
		"in", "out", "receipts", "refused", "waiting", "oldest_seconds", "answer_median_seconds", "answer_p95_seconds",
		"waiting_for_clients", "memory_octets",
	}
}

// A Sample contains the figures of a connector, or of the whole gateway, at one time. The value of an unknown figure is NaN.
type Sample [figures]float32

// unknown is the value of a figure that is not known.
func unknown() float32 { return float32(math.NaN()) }

// Known reports whether a figure is known.
func (s *Sample) Known(figure int) bool { return s[figure] == s[figure] }

// A Reading is the counters of a gateway at the time of a sample.
type Reading struct {
	Memory     int64
	Oldest     float64 // age of the oldest message that waits for an SMSC, in seconds
	Connectors []Counts
}

// Counts are the figures of a connector: counters since its start, and messages that wait now.
type Counts struct {
	Name     string
	Out      bool  // the connector leads to an SMSC: its sent messages and answers count in the sum
	Accepted int64 // messages without receipts
	Sent     int64
	Receipts int64
	Refused  int64
	Waiting  int64
	Oldest   float64 // seconds
	Answers  Answers
}

// Answers are the numbers of answers in each bucket of a connector.Histogram.
type Answers [len(connector.Histogram{}.Buckets)]int64

// AnswersOf returns the counts of a histogram.
func AnswersOf(h *connector.Histogram) (a Answers) {
	for i := range h.Buckets {
		a[i] = h.Buckets[i].Load()
	}
	return a
}

// sample returns the sample of a connector from its earlier counts, and the answers since then.
func (c *Counts) sample(before *Counts, passed time.Duration) (s Sample, answers Answers) {
	rate := func(n, before int64) float32 { return float32(float64(max(0, n-before)) / passed.Seconds()) }
	for i, n := range c.Answers {
		answers[i] = max(0, n-before.Answers[i])
	}
	s[In], s[Out] = rate(c.Accepted, before.Accepted), rate(c.Sent, before.Sent)
	s[Receipts], s[Refused] = rate(c.Receipts, before.Receipts), rate(c.Refused, before.Refused)
	s[Waiting], s[Oldest] = float32(c.Waiting), float32(c.Oldest)
	s[Median], s[P95], s[Memory], s[Clients] = answers.quantile(0.5), answers.quantile(0.95), unknown(), unknown()
	return s, answers
}

// quantile returns the time, in seconds, within which a share of the answers came. Answers in a bucket count as evenly spread.
func (a *Answers) quantile(part float64) float32 {
	var all int64
	for _, n := range a {
		all += n
	}
	if all == 0 {
		return unknown()
	}
	var bounds connector.Histogram
	rest, low := part*float64(all), 0.0
	for i, n := range a[:len(a)-1] {
		high := float64(bounds.Bound(i)) / 1e9
		if n > 0 && rest <= float64(n) {
			return float32(low + (high-low)*rest/float64(n))
		}
		rest, low = rest-float64(n), high
	}
	return float32(low) // the last bucket has no upper bound
}
