package nats

import (
	"slices"
	"testing"
	"time"

	"pmg/internal/natstest"
	"pmg/journal"
)

// BenchmarkAppend appends records of 50 KB, which are some 250 messages, one behind the other, to one server and to three.
func BenchmarkAppend(b *testing.B) {
	b.Run("servers=1", func(b *testing.B) {
		measure(b, alone("J", natstest.New(b, "n1", "always", "").Start()))
	})
	b.Run("servers=3", func(b *testing.B) {
		measure(b, options("J", natstest.StartCluster(b, "always")...))
	})
}

func measure(b *testing.B, o Options) {
	j := opened(b, o)
	record, number := make([]byte, 50_000), uint64(0)
	var all []time.Duration
	for b.Loop() {
		began := time.Now()
		number++
		if _, err := j.Append(journal.ID{Node: 1, Run: 1, Number: number}, record); err != nil {
			b.Fatal(err)
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-us")
}
