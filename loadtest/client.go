package loadtest

import (
	"net"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pmg/protocols/smpp"
)

// A client is one bound connection of a load. Its goroutine reads whatever has
// arrived, handles every PDU in it, submits as many messages as there is room
// for and writes answers and submits at once. In an open loop the pacer submits
// too, so mu guards all that is below it.
type client struct {
	run  *run
	conn net.Conn
	in   stream

	mu          sync.Mutex
	phase       phase
	sequence    uint32
	outstanding int    // submits that wait for their answer
	slots       []slot // the outstanding submits, by sequence modulo their number
	out         []byte
	batch       batch
	pdu         smpp.PDU // what is being decoded
	latency     *hdrhistogram.Histogram
	refused     map[uint32]int64 // answers by status
	last        int64            // when the last answer came
}

// A phase of a client: bound until the load ends, then unbinding until the peer
// agrees. A peer that unbinds first makes it dismissed: it submits no more, and
// reads on until the peer closes. It is closed when the connection is over for
// whatever reason.
type phase uint8

const (
	bound phase = iota
	dismissed
	unbinding
	closed
)

// A slot is an outstanding submit; it is free while its sequence is 0.
type slot struct {
	sequence uint32
	number   int64
	at       int64 // when it was, or should have been, sent
}

// A batch is what one turn adds to the run.
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
	for c.turn() && c.in.fill() == nil {
	}
	c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	wanted := c.outstanding > 0 || !c.run.supply.exhausted()
	c.run.gone(c.outstanding, c.phase != unbinding && wanted)
	c.phase = closed
}

// turn handles what was read. It reports whether there is more to come.
func (c *client) turn() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.run.now()
	more := c.handle(now)
	if more {
		c.refill(now, c.run.o.Window)
	}
	return c.flush() == nil && more
}

// refill submits while the window has room and there are messages, at most most.
func (c *client) refill(now int64, most int) {
	if c.phase != bound || !c.run.o.Bind.CanSubmit() {
		return
	}
	supply := &c.run.supply
	room := min(most, c.run.o.Window-c.outstanding)
	for ; room > 0; room-- {
		number, ok := supply.takeAgain(now)
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
		if s.sequence == 0 { // else a submit long unanswered stands here: leave its sequence out
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

// handle handles every whole PDU that was read, and tells false when one of
// them ends the session.
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
			c.dismiss()
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
		c.run.supply.putBack(s.number, now+int64(retry))
	}
}

func (c *client) delivered(pdu []byte) {
	if number, ok := receiptNumber(&c.pdu, pdu); ok {
		c.batch.receipts = append(c.batch.receipts, number)
		return
	}
	c.batch.unnumbered++
}

// dismiss follows the peer's unbind: answers to what is outstanding may still come.
func (c *client) dismiss() {
	if c.phase == bound {
		c.phase = dismissed
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
