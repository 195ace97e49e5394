package nats

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pmg/internal/testkit/natstest"
	"pmg/store/journal"
)

// BenchmarkAppend appends records, one behind the other, to one server and to three: of 50 KB, which are some 250 messages, and of one
// message.
func BenchmarkAppend(b *testing.B) {
	for _, octets := range []int{200, 50_000} {
		b.Run(fmt.Sprintf("servers=1/octets=%d", octets), func(b *testing.B) {
			measure(b, octets, alone("J", natstest.New(b, "n1", "always", "").Start()))
		})
		b.Run(fmt.Sprintf("servers=3/octets=%d", octets), func(b *testing.B) {
			measure(b, octets, options("J", natstest.StartCluster(b, "always")...))
		})
	}
}

func measure(b *testing.B, octets int, o Options) {
	j := opened(b, o)
	record, number := make([]byte, octets), uint64(0)
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
