package classic

import (
	"fmt"

	"pmg/connector"
	"pmg/gateway"
	"pmg/protocols"
	"pmg/sms"
)

// log counts a PDU and logs it. m and id are those of connector.Link.About.
func (c *conn) log(now int64, received bool, p protocols.PDU, m *sms.Message, id uint64) {
	c.Connector.Stats.Count(p.Command(), received, 1)
	c.Connector.Stats.CountStatus(p.Command(), received, p.Status())
	c.group.log.line(now, &c.Link, received, p, m, id)
}

// postLocked puts a PDU behind those that are to be written. It is logged here, so
// that the log has the order of the wire. False: nothing is written any more.
func (c *conn) postLocked(now int64, p protocols.PDU, m *sms.Message, id uint64) bool {
	if c.last || c.Closing() {
		return false
	}
	c.log(now, false, p, m, id)
	c.out = p.AppendWire(c.out)
	if len(c.out)+c.writing > c.unsentLimit() {
		c.full.Store(true)
	}
	return true
}

func (c *conn) unsentLimit() int { return int(c.group.gateway.Config().Limits.Unsent) }

// give leaves a message and its slot to the writer.
func (c *conn) give(slot *connector.Slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.todo = append(c.todo, slot)
	c.wakeLocked()
}

// unwritten returns the slots whose messages the writer, which has ended, has not
// written.
func (c *conn) unwritten() []*connector.Slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(c.taken[c.next:], c.todo...)
}

// wake makes the writer write what there is.
func (c *conn) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wakeLocked()
}

func (c *conn) wakeLocked() {
	if c.asleep {
		c.asleep = false
		c.mu.taken++ // a channel is a lock too
		c.ready.send()
	}
}

// write is the writer's whole life.
func (c *conn) write() {
	defer close(c.written)
	defer c.recovered("writer")
	for c.await() {
		now := c.group.engine.now()
		for c.next < len(c.taken) && c.encode(now, c.taken[c.next]) {
			c.next++
		}
		if err := c.flush(); err != nil {
			c.hangup("cannot write: " + err.Error())
			return
		}
	}
}

// await waits for something to write. False: the session is at its end.
func (c *conn) await() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inHand(0)
	for !c.Closing() {
		switch {
		case c.last && len(c.out) > 0:
			return true
		case c.last:
			c.hangup(c.reason)
		case len(c.todo)+len(c.out) > 0:
			clear(c.taken)
			c.taken, c.todo, c.next = c.todo, c.taken[:0], 0
			return true
		default:
			c.sleep()
		}
	}
	return false
}

// sleep waits until the writer is woken.
func (c *conn) sleep() {
	c.asleep = true
	c.mu.Unlock()
	<-c.ready
	c.mu.Lock()
	c.asleep = false
}

// encode makes a PDU of a message and posts it. False: nothing is written any
// more. A message that the driver cannot bear is given up; the session goes on.
func (c *conn) encode(now int64, slot *connector.Slot) (posted bool) {
	defer func() {
		if v := recover(); v != nil {
			c.logPanic(v, "writer", "cannot encode message; it is given up")
			c.group.engine.lane(slot.Share.Lane).answered(now, slot, sms.Answer{Code: sms.Faulty, At: now})
			posted = true
		}
	}()
	if !c.Session.Accepting() { // a logout has begun since the slot was taken
		c.giveBack(now, slot)
		return true
	}
	slot.Sequence = c.Session.NextSequence()
	c.pdu.Reset()
	c.group.gateway.Encode(now, &c.Link, c.pdu, slot.Message, slot.Sequence)
	slot.Sent = now
	if c.postRequest(now, slot) {
		return true
	}
	if c.Closing() {
		return false // finish gives it back
	}
	c.giveBack(now, slot)
	return true
}

// giveBack returns a message to its lane that is not written.
func (c *conn) giveBack(now int64, slot *connector.Slot) {
	l := c.group.engine.lane(slot.Share.Lane)
	l.do(now, func() { l.Unsent(now, slot) })
}

// postRequest posts the request for a slot's message, unless our logout is ahead of it.
func (c *conn) postRequest(now int64, slot *connector.Slot) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loggedOut || !c.postLocked(now, c.pdu, slot.Message, 0) {
		return false
	}
	c.Inflight.Put(slot) // it is not written yet, so it cannot be answered either
	return true
}

// chunk is how much is written at once, so that progress can be seen.
const chunk = 64 << 10

// flush writes what was posted, in one piece unless it is long.
func (c *conn) flush() error {
	b := c.swap()
	for len(b) > 0 {
		n := min(len(b), chunk)
		c.stuckSince.Store(c.group.engine.now())
		if _, err := c.socket.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	c.stuckSince.Store(0)
	return nil
}

// swap takes what was posted, for which the bytes written before have made room.
func (c *conn) swap() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.out
	c.out, c.spare = c.spare[:0], b
	if cap(c.out) > keepBytes {
		c.out = nil
	}
	c.inHand(len(b))
	return b
}

// inHand notes how much the writer has in hand. The caller holds the lock.
func (c *conn) inHand(n int) {
	c.writing = n
	if c.full.Load() && len(c.out)+n <= c.unsentLimit() {
		c.full.Store(false)
		c.resume.send()
	}
}

// cutOff ends the session of a peer that takes none of the octets that wait for it.
func (c *conn) cutOff(now int64) {
	since, patience := c.stuckSince.Load(), gateway.Stuck
	if c.full.Load() {
		patience = gateway.StuckFull
	}
	if since != 0 && now-since > int64(patience) {
		c.hangup(fmt.Sprintf("the peer does not read: it took nothing for %s", patience))
	}
}
