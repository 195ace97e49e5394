package connector

import "sync/atomic"

// Memory counts the octets that messages, waiting requests and unsent octets take in the
// whole gateway. It is safe for concurrent use.
type Memory struct {
	limit atomic.Int64
	used  atomic.Int64
	peak  atomic.Int64 // about the highest value since the last Peak
}

// SetLimit changes how many octets may be in use.
func (m *Memory) SetLimit(octets int64) { m.limit.Store(octets) }

// Add counts n octets as used, or, if n is negative, as free again.
func (m *Memory) Add(n int64) {
	if used := m.used.Add(n); used > m.peak.Load() {
		m.peak.Store(used)
	}
}

// Used returns how many octets are in use.
func (m *Memory) Used() int64 { return m.used.Load() }

// Peak returns about the highest number of octets in use since its last call.
func (m *Memory) Peak() int64 { return m.peak.Swap(m.used.Load()) }

// Full reports whether no more messages may be accepted.
func (m *Memory) Full() bool { return m.used.Load() >= m.limit.Load() }
