package connector

import "sync/atomic"

// Memory counts the octets in use in the whole gateway: by messages, by waiting requests, and by
// data that is not sent yet. It is safe for concurrent use.
type Memory struct {
	limit atomic.Int64
	keep  atomic.Int64 // how many octets may be in use before messages are kept only on disk; 0: messages stay in memory
	used  atomic.Int64
}

// SetLimit changes how many octets may be in use.
func (m *Memory) SetLimit(octets int64) { m.limit.Store(octets) }

// Limit returns how many octets may be in use.
func (m *Memory) Limit() int64 { return m.limit.Load() }

// SetKeep sets how many octets may be in use before a message that will not leave soon is kept only
// on disk. 0 keeps all messages in memory.
func (m *Memory) SetKeep(octets int64) { m.keep.Store(octets) }

// Add adds n to the octets in use. n is negative for octets that are freed.
func (m *Memory) Add(n int64) { m.used.Add(n) }

// Used returns how many octets are in use.
func (m *Memory) Used() int64 { return m.used.Load() }

// HasSpare reports whether messages that are already accepted may take more memory. A quarter of
// the memory is reserved for new messages.
func (m *Memory) HasSpare() bool {
	limit := m.limit.Load()
	return m.used.Load() < limit-limit/4
}

// Full reports whether no more messages may be accepted.
func (m *Memory) Full() bool { return m.used.Load() >= m.limit.Load() }
