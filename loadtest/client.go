package loadtest

import (
	"net"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pmg/protocols"
)

// A client is one bound connection of a load. Its goroutine reads all that has arrived,
// handles every PDU, submits as many messages as the window has room for, and writes
// answers and submits together. In an open loop the pacer submits too, so mu guards the
// fields below it.
type client struct {
	run      *run
	conn     net.Conn // replaced by its goroutine with mu and connMu held
	connMu   sync.Mutex
	wire     wire
	in       stream
	login    loginRequest
	account  int              // index of the account
	receipts *accountReceipts // of the account; nil if receipts are not asked for

	mu          sync.Mutex
	phase       phase
	sequence    uint32
	outstanding int    // submits without an answer
	slots       []slot // the outstanding submits, by sequence modulo len(slots)
	out         []byte
	batch       batch
	latency     *hdrhistogram.Histogram
	taken       *hdrhistogram.Histogram // from submits to their receipts
	refused     map[uint32]int64        // answers by status
	last        int64                   // time of the last answer
	lastReceipt int64
}

// A phase is the state of a client.
type phase uint8

const (
	bound        phase = iota // until the load ends
	peerUnbound               // the peer has sent unbind: the client reads until the peer closes
	unbinding                 // the client has sent unbind
	closed                    // the connection is over
	reconnecting              // the connection is over, and another one is being opened
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
	accepted               []int64 // numbers
	receipts               receiptBatch
	mo                     []int64 // numbers of messages from the network
	misrouted              int64   // messages from the network that are for another account
	unnumbered             int64   // receipts that were not asked for or are not the last one, and messages without a number
	malformed              int64
}

// newClient returns the client of a new connection. Accounts take turns.
func newClient(r *run, conn net.Conn, account int, bind protocols.BindType) *client {
	conn = newRawConn(conn)
	size := 16
	for size < 2*r.o.Window {
		size *= 2
	}
	w, _ := newWire(r.o.Protocol) // check has seen the protocol
	c := &client{
		run: r, conn: conn, wire: w, in: newStream(conn, w),
		login:   loginRequest{r.accounts[account], bind},
		account: account,
		slots:   make([]slot, size),
		latency: newHistogram(),
		refused: map[uint32]int64{},
	}
	if r.o.Receipts {
		c.receipts, c.taken = r.receiptsOf[account], newHistogram()
	}
	return c
}

// serve runs the client until its connection is over.
func (c *client) serve() {
	for {
		for c.serveOnce() && c.in.fill() == nil {
		}
		c.close()
		if !c.reconnect() {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ours := c.phase == unbinding; !ours {
		c.run.endedByPeer(c.outstanding > 0 || !c.run.supply.exhausted(), c.login.bind.CanReceive() && c.run.waiting())
	}
	c.run.connectionEnded(c.outstanding)
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
	if c.phase != bound || !c.login.bind.CanSubmit() {
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
		c.sequence = c.sequence%c.wire.maxSequence() + 1
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
	if b := &c.batch.receipts; len(b.accepted)+len(b.received) > 0 {
		c.receipts.match(b, func(taken int64) { record(c.taken, taken) })
	}
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
		switch h := c.wire.header(pdu); h.kind {
		case submitAnswer:
			c.answered(h, pdu, now)
		case deliverKind:
			c.delivered(pdu, now)
			c.out = c.wire.appendDeliverAnswer(c.out, h, pdu)
		case keepAlive:
			c.out = c.wire.appendKeepAliveAnswer(c.out, h)
		case logout:
			c.out = c.wire.appendLogoutAnswer(c.out, h)
			c.stopSubmitting()
		case logoutAnswer:
			return false
		case unknownRequest, loginKind, submitKind:
			c.out = c.wire.appendNotUnderstood(c.out, h)
		}
	}
}

func (c *client) answered(h header, pdu []byte, now int64) {
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
	if h.status == 0 {
		c.batch.accepted = append(c.batch.accepted, s.number)
		if b := &c.batch.receipts; c.receipts != nil {
			b.accepted = append(b.accepted, acceptedMessage{c.run.hash(c.wire.messageID(pdu)), s.number, s.at, len(b.received)})
		}
		return
	}
	c.refused[h.status]++
	if !c.wire.isThrottled(h.status) {
		c.batch.refused++
		return
	}
	c.batch.throttled++
	if retry := c.run.o.Retry; retry > 0 {
		c.run.supply.requeue(s.number, now+int64(retry))
	}
}

// delivered takes a receipt, or a message from the network.
func (c *client) delivered(pdu []byte, now int64) {
	d, err := c.wire.delivery(pdu)
	number, numbered := ParseNumber(d.text)
	switch {
	case err != nil:
		c.batch.malformed++
	case d.receipt && d.final && c.receipts != nil:
		if !numbered {
			number = -1
		}
		c.lastReceipt = now
		b := &c.batch.receipts
		b.received = append(b.received, receivedReceipt{c.run.hash(d.id), now, number, d.state})
	case d.receipt || !numbered:
		c.batch.unnumbered++
	case !c.run.isFor(d.to, c.account):
		c.batch.misrouted++
	default:
		c.batch.mo = append(c.batch.mo, number)
	}
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
	c.sequence = c.sequence%c.wire.maxSequence() + 1
	before := len(c.out)
	c.out = c.wire.appendLogout(c.out, c.sequence)
	ends := len(c.out) == before
	_ = c.flush() // on an error the connection is closed, which ends the session too
	if tcp, ok := c.conn.(interface{ CloseWrite() error }); ok && ends {
		_ = tcp.CloseWrite()
	}
}

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
