package connector

import "sync/atomic"

// Memory is the account of what messages, requests that wait and unsent octets
// take, over the whole gateway. It is safe for concurrent use.
type Memory struct {
	limit atomic.Int64
	used  atomic.Int64
}

// SetLimit changes how many octets may be in use.
func (m *Memory) SetLimit(octets int64) { m.limit.Store(octets) }

// Add counts octets that came into use, or, if n is negative, went out of it.
func (m *Memory) Add(n int64) { m.used.Add(n) }

// Used returns how many octets are in use.
func (m *Memory) Used() int64 { return m.used.Load() }

// Full reports whether no more messages are to be accepted.
func (m *Memory) Full() bool { return m.used.Load() >= m.limit.Load() }
