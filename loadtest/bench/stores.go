package bench

import (
	"context"
	"fmt"
)

// Stores measures gateways that keep messages in memory, and gateways that store them on disk before they answer, with a pdu
// log: under much load and under little, with a receipt for each message, immediately or late, and by HTTP without and with
// idempotency keys.
func Stores(ctx context.Context, o Options) ([]Point, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var settings []Setting
	for _, s := range []Setting{
		{Pipeline, LogsPDUs, 64, 10, "", Submits},
		{Pipeline, LogsPDUs, 1, 10, "", Submits},
		{Pipeline, LogsPDUs, 1, 1, "", Submits},
		{Pipeline, LogsPDUs, 64, 10, "", WithReceipts},
		{Pipeline, LogsPDUs, 64, 10, "", LateReceipts},
		{Pipeline, LogsPDUs, 64, 1, "", HTTP},
		{Pipeline, LogsPDUs, 64, 1, "", HTTPKeyed},
	} {
		for _, engine := range []string{InMemory, Pebble} {
			s.Store = engine
			settings = append(settings, s)
		}
	}
	return o.measure(ctx, settings, func(s Setting) (*run, error) { return o.runGateway(ctx, s) })
}

// storeChecks compares a gateway that stores messages on disk with one that does not.
func (r *Results) storeChecks() (all []Check) {
	memory := find(r.Stores, Setting{Pipeline, LogsPDUs, 64, 10, InMemory, Submits})
	pebble := find(r.Stores, Setting{Pipeline, LogsPDUs, 64, 10, Pebble, Submits})
	if memory == nil || pebble == nil {
		return nil
	}
	return []Check{
		{"throughput 64x10 pdulog, pebble / memory", ratio(pebble, memory, Throughput), 0.7, true},
		{"CPU per message 64x10 pdulog, pebble / memory", ratio(pebble, memory, CPU), 1.5, false},
	}
}

// describeStores says what storing messages costs.
func (r *Results) describeStores(add func(string, ...any)) {
	for i := range r.Stores {
		memory := &r.Stores[i]
		s := memory.Setting
		s.Store = Pebble
		pebble := find(r.Stores, s)
		if memory.Store != InMemory || pebble == nil || len(memory.Samples) == 0 {
			continue
		}
		m, p := memory.Median(), pebble.Median()
		add("%s at %dx%d: messages that are on disk before they are answered arrive at %.0f a second instead of "+
			"%.0f (%.2f times), each for %s of CPU time instead of %s, and are answered within %.0f µs instead of %.0f µs (p50).",
			memory.traffic(), memory.Connections, memory.Window, p[Throughput], m[Throughput], p[Throughput]/m[Throughput],
			fmt.Sprintf("%.2f µs", p[CPU]), fmt.Sprintf("%.2f µs", m[CPU]), p[P50], m[P50])
	}
}
