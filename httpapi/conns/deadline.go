package conns

import (
	"sync"
	"time"
)

// A deadline is the read deadline of a connection. While a header or body is awaited, it is not after limit.
type deadline struct {
	mu     sync.Mutex
	wanted time.Time // deadline that was set; zero: none
	limit  time.Time // zero: none
	awaits bool
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	d := &c.reads
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	return c.Conn.SetReadDeadline(d.until())
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetWriteDeadline(t); err != nil {
		return err
	}
	return c.SetReadDeadline(t)
}

func (d *deadline) until() time.Time {
	if d.awaits && !d.limit.IsZero() && (d.wanted.IsZero() || d.wanted.After(d.limit)) {
		return d.limit
	}
	return d.wanted
}

// Await records whether a header or body is awaited; otherwise reads only notice a disconnect.
func (c *Conn) Await(awaits bool) {
	d := &c.reads
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.awaits = awaits; !d.limit.IsZero() {
		_ = c.Conn.SetReadDeadline(d.until())
	}
}

// limitTo sets the limit.
func (c *Conn) limitTo(limit time.Time) {
	d := &c.reads
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit = limit
	_ = c.Conn.SetReadDeadline(d.until())
}

// Stop limits the time for incomplete headers and bodies.
func (t *Table) Stop(patience time.Duration) {
	t.mu.Lock()
	t.stop = time.Now().Add(patience)
	all := make([]*Conn, 0, len(t.open))
	for c := range t.open {
		all = append(all, c)
	}
	t.mu.Unlock()
	for _, c := range all {
		c.limitTo(t.stop)
	}
}
