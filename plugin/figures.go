package plugin

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Figures are the counters of a pool since its start, and durations of the last one to two minutes.
type Figures struct {
	Asked    int64
	Failed   int64 // questions without a verdict: on_failure has decided
	Rested   int64 // messages for which a resting plugin was not asked: on_failure has decided
	Crowded  int64 // messages for which no place was free: refused as throttled, or tried again
	Refused  int64 // messages that the plugin refused
	Held     int64 // messages that the plugin held
	Changed  int64 // messages of which the plugin changed address, text, time or tags
	InFlight int
	Waiting  int

	Work Times // time from the question to the answer; measured for one question in sampled if the plugin does not wait
	Wait Times // time from the message to the question

	RestsUntil time.Time // end of the rest after consecutive failures; zero: the plugin does not rest
	FailsSince time.Time // time of the first of these failures; set with RestsUntil
	Failures   int       // consecutive failures; set with RestsUntil
	Failure    string    // text of the last failure
}

// Times are statistics of durations.
type Times struct {
	Min, Mean, P50, P99, Max time.Duration
}

// longestTime is the longest duration that is recorded; longer durations count as longestTime.
const longestTime = 10 * time.Minute

// A timer collects durations over the last one to two minutes.
type timer struct {
	mu        sync.Mutex
	now, last *hdrhistogram.Histogram // durations of this minute, and of the previous minute
	minute    int64
}

func newTimes() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(longestTime), 2) // in nanoseconds
}

func (t *timer) begin(at time.Time) {
	minute := at.Unix() / 60
	if minute == t.minute && t.now != nil {
		return
	}
	switch {
	case t.now == nil:
		t.now, t.last = newTimes(), newTimes()
	case minute == t.minute+1:
		t.now, t.last = t.last, t.now
		t.now.Reset()
	default:
		t.now.Reset()
		t.last.Reset()
	}
	t.minute = minute
}

func (t *timer) add(at time.Time, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begin(at)
	_ = t.now.RecordValue(int64(min(d, longestTime)))
}

func (t *timer) times(at time.Time) Times {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begin(at)
	all := hdrhistogram.Import(t.now.Export())
	all.Merge(t.last)
	if all.TotalCount() == 0 {
		return Times{}
	}
	return Times{
		Min: time.Duration(all.Min()), Mean: time.Duration(all.Mean()), P50: time.Duration(all.ValueAtQuantile(50)),
		P99: time.Duration(all.ValueAtQuantile(99)), Max: time.Duration(all.Max()),
	}
}
