package cipher

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"iter"
	"net"
	"slices"
	"time"
)

// A Conn is one side of a TLS connection. It is not safe for concurrent use.
//
// The handshake of crypto/tls is code that blocks until the peer has sent more. A Conn runs this
// code as a coroutine: Handshake resumes it, and it is suspended when it needs more octets. After
// the handshake, a read that needs more octets returns an error that crypto/tls treats as
// temporary, and can be repeated later.
type Conn struct {
	tls      *tls.Conn
	memory   memory
	resume   func() (struct{}, bool)
	stop     func()
	finished bool
	err      error // the error of the handshake
}

// Server returns the server's side of a TLS connection.
func Server(c *tls.Config) *Conn { return newConn(tls.Server, c) }

// Client returns the client's side of a TLS connection.
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

// Put gives the Conn octets that the peer has sent. The octets must not change until Read has read
// them. During a handshake some octets may remain unread, so the caller must pass a copy.
func (c *Conn) Put(b []byte) {
	if m := &c.memory; m.at == len(m.in) {
		m.in, m.at = b, 0
	} else {
		m.in = append(m.in[m.at:len(m.in):len(m.in)], b...)
		m.at = 0
	}
}

// Take returns the octets that TLS itself wants to send to the peer: handshake messages, alerts,
// key updates.
func (c *Conn) Take() []byte {
	b := c.memory.out
	c.memory.out = nil
	return b
}

// Handshake continues the handshake as far as the octets of the peer allow. done is true if the
// handshake is finished; then err is its error, or nil. A call takes up to about a millisecond of
// CPU time.
func (c *Conn) Handshake() (done bool, err error) {
	if !c.finished {
		if _, more := c.resume(); more {
			return false, nil
		}
		c.end()
	}
	return true, c.err
}

// Peer returns the peer's certificate after the handshake, if a trusted authority has issued it.
// Otherwise it returns nil.
func (c *Conn) Peer() *x509.Certificate {
	if chains := c.tls.ConnectionState().VerifiedChains; len(chains) > 0 {
		return chains[0][0]
	}
	return nil
}

// Abandon ends a handshake that is not done. The Conn must not be used afterwards.
func (c *Conn) Abandon() {
	if !c.finished {
		c.stop()
		c.end()
	}
}

// end releases what only the handshake needed.
func (c *Conn) end() {
	c.finished, c.resume, c.stop, c.memory.wait = true, nil, nil, nil
}

// Read decrypts the octets of the peer and appends the plain text to b. The error is io.EOF after
// the peer's close_notify.
func (c *Conn) Read(b []byte) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, readSize)
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

// readSize is the size of the read buffer for plain text: the maximum size of one TLS record.
const readSize = 16 << 10

// Write encrypts text and appends the result to b. If last is true, it also appends the
// close_notify alert, after which nothing follows.
func (c *Conn) Write(b, text []byte, last bool) ([]byte, error) {
	c.memory.out = append(b, c.memory.out...)
	_, err := c.tls.Write(text)
	if last {
		_ = c.tls.CloseWrite()
	}
	return c.Take(), err
}

// memory is the connection below a tls.Conn. Its octets are in memory.
type memory struct {
	in, out []byte
	at      int         // how many octets of in were already read
	wait    func() bool // used in a handshake: waits for more octets, and reports whether the handshake goes on
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
		m.in, m.at = nil, 0
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
