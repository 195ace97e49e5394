package classic

import (
	"fmt"

	"pmg/connector"
	"pmg/gateway/session"
	"pmg/protocols"
	"pmg/sms"
)

// log counts a PDU and logs it. m and id are those of connector.Link.About.
func (c *conn) log(now int64, received bool, p protocols.PDU, m *sms.Message, id uint64) {
	c.Connector.Stats.Count(p.Command(), received, 1)
	c.Connector.Stats.CountStatus(p.Command(), received, p.Status())
	c.group.log.line(now, &c.Link, received, p, m, id)
}

// postLocked appends a PDU to the octets to be written. It logs the PDU here, so that the
// log has the order of the wire. It returns false if nothing is written any more.
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

func (c *conn) unsentLimit() int { return int(c.group.gateway.Node.Config().Limits.Unsent) }

// Give implements connector.Courier: it hands a slot with its message to the writer.
func (c *conn) Give(_ int64, slot *connector.Slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.todo = append(c.todo, slot)
	c.wakeLocked()
}

// unwritten returns the slots whose messages were not written. The writer has ended.
func (c *conn) unwritten() []*connector.Slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(c.taken[c.next:], c.todo...)
}

// wake makes the writer write the posted PDUs and slots.
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

// write runs the writer.
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

// await waits until there is something to write. It returns false at the end of the session.
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

// encode makes a PDU of a message and posts it. It returns false if nothing is written any
// more. A message that makes the driver panic is given up, and the session continues.
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
	if code := c.group.gateway.Convert.Refuses(slot); code != sms.OK {
		c.group.engine.lane(slot.Share.Lane).answered(now, slot, sms.Answer{Code: code, At: now})
		return true
	}
	slot.Sequence = c.Session.NextSequence()
	c.pdu.Reset()
	copied := c.group.gateway.Convert.EncodeSlot(now, slot, c.pdu)
	slot.Sent = now
	posted = c.postRequest(now, slot)
	if copied != nil {
		copied.Release()
	}
	if posted {
		return true
	}
	if c.Closing() {
		return false // finish returns the slot to the lane
	}
	c.giveBack(now, slot)
	return true
}

// giveBack returns a message that was not written to its lane.
func (c *conn) giveBack(now int64, slot *connector.Slot) {
	l := c.group.engine.lane(slot.Share.Lane)
	l.do(now, func() { l.Unsent(now, slot) })
}

// postRequest posts the request for a slot's message, unless our logout was posted before.
func (c *conn) postRequest(now int64, slot *connector.Slot) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loggedOut || !c.postLocked(now, c.pdu, slot.Message, 0) {
		return false
	}
	c.Inflight.Put(slot) // before it is written, so that the answer finds it
	return true
}

// chunk is how many octets one write passes to the kernel. It is small enough to see
// whether the peer takes any.
const chunk = 64 << 10

// flush writes the posted octets, in pieces of at most chunk.
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

// swap takes the posted octets, and leaves the buffer that was written before for the next.
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

// inHand notes how many octets the writer is writing. The caller holds the lock.
func (c *conn) inHand(n int) {
	c.writing = n
	if c.full.Load() && len(c.out)+n <= c.unsentLimit() {
		c.full.Store(false)
		c.resume.send()
	}
}

// cutOff ends the session of a peer that takes none of the octets that wait for it.
func (c *conn) cutOff(now int64) {
	since, patience := c.stuckSince.Load(), session.Stuck
	if c.full.Load() {
		patience = session.StuckFull
	}
	if since != 0 && now-since > int64(patience) {
		c.hangup(fmt.Sprintf("the peer does not read: it took nothing for %s", patience))
	}
}
