package classic

import (
	"errors"
	"io"
)

// readSize is how many octets one read asks for. A longer PDU gets a larger buffer.
const readSize = 4 << 10

// read reads until the session ends.
func (c *conn) read() {
	defer c.recovered("reader")
	for c.mayRead() {
		n, err := c.socket.Read(c.in[len(c.in):cap(c.in)])
		if n > 0 {
			now := c.group.engine.now()
			c.Heard.Store(now)
			c.in = c.in[:len(c.in)+n]
			c.receiveAll(now)
		}
		if err != nil {
			c.hangup(readReason(err))
			return
		}
	}
}

func readReason(err error) string {
	if errors.Is(err, io.EOF) {
		return "the peer closed the connection"
	}
	return "connection lost: " + err.Error()
}

// mayRead waits while nothing may be read. It returns false at the end of the session.
func (c *conn) mayRead() bool {
	for !c.Closing() {
		if !c.deaf.Load() && !c.tooMuch() {
			return true
		}
		<-c.resume
	}
	return false
}

// tooMuch reports whether reading must pause: too many requests are unanswered, or too many octets
// unsent.
func (c *conn) tooMuch() bool {
	return int(c.owed.Load()) > c.Connector.ReadLimit() || c.full.Load()
}

// receiveAll handles every whole PDU among the octets that were read. Their answers are
// written together.
func (c *conn) receiveAll(now int64) {
	c.session.Lock()
	defer c.session.Unlock()
	defer c.wake()
	b, need := c.in, 0
	for len(b) > 0 && !c.lost && !c.deaf.Load() && !c.Closing() {
		n, err := c.Connector.Sessions.Frame(b)
		if err != nil {
			c.lost = true
			n = len(b)
		}
		if n > len(b) {
			need = n
			break
		}
		c.receive(now, b[:n])
		b = b[n:]
	}
	if c.lost {
		b = nil
	}
	c.partial(now, len(b) > 0, len(b) < len(c.in))
	c.keep(b, need)
}

// partial notes whether a PDU has begun. fresh reports whether it began in the octets that
// were just read.
func (c *conn) partial(now int64, begun, fresh bool) {
	switch since := c.Partial.Load(); {
	case !begun && since != 0:
		c.Partial.Store(0)
	case begun && (fresh || since == 0):
		c.Partial.Store(now)
	}
}

// keep moves the beginning of a PDU to the front of a buffer that is large enough for all
// of it.
func (c *conn) keep(b []byte, need int) {
	if need <= cap(c.in) && (cap(c.in) == readSize || need > readSize) {
		c.in = c.in[:copy(c.in[:cap(c.in)], b)]
		return
	}
	c.in = append(make([]byte, 0, max(need, readSize)), b...)
}

// receive handles one PDU. It is logged first.
func (c *conn) receive(now int64, frame []byte) {
	r := c.request
	c.request = nil
	r.bytes = append(r.bytes[:0], frame...)
	_ = c.Connector.Sessions.Decode(r.pdu, r.bytes) // the PDU keeps the error; the session answers it
	c.log(now, true, r.pdu, nil, 0)
	c.talk.Receive(now, &c.Link, r)
	if c.request == nil { // the request waits for its answer
		c.owe(r)
		c.request = c.newRequest()
	}
}
