package connector

import "time"

// A Trouble is why a connector has no session, or fewer than it should: the last of
// its connections, logins and sessions that failed. It is immutable.
type Trouble struct {
	Reason string
	Since  int64         // when the first in a row failed for that reason; Unix nanoseconds
	At     int64         // when the last did
	Rest   time.Duration // from At until the next attempt
	Said   int64         // when it was last logged
	Times  int64         // how often it has happened since then and was not logged
}

// Trouble returns the connector's trouble, nil if it has none. It is safe for
// concurrent use.
func (c *Connector) Trouble() *Trouble { return c.trouble.Load() }

// SetTrouble puts t in place of old, and reports whether it was still that.
func (c *Connector) SetTrouble(old, t *Trouble) bool { return c.trouble.CompareAndSwap(old, t) }
