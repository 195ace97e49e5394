package stages

import (
	"crypto/tls"
	"errors"
	"io"
	"net/netip"
	"slices"

	"pmg/internal/tlsfiles"
	"pmg/internal/turns"
	"pmg/stages/cipher"
	"pmg/stages/flow"
)

// cipherer decrypts what the reader has read and encrypts what the pdu builder has built, for the sessions of
// connectors with tls. The other sessions' octets do not pass it. It owns the TLS of each session (cipher.Conn), and
// the octets that wait for the end of a handshake.
//
// The handshake of a session is cut into turns: each uses the octets that have come, on another goroutine,
// because its signatures take long. Few turns run at the same time, those of HTTPS among them, so that a storm of handshakes
// leaves processors for the sessions that are bound.
//
//	octets come ──► turn ──► turned ──► more octets are needed ──► octets come
//	                             └────► done: PDUs that waited are sent, and what came behind is decrypted
type cipherer struct {
	*Deps
	shaking map[*cipherState]bool // sessions whose handshakes are not done
}

// cipherState is the cipher's state of a session.
type cipherState struct {
	config  *tls.Config
	conn    *cipher.Conn // nil before the first octet of either side
	ready   bool         // the handshake is done
	failed  bool         // the session failed: nothing more is read or written
	over    bool         // the session is over
	turning bool         // a turn is running: it owns conn, and octets that arrive wait in the fields below
	came    []byte
	waiting []*Job   // our PDUs that wait for the end of the handshake
	result  struct { // result of the last turn
		done bool
		err  error
	}
}

// mostBeforeReady is how many octets a peer may send during one turn of its handshake.
const mostBeforeReady = 64 << 10

func newCipherer(d *Deps) (flow.Stage[Job], error) {
	return &cipherer{Deps: d, shaking: map[*cipherState]bool{}}, nil
}

func (c *cipherer) Work(out *flow.Out[Job], j *Job) {
	h := j.Handle
	s := h.cipher
	switch j.Kind {
	case Bytes:
		c.received(out, h, s, j)
	case Send:
		c.send(out, h, s, j)
	case Turned:
		c.turned(out, h, s)
		discard(out, j)
	case Over:
		s.over = true
		c.abandon(s)
		c.drop(out, s)
		out.To(toParser, j)
	}
}

// received handles octets from the peer.
func (c *cipherer) received(out *flow.Out[Job], h *handle, s *cipherState, j *Job) {
	b := j.Octets.b
	switch {
	case s.failed:
	case s.turning && len(s.came)+len(b) > mostBeforeReady:
		c.fail(out, h, s, "the peer sends more than a handshake of TLS needs")
	case s.turning:
		s.came = append(s.came, b...)
	case s.ready:
		s.conn.Put(b)
		c.decrypt(out, h, s, j)
		return
	default:
		c.begin(out, h, s, b)
	}
	c.buffers.giveBack(j)
	discard(out, j)
}

// decrypt decrypts the octets of j, and passes on the plain text in the job j.
func (c *cipherer) decrypt(out *flow.Out[Job], h *handle, s *cipherState, j *Job) {
	text := c.buffers.get()
	var err error
	text.b, err = s.conn.Read(text.b)
	c.buffers.giveBack(j)
	j.Octets = text
	if len(text.b) > 0 {
		out.To(toParser, j)
	} else {
		c.buffers.giveBack(j)
		discard(out, j)
	}
	switch {
	case errors.Is(err, io.EOF):
		s.failed = true
		hangup(out, h, "the peer closed the connection")
	case err != nil:
		c.fail(out, h, s, "TLS: "+err.Error())
	default:
		c.write(out, h, s, "")
	}
}

// send encrypts octets for the peer. The first PDU to an SMSC begins the handshake.
func (c *cipherer) send(out *flow.Out[Job], h *handle, s *cipherState, j *Job) {
	switch {
	case s.failed || s.over && !s.ready:
		c.buffers.giveBack(j)
		discard(out, j)
	case s.ready:
		c.encrypt(out, h, s, j)
	default:
		s.waiting = append(s.waiting, j)
		if s.conn == nil && !h.Connector.Config().Listens() {
			c.begin(out, h, s, nil)
		}
	}
}

func (c *cipherer) encrypt(out *flow.Out[Job], h *handle, s *cipherState, j *Job) {
	records := c.buffers.get()
	var err error
	records.b, err = s.conn.Write(records.b, j.Octets.b, j.Last)
	c.buffers.giveBack(j)
	if err != nil {
		c.buffers.put(records)
		discard(out, j)
		c.fail(out, h, s, "TLS: "+err.Error())
		return
	}
	j.Octets = records
	out.To(toWriter, j)
}

// begin begins a turn of a handshake with octets from the peer.
func (c *cipherer) begin(out *flow.Out[Job], h *handle, s *cipherState, b []byte) {
	switch {
	case s.conn != nil:
	case h.Connector.Config().Listens():
		s.conn = cipher.Server(s.config)
	default:
		s.conn = cipher.Client(s.config)
	}
	s.conn.Put(slices.Clone(b)) // a copy, because the buffer is returned to the pool
	s.turning, c.shaking[s] = true, true
	j := out.Get()
	j.Kind = Turned
	j.retain(h)
	out.CountRef()
	addr := h.Remote.Addr()
	out.Go(toCipher, j, func() { s.result.done, s.result.err = c.handshake(addr, s.conn) })
}

// handshake runs one turn of a handshake. It first waits until it is the turn of the peer's
// network.
func (c *cipherer) handshake(peer netip.Addr, conn *cipher.Conn) (done bool, err error) {
	t := c.Gateway.Node.Handshakes
	t.Take(turns.Network(peer), nil) // the number of waiting turns is not limited
	defer t.Give()
	return conn.Handshake()
}

// turned continues with a session after a turn of its handshake.
func (c *cipherer) turned(out *flow.Out[Job], h *handle, s *cipherState) {
	s.turning = false
	if s.over || s.failed {
		c.abandon(s)
		return
	}
	came := s.came
	s.came = nil
	switch {
	case s.result.err != nil:
		c.fail(out, h, s, cipher.Reason(s.result.err))
	case s.result.done:
		delete(c.shaking, s)
		s.conn.Put(came)
		c.ready(out, h, s)
	default:
		c.write(out, h, s, "")
		if len(came) > 0 {
			c.begin(out, h, s, came)
		}
	}
}

// abandon gives up the handshake of a session, unless a turn of the handshake is running or the
// handshake is done.
func (c *cipherer) abandon(s *cipherState) {
	if s.turning || !c.shaking[s] {
		return
	}
	delete(c.shaking, s)
	s.conn.Abandon()
}

// Close gives up all handshakes that are not done.
func (c *cipherer) Close() error {
	for s := range c.shaking {
		s.conn.Abandon()
	}
	return nil
}

// ready sends the PDUs that waited for the handshake, and decrypts the octets that followed the
// handshake.
func (c *cipherer) ready(out *flow.Out[Job], h *handle, s *cipherState) {
	s.ready = true
	if peer := s.conn.Peer(); peer != nil {
		h.Identity = tlsfiles.IdentityOf(peer) // set before the parser gets a PDU of the peer
	}
	c.write(out, h, s, "")
	waiting := s.waiting
	s.waiting = nil
	for _, j := range waiting {
		c.send(out, h, s, j)
	}
	if s.failed {
		return
	}
	behind := out.Get()
	behind.Kind, behind.Octets = Bytes, c.buffers.get()
	behind.retain(h)
	out.CountRef()
	c.decrypt(out, h, s, behind)
}

// write sends the peer the octets that TLS itself has produced. If reason is not empty, they are
// the session's last octets.
func (c *cipherer) write(out *flow.Out[Job], h *handle, s *cipherState, reason string) {
	b := s.conn.Take()
	if len(b) == 0 && reason == "" {
		return
	}
	j := out.Get()
	j.Kind, j.Octets = Send, &buffer{b}
	if reason != "" {
		j.Last, j.extras = true, &extras{Reason: reason}
	}
	j.retain(h)
	out.CountRef()
	out.To(toWriter, j)
}

// fail ends a session, after sending the TLS alert that reports the error.
func (c *cipherer) fail(out *flow.Out[Job], h *handle, s *cipherState, reason string) {
	s.failed = true
	c.drop(out, s)
	if s.turning { // the running turn owns the connection
		hangup(out, h, reason)
		return
	}
	c.write(out, h, s, reason)
	c.abandon(s)
}

// drop drops the PDUs that wait for the handshake.
func (c *cipherer) drop(out *flow.Out[Job], s *cipherState) {
	for _, j := range s.waiting {
		c.buffers.giveBack(j)
		discard(out, j)
	}
	s.waiting = nil
}
