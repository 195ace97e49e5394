package classic

import (
	"math"
	"net"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"pmg/connector"
	"pmg/gateway"
	"pmg/internal/sock"
	"pmg/protocols"
	"pmg/sms"
)

// A conn is the connection of an instance. Its reader ends it.
type conn struct {
	connector.Link
	group  *group
	socket net.Conn

	session lock // guards Link's session, account and counts, and these
	ended   bool // our last PDU is on its way; requests are not answered any more
	over    bool

	// These belong to the reader.
	in      []byte // what was read and is not yet acted on
	lost    bool   // framing is lost, nothing more is acted on
	request *request

	owed   atomic.Int32 // requests that wait, for room or for their time
	full   atomic.Bool  // so much is unsent that nothing is read
	resume signal       // one of these has become better

	mu      lock // guards these
	todo    []*connector.Slot
	out     []byte // PDUs to be written
	delayed gateway.Delayed[*request]
	writing int  // bytes the writer has in hand
	last    bool // nothing follows; the session ends when everything is written
	reason  string
	asleep  bool // the writer waits for ready

	// These belong to the writer.
	ready   signal
	written chan struct{} // closed when it has ended
	taken   []*connector.Slot
	next    int // of taken
	spare   []byte
	pdu     protocols.PDU
	timer   *time.Timer // sends ready when a delayed answer is due

	stuckSince atomic.Int64 // the writer waits for the socket; 0: it does not
}

func (g *group) newConn(i *connector.Instance, socket net.Conn) *conn {
	c := &conn{
		group: g, socket: socket, pdu: g.Driver.NewPDU(),
		in: make([]byte, 0, readSize), resume: newSignal(), ready: newSignal(), written: make(chan struct{}),
	}
	c.Open(i, remote(socket), g.engine.now(), c)
	c.request = c.newRequest()
	return c
}

// A request is a PDU of the peer, and the bytes that it points into, until it is
// answered.
type request struct {
	conn   *conn
	pdu    protocols.PDU
	bytes  []byte
	after  int64 // it is not answered before this time
	last   bool  // its answer is the session's last PDU
	reason string
	owed   bool // it counts in conn.owed
}

// keepBytes is the largest buffer that is kept for its next use.
const keepBytes = 64 << 10

func (c *conn) newRequest() *request {
	r := c.group.requests.Get().(*request)
	r.conn = c
	return r
}

// owe counts r among the requests that wait.
func (r *request) owe() {
	if !r.owed {
		r.owed = true
		r.conn.owed.Add(1)
		r.conn.group.engine.kept.Add(1)
	}
}

// free gives r back; it was answered, or never will be.
func (r *request) free() {
	c := r.conn
	if r.owed {
		c.group.engine.kept.Add(-1)
		if int(c.owed.Add(-1)) == c.Connector.ReadLimit()/2 {
			c.resume.send()
		}
	}
	r.pdu.Reset()
	*r = request{pdu: r.pdu, bytes: r.bytes[:0]}
	if cap(r.bytes) > keepBytes {
		r.bytes = nil
	}
	c.group.requests.Put(r)
}

// begin starts the session; one of ours logs in.
func (c *conn) begin() {
	defer c.recovered("login")
	r := c.newRequest()
	c.act(c.Opened, r, c.Session.Start(c.Opened, r.pdu))
	r.free()
	c.group.gateway.Connected(&c.Link)
}

// serve is the reader's whole life: it ends when the connection is closed.
func (c *conn) serve() {
	go c.write()
	if c.group.engine.ctx.Err() != nil { // who closes the engine may not have seen the session
		c.hangup("the gateway has stopped")
	}
	c.read()
	c.drain()
	_ = c.socket.Close()
	c.group.engine.freed.send()
	c.ready.send()
	<-c.written
	c.finish()
}

// drain reads what the peer has sent beyond the end, because closing a socket with
// unread bytes resets the connection, and the peer would lose our last answer.
func (c *conn) drain() {
	if raw, err := c.socket.(syscall.Conn).SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { sock.Drain(int(fd)) })
	}
}

// finish gives back what the session had. Reader and writer have ended.
func (c *conn) finish() {
	g, now := c.group, c.group.engine.now()
	c.session.Lock()
	c.over = true
	c.session.Unlock()
	if c.owed.Load() > 0 {
		g.engine.each(func(g *group) { g.forget(c) })
		c.delayed.Drop(func(*request) bool { return true }, (*request).free)
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	g.takeBack(now, c)
	c.session.Lock()
	defer c.session.Unlock()
	g.gateway.Over(now, &c.Link)
	c.request.free()
	g.ended.Add(c.session.taken + c.mu.count())
}

// forget drops the submits of a session that wait for room.
func (g *group) forget(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.crowd.Drop(func(r *request) bool { return r.conn == c }, (*request).free)
}

// takeBack takes a session's slots, and the messages that it has not got across.
func (g *group) takeBack(now int64, c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.box.Over(&c.Link)
	for _, slots := range [][]*connector.Slot{c.taken[c.next:], c.todo} { // nobody else has them any more
		for _, slot := range slots {
			g.box.Unsent(now, slot)
		}
	}
	c.Inflight.Overdue(math.MaxInt64, func(slot *connector.Slot) { g.box.Answered(now, slot, sms.Timeout) })
	g.dispatch(now)
}

// hangup asks the reader to end the session, unless it was asked before. Any
// goroutine may call it, with any lock.
func (c *conn) hangup(reason string) {
	if c.BeginClosing(reason) {
		_ = c.socket.SetReadDeadline(time.Unix(1, 0))
		c.ready.send()
		c.resume.send()
	}
}

// recovered is deferred by whoever calls the driver: a fault there ends the
// session at hand, and only that.
func (c *conn) recovered(where string) {
	if v := recover(); v != nil {
		c.logPanic(v, where, "goroutine failed; its session is ended")
		c.hangup("fault in " + where)
	}
}

func (c *conn) logPanic(v any, where, message string) {
	c.group.gateway.Log.Error().Str("goroutine", where).Stringer("session", c).Interface("panic", v).
		Bytes("stack", debug.Stack()).Msg(message)
}

func (c *conn) locks() int64 { return c.session.count() + c.mu.count() }
