package cipher

import (
	"context"
	"crypto/tls"
	"errors"
	"iter"
	"net"
	"time"
)

// A Conn is one side of a TLS connection. It is not safe for concurrent use.
//
// Its handshake is written as code that waits for the peer, in crypto/tls. It runs as a coroutine that
// Handshake resumes and that is left where it needs more octets. Behind it, reading stops where it needs more with an
// error that crypto/tls takes for a temporary one, after which it goes on where it was.
type Conn struct {
	tls      *tls.Conn
	memory   memory
	resume   func() (struct{}, bool)
	stop     func()
	finished bool
	err      error // of the handshake
}

// Server returns the side of a Conn that accepts it.
func Server(c *tls.Config) *Conn { return newConn(tls.Server, c) }

// Client returns the side of a Conn that begins it.
func Client(c *tls.Config) *Conn { return newConn(tls.Client, c) }

func newConn(side func(net.Conn, *tls.Config) *tls.Conn, config *tls.Config) *Conn {
	c := &Conn{}
	c.tls = side(&c.memory, config)
	c.resume, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.memory.wait = func() bool { return yield(struct{}{}) }
		c.err = c.tls.HandshakeContext(context.Background())
	})
	return c
}

// Put gives the Conn octets that the peer has sent.
func (c *Conn) Put(b []byte) { c.memory.in = append(c.memory.in, b...) }

// Take appends the octets to b that the peer is to be sent.
func (c *Conn) Take(b []byte) []byte {
	b = append(b, c.memory.out...)
	if c.memory.out = c.memory.out[:0]; cap(c.memory.out) > keepOut {
		c.memory.out = nil
	}
	return b
}

// keepOut is the largest storage for octets to the peer that a Conn keeps.
const keepOut = 1 << 10

// Handshake goes on with the handshake as far as the octets of the peer allow. It reports whether the
// handshake is done; then err says whether it has failed. It takes up to about a millisecond of CPU.
func (c *Conn) Handshake() (done bool, err error) {
	if !c.finished {
		if _, more := c.resume(); more {
			return false, nil
		}
		c.end()
	}
	return true, c.err
}

// Abandon ends a handshake that is not done. The Conn must not be used any more.
func (c *Conn) Abandon() {
	if !c.finished {
		c.stop()
		c.end()
	}
}

// end lets go of what the handshake needed.
func (c *Conn) end() {
	c.finished, c.resume, c.stop, c.memory.wait = true, nil, nil, nil
}

// State returns what the handshake has agreed.
func (c *Conn) State() tls.ConnectionState { return c.tls.ConnectionState() }

// Read appends the text to b that the octets of the peer hold. The error is io.EOF after the peer's close_notify.
func (c *Conn) Read(b []byte) ([]byte, error) {
	for {
		if cap(b)-len(b) < leastRead {
			b = append(b, make([]byte, leastRead)...)[:len(b)]
		}
		n, err := c.tls.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == nil:
		case errors.Is(err, errEmpty):
			return b, nil
		default:
			return b, err
		}
	}
}

// leastRead is the least room for text that is read.
const leastRead = 4 << 10

// Write encrypts octets for the peer.
func (c *Conn) Write(b []byte) error {
	_, err := c.tls.Write(b)
	return err
}

// Close has the peer be told that nothing follows (close_notify).
func (c *Conn) Close() { _ = c.tls.CloseWrite() }

// memory is the connection below a tls.Conn: octets in memory.
type memory struct {
	in, out []byte
	at      int         // how many octets of in were read
	wait    func() bool // in a handshake: waits for more octets, and reports whether it goes on
}

// An emptyError says that more octets of the peer are needed.
type emptyError struct{}

func (emptyError) Error() string   { return "more octets are needed" }
func (emptyError) Timeout() bool   { return true }
func (emptyError) Temporary() bool { return true }

var (
	errEmpty     net.Error = emptyError{}
	errAbandoned           = errors.New("the handshake was given up")
)

func (m *memory) Read(b []byte) (int, error) {
	for m.at == len(m.in) {
		switch {
		case m.wait == nil:
			return 0, errEmpty
		case !m.wait():
			return 0, errAbandoned
		}
	}
	n := copy(b, m.in[m.at:])
	if m.at += n; m.at == len(m.in) {
		m.in, m.at = m.in[:0], 0
		if cap(m.in) > keepOut {
			m.in = nil
		}
	}
	return n, nil
}

func (m *memory) Write(b []byte) (int, error) {
	m.out = append(m.out, b...)
	return len(b), nil
}

func (m *memory) Close() error                     { return nil }
func (m *memory) LocalAddr() net.Addr              { return nil }
func (m *memory) RemoteAddr() net.Addr             { return nil }
func (m *memory) SetDeadline(time.Time) error      { return nil }
func (m *memory) SetReadDeadline(time.Time) error  { return nil }
func (m *memory) SetWriteDeadline(time.Time) error { return nil }
