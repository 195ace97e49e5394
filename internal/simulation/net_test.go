package simulation

import "time"

// An end is one side of a connection.
type end struct {
	w       *world
	other   *end
	arrives int64 // when the octets that were written last arrive at the other side
	closed  bool  // nothing is written or received any more
	receive func([]byte)
	gone    func() // the other side has closed
}

// connect makes a connection.
func (w *world) connect() (a, b *end) {
	a, b = &end{w: w}, &end{w: w}
	a.other, b.other = b, a
	return a, b
}

// write sends octets, which arrive in order, in pieces.
func (e *end) write(b []byte) {
	for len(b) > 0 && !e.closed {
		n := len(b)
		if e.w.chance(0.2) {
			n = 1 + e.w.rng.IntN(n)
		}
		piece := append([]byte(nil), b[:n]...)
		b = b[n:]
		e.later(func() { e.other.receive(piece) })
	}
}

// later plans what happens at the other side after all octets that were written.
func (e *end) later(do func()) {
	delay := e.w.between(50*time.Microsecond, 5*time.Millisecond)
	if e.w.chance(0.02) {
		delay = e.w.between(0, 300*time.Millisecond)
	}
	e.arrives = max(e.arrives, e.w.now()+int64(delay))
	e.w.at(e.arrives, func() {
		if !e.other.closed {
			do()
		}
	})
}

// close ends the connection behind what was written.
func (e *end) close() {
	if !e.closed {
		e.later(e.other.gone)
		e.closed = true
	}
}

// reset ends the connection. What is under way may be lost, in both directions.
func (e *end) reset() {
	if e.closed {
		return
	}
	e.closed = true
	e.w.after(e.w.between(0, 5*time.Millisecond), func() {
		if !e.other.closed {
			e.other.gone()
		}
	})
}
