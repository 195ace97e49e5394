package store

import "sync/atomic"

// A Position is a place in what is committed: that of a batch. The zero Position is in front of all, so
// that what has it waits for no commit.
type Position struct{ number uint64 }

// IsZero reports whether the position is in front of all.
func (p Position) IsZero() bool { return p.number == 0 }

// After reports whether the position is behind another.
func (p Position) After(other Position) bool { return p.number > other.number }

// Token returns the position as a number, for those who keep it and compare it with no other. The
// number of the zero Position is 0.
func (p Position) Token() uint64 { return p.number }

// PositionOf returns the position whose token this is.
func PositionOf(token uint64) Position { return Position{token} }

// An AtomicPosition is a Position that goroutines read while another sets it.
type AtomicPosition struct{ number atomic.Uint64 }

// Load returns the position.
func (a *AtomicPosition) Load() Position { return Position{a.number.Load()} }

// Store sets the position.
func (a *AtomicPosition) Store(p Position) { a.number.Store(p.number) }

// Swap sets the position, and returns what it was.
func (a *AtomicPosition) Swap(p Position) Position { return Position{a.number.Swap(p.number)} }
