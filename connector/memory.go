package connector

import "sync/atomic"

// Memory counts the octets that messages, waiting requests and unsent octets take in the
// whole gateway. It is safe for concurrent use.
type Memory struct {
	limit atomic.Int64
	keep  atomic.Int64 // 0: the bodies of messages stay in memory
	used  atomic.Int64
}

// SetLimit changes how many octets may be in use.
func (m *Memory) SetLimit(octets int64) { m.limit.Store(octets) }

// Limit returns how many octets may be in use.
func (m *Memory) Limit() int64 { return m.limit.Load() }

// SetKeep changes how many octets may be in use before a message that will not leave
// soon is kept on disk alone; 0 keeps all of them in memory.
func (m *Memory) SetKeep(octets int64) { m.keep.Store(octets) }

// Add counts octets that came into use, or, if n is negative, went out of it.
func (m *Memory) Add(n int64) { m.used.Add(n) }

// Used returns how many octets are in use.
func (m *Memory) Used() int64 { return m.used.Load() }

// HasSpare reports whether messages that were accepted may take more. A quarter is left for new
// ones.
func (m *Memory) HasSpare() bool {
	limit := m.limit.Load()
	return m.used.Load() < limit-limit/4
}

// Full reports whether no more messages may be accepted.
func (m *Memory) Full() bool { return m.used.Load() >= m.limit.Load() }
