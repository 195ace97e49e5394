package compat

import (
	"context"
	"sync"
	"time"

	"pmg/config"
	"pmg/connector"
)

// How far a meter looks back: five minutes.
const (
	meterPeriod = 10 * time.Second // between two readings
	readings    = 31
)

// A flow is what the status of Kannel counts of connectors to SMSCs.
type flow struct{ inbound, sent, receipts int64 }

// flowOf returns what a connector has counted since its start.
func flowOf(c *connector.Connector) (f flow) {
	f.inbound, f.sent = c.Stats.Messages(), c.Stats.Sent.Load()
	for _, n := range c.Stats.Receipts.Counts() {
		f.receipts += n
	}
	return f
}

// A meter remembers what connectors to SMSCs have counted in the last five minutes, for rates.
type meter struct {
	began int64

	mu   sync.Mutex
	at   []int64 // times of the readings, the last one at the end
	read []map[*connector.Connector]flow
}

// newMeter makes a meter whose first reading, of nothing, is of now.
func newMeter(now int64) *meter {
	return &meter{began: now, at: []int64{now}, read: []map[*connector.Connector]flow{{}}}
}

// keep reads counters until ctx ends.
func (m *meter) keep(ctx context.Context, now func() int64, all func() []*connector.Connector) {
	t := time.NewTicker(meterPeriod)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			m.take(now(), all())
		case <-ctx.Done():
			return
		}
	}
}

// take reads the counters of the connectors to SMSCs among all.
func (m *meter) take(now int64, all []*connector.Connector) {
	read := map[*connector.Connector]flow{}
	for _, c := range all {
		if c.Config().Direction == config.Out {
			read[c] = flowOf(c)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.at) == readings {
		m.at, m.read = append(m.at[:0], m.at[1:]...), append(m.read[:0], m.read[1:]...)
	}
	m.at, m.read = append(m.at, now), append(m.read, read)
}

// before returns what a connector had counted a time ago, or at the first reading, and how many seconds ago that was.
func (m *meter) before(now int64, ago time.Duration, c *connector.Connector) (flow, float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := len(m.at) - 1
	for i > 0 && m.at[i] > now-int64(ago) {
		i--
	}
	return m.read[i][c], max(time.Duration(now-m.at[i]).Seconds(), 1)
}
