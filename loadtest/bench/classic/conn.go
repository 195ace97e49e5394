package classic

import (
	"net"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"pmg/connector"
	"pmg/gateway/session"
	"pmg/internal/sock"
	"pmg/protocols"
)

// A conn is the connection of an instance. Its reader ends it.
type conn struct {
	connector.Link
	group  *group
	socket net.Conn

	session lock // guards Link's session, account and counts, and these
	talk    *session.Conversation[*request]
	request *request    // for the next PDU; nil while it is in use
	timer   *time.Timer // calls tick
	timerAt int64       // when it calls tick; 0: it is not set

	// These belong to the reader.
	in   []byte // octets that were read and not yet handled
	lost bool   // framing is lost, so nothing more is handled

	owed   atomic.Int32 // requests that wait for room or for the time of their answer
	full   atomic.Bool  // too many octets are unsent, so nothing is read
	deaf   atomic.Bool  // the session ends when the posted PDUs are written, and nothing is read any more
	resume signal       // owed or unsent octets have become less

	mu        lock // guards these
	todo      []*connector.Slot
	out       []byte // PDUs to be written
	writing   int    // octets that the writer is writing
	loggedOut bool   // our logout was posted, so no request may follow
	last      bool   // the last PDU was posted; the session ends when all are written
	reason    string
	asleep    bool // the writer waits for ready

	// These belong to the writer.
	ready   signal
	written chan struct{} // closed when the writer has ended
	taken   []*connector.Slot
	next    int // index in taken
	spare   []byte
	pdu     protocols.PDU

	stuckSince atomic.Int64 // since when the writer waits for the socket; 0: it does not
}

func (g *group) newConn(i *connector.Instance, socket net.Conn) *conn {
	c := &conn{
		group: g, socket: socket, pdu: g.Driver.NewPDU(),
		in: make([]byte, 0, readSize), resume: newSignal(), ready: newSignal(), written: make(chan struct{}),
	}
	c.Open(i, remote(socket), g.engine.now(), c)
	c.talk = session.NewConversation(g.gateway.Sessions, c, 1)
	c.request = c.newRequest()
	return c
}

// A request is a PDU of the peer, with the octets that it points into. It is kept until it
// is answered.
type request struct {
	pdu   protocols.PDU
	bytes []byte
	id    uint64 // of the message that the answer is about
	owed  bool   // it is counted in conn.owed
}

// keepBytes is the size of the largest buffer that is kept for its next use.
const keepBytes = 64 << 10

func (c *conn) newRequest() *request { return c.group.requests.Get().(*request) }

// owe counts r among the requests that wait.
func (c *conn) owe(r *request) {
	r.owed = true
	c.owed.Add(1)
	c.group.engine.waiting.Add(1)
}

// free releases r, which was answered or never will be.
func (c *conn) free(r *request) {
	if r.owed {
		c.group.engine.waiting.Add(-1)
		if int(c.owed.Add(-1)) == c.Connector.ReadLimit()/2 {
			c.resume.send()
		}
	}
	r.pdu.Reset()
	*r = request{pdu: r.pdu, bytes: r.bytes[:0]}
	if cap(r.bytes) > keepBytes {
		r.bytes = nil
	}
	if c.request == nil {
		c.request = r
	} else {
		c.group.requests.Put(r)
	}
}

// begin starts the session. A session to an SMSC sends its login.
func (c *conn) begin() {
	c.locked("login", func(now int64) {
		r := c.newRequest()
		if a := c.Session.Start(now, r.pdu); a.Kind == protocols.Send {
			c.Send(now, &c.Link, r, false, "")
		} else {
			c.free(r)
		}
	})
	c.group.gateway.Sessions.Connected(&c.Link) // from here on the keeper checks the timers
}

// serve runs the reader. It returns when the connection is closed.
func (c *conn) serve() {
	go c.write()
	if c.group.engine.ctx.Err() != nil { // Close may have run before the session was in the list
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

// finish releases the resources of the session. Reader and writer have ended.
func (c *conn) finish() {
	g, now := c.group, c.group.engine.now()
	c.session.Lock()
	defer c.session.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.talk.Over(now, &c.Link)
	if c.Lane != nil {
		g.engine.lane(c.Lane).takeBack(now, c)
	}
	g.ended.Add(c.session.taken + c.mu.count())
}

// hangup asks the reader to end the session, unless it was asked before. Any
// goroutine may call it, holding any lock.
func (c *conn) hangup(reason string) {
	if c.BeginClosing(reason) {
		_ = c.socket.SetReadDeadline(time.Unix(1, 0))
		c.ready.send()
		c.resume.send()
	}
}

// recovered is deferred by every caller of the driver: a panic there ends the session,
// and no other.
func (c *conn) recovered(where string) {
	if v := recover(); v != nil {
		c.logPanic(v, where, "goroutine panicked; its session is ended")
		c.hangup("fault in " + where)
	}
}

func (c *conn) logPanic(v any, where, message string) {
	c.group.gateway.Node.Log.Error().Str("goroutine", where).Stringer("session", c).Interface("panic", v).
		Bytes("stack", debug.Stack()).Msg(message)
}

func (c *conn) locks() int64 { return c.session.count() + c.mu.count() }
