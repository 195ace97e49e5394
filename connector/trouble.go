package connector

import "time"

// A Trouble is the reason why a connector has no session, or too few: the last failure of
// a connection, login or session. It is immutable.
type Trouble struct {
	Reason string
	Since  int64         // time of the first failure in a row with this reason; Unix nanoseconds
	At     int64         // time of the last failure
	Rest   time.Duration // from At until the next attempt
	Said   int64         // when it was logged last
	Times  int64         // failures since then, which were not logged
}

// Trouble returns the connector's trouble, or nil if it has none. It is safe for
// concurrent use.
func (c *Connector) Trouble() *Trouble { return c.trouble.Load() }

// SetTrouble replaces old by t. It reports whether it did, which it does not if the trouble
// was no longer old.
func (c *Connector) SetTrouble(old, t *Trouble) bool { return c.trouble.CompareAndSwap(old, t) }
