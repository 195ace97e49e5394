package loadtest

import "time"

// reconnect opens a client's connection again, if the options say so, and sends what was not
// answered again. It returns false if the run is over.
func (c *client) reconnect() bool {
	r := c.run
	if r.o.Reconnect <= 0 || !c.abandon() {
		return false
	}
	r.away.Add(1)
	defer r.away.Add(-1)
	for {
		select {
		case <-r.ending.Done():
			return false
		case <-time.After(r.o.Reconnect):
		}
		next, err := r.bindOne(r.ending, c.account, c.login.bind)
		if err != nil {
			continue // the gateway is not there yet
		}
		if c.resume(next) {
			r.reconnects.Add(1)
			return true
		}
		next.conn.Close()
		return false
	}
}

// abandon returns the messages that were not answered to the supply. It returns false if
// the run is over.
func (c *client) abandon() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == unbinding {
		return false
	}
	now := c.run.now()
	c.phase = reconnecting
	for i := range c.slots {
		s := &c.slots[i]
		if s.sequence == 0 {
			continue
		}
		s.sequence = 0
		if c.run.supply.requeue(s.number, now) {
			c.run.sentAgain.Add(1)
		}
	}
	c.run.abandoned.Add(int64(c.outstanding))
	c.outstanding = 0
	return true
}

// resume continues with the connection of another client. It returns false if the run is
// over.
func (c *client) resume(next *client) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != reconnecting || c.run.ending.Err() != nil {
		return false
	}
	c.connMu.Lock()
	c.conn = next.conn
	c.connMu.Unlock()
	c.in, c.wire, c.sequence, c.out = next.in, next.wire, next.sequence, c.out[:0]
	c.phase = bound
	return true
}

// close closes the client's connection.
func (c *client) close() {
	c.connMu.Lock()
	defer c.connMu.Unlock()
	c.conn.Close()
}
