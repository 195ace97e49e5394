package loadtest

import (
	"net"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pmg/protocols/smpp"
)

// A client is one bound connection of a load. Its goroutine reads all that has arrived,
// handles every PDU, submits as many messages as the window has room for, and writes
// answers and submits together. In an open loop the pacer submits too, so mu guards the
// fields below it.
type client struct {
	run  *run
	conn net.Conn
	in   stream

	mu          sync.Mutex
	phase       phase
	sequence    uint32
	outstanding int    // submits without an answer
	slots       []slot // the outstanding submits, by sequence modulo len(slots)
	out         []byte
	batch       batch
	pdu         smpp.PDU // the PDU being decoded
	latency     *hdrhistogram.Histogram
	refused     map[uint32]int64 // answers by status
	last        int64            // time of the last answer
}

// A phase is the state of a client.
type phase uint8

const (
	bound       phase = iota // until the load ends
	peerUnbound              // the peer has sent unbind: the client reads until the peer closes
	unbinding                // the client has sent unbind
	closed                   // the connection is over
)

// A slot is an outstanding submit; it is free while its sequence is 0.
type slot struct {
	sequence uint32
	number   int64
	at       int64 // the time at which it was, or should have been, sent
}

// A batch holds the counts of one serveOnce, which adds them to the run.
type batch struct {
	sent, answered, resent int64
	throttled, refused     int64
	unexpected             int64
	accepted, receipts     []int64 // numbers
	unnumbered             int64   // receipts and other messages without a number
}

func newClient(r *run, conn net.Conn) *client {
	conn = newRawConn(conn)
	size := 16
	for size < 2*r.o.Window {
		size *= 2
	}
	return &client{
		run: r, conn: conn, in: newStream(conn),
		slots:   make([]slot, size),
		latency: newHistogram(),
		refused: map[uint32]int64{},
	}
}

// serve runs the client until its connection is over.
func (c *client) serve() {
	for c.serveOnce() && c.in.fill() == nil {
	}
	c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	needed := c.outstanding > 0 || !c.run.supply.exhausted()
	c.run.connectionEnded(c.outstanding, c.phase != unbinding && needed)
	c.phase = closed
}

// serveOnce handles the PDUs that were read and submits messages. It reports whether the
// session goes on.
func (c *client) serveOnce() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.run.now()
	more := c.handle(now)
	if more {
		c.refill(now, c.run.o.Window)
	}
	return c.flush() == nil && more
}

// refill submits at most most messages, while the window has room and the supply has
// messages.
func (c *client) refill(now int64, most int) {
	if c.phase != bound || !c.run.o.Bind.CanSubmit() {
		return
	}
	supply := &c.run.supply
	room := min(most, c.run.o.Window-c.outstanding)
	for ; room > 0; room-- {
		number, ok := supply.takeRequeued(now)
		if !ok {
			break
		}
		c.batch.resent++
		c.submit(number, now)
	}
	first, n := supply.take(now, room)
	for number := first; number < first+int64(n); number++ {
		c.submit(number, supply.intended(number, now))
	}
}

func (c *client) submit(number, at int64) {
	for {
		c.sequence = c.sequence%smpp.MaxSequence + 1
		s := &c.slots[c.sequence%uint32(len(c.slots))]
		if s.sequence == 0 { // otherwise skip the sequence, because an unanswered submit has the slot
			*s = slot{c.sequence, number, at}
			break
		}
	}
	c.outstanding++
	c.batch.sent++
	c.out = c.run.template.append(c.out, c.sequence, number)
}

// flush adds the batch to the run, then writes: an answer is never counted
// before its submit. A connection that cannot be written is closed.
func (c *client) flush() error {
	c.run.add(&c.batch)
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	if err != nil {
		c.conn.Close()
	}
	return err
}

// handle handles every whole PDU that was read. It returns false when one of them ends
// the session.
func (c *client) handle(now int64) bool {
	for {
		pdu, err := c.in.next()
		if err != nil {
			return false
		}
		if pdu == nil {
			return true
		}
		h := headerOf(pdu)
		switch h.command {
		case smpp.SubmitSMResp, smpp.GenericNack:
			c.answered(h, now)
		case smpp.DeliverSM:
			c.delivered(pdu)
			c.out = appendDeliverSMResp(c.out, h.sequence)
		case smpp.EnquireLink:
			c.out = appendHeader(c.out, smpp.EnquireLinkResp, smpp.StatusOK, h.sequence)
		case smpp.Unbind:
			c.out = appendHeader(c.out, smpp.UnbindResp, smpp.StatusOK, h.sequence)
			c.stopSubmitting()
		case smpp.UnbindResp:
			return false
		default:
			if !h.command.IsResponse() {
				c.out = appendHeader(c.out, smpp.GenericNack, smpp.StatusInvCmdID, h.sequence)
			}
		}
	}
}

func (c *client) answered(h header, now int64) {
	s := &c.slots[h.sequence%uint32(len(c.slots))]
	if h.sequence == 0 || s.sequence != h.sequence {
		c.batch.unexpected++
		return
	}
	s.sequence = 0
	c.outstanding--
	c.last = now
	c.batch.answered++
	record(c.latency, now-s.at)
	if h.status == smpp.StatusOK {
		c.batch.accepted = append(c.batch.accepted, s.number)
		return
	}
	c.refused[h.status]++
	if h.status != smpp.StatusThrottled && h.status != smpp.StatusMsgQFul {
		c.batch.refused++
		return
	}
	c.batch.throttled++
	if retry := c.run.o.Retry; retry > 0 {
		c.run.supply.requeue(s.number, now+int64(retry))
	}
}

func (c *client) delivered(pdu []byte) {
	if number, ok := receiptNumber(&c.pdu, pdu); ok {
		c.batch.receipts = append(c.batch.receipts, number)
		return
	}
	c.batch.unnumbered++
}

// stopSubmitting follows the peer's unbind. Answers to outstanding submits may still
// arrive.
func (c *client) stopSubmitting() {
	if c.phase == bound {
		c.phase = peerUnbound
		_ = c.conn.SetReadDeadline(time.Now().Add(c.run.o.Timeout)) // on an error the next read fails too
	}
}

// unbind begins the end of the session; the peer's answer ends it.
func (c *client) unbind() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != bound {
		return
	}
	c.phase = unbinding
	c.sequence = c.sequence%smpp.MaxSequence + 1
	c.out = appendHeader(c.out, smpp.Unbind, smpp.StatusOK, c.sequence)
	_ = c.flush() // on an error the connection is closed, which ends the session too
}
