package dialogue

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// A Dialogue is a session with an SMSC. It accepts no messages: it refuses them with a temporary error, so that the
// SMSC sends them again.
type Dialogue struct {
	Session protocols.Session
	PDU     protocols.PDU // the last one that came, or the next one to write
	Refused int           // number of messages from the SMSC that were refused

	conn    net.Conn
	driver  protocols.SessionDriver
	timeout time.Duration // limit of the time for each answer
	in      []byte        // octets that came and were not handled yet
}

// New returns the dialogue on a new connection.
func New(conn net.Conn, driver protocols.SessionDriver, o protocols.SessionOptions, timeout time.Duration) *Dialogue {
	return &Dialogue{Session: driver.NewSession(o), PDU: driver.NewPDU(), conn: conn, driver: driver, timeout: timeout}
}

// ErrClosed means that the SMSC has closed the connection.
var ErrClosed = errors.New("the SMSC closed the connection")

// Write sends d.PDU.
func (d *Dialogue) Write() error { return d.WriteOctets(d.PDU.AppendWire(nil)) }

// WriteOctets sends the octets of a PDU.
func (d *Dialogue) WriteOctets(b []byte) error {
	_ = d.conn.SetWriteDeadline(time.Now().Add(d.timeout))
	_, err := d.conn.Write(b)
	return err
}

// Login logs in, and returns the answer in the form of the pdu log.
func (d *Dialogue) Login() (answer string, err error) {
	if d.Session.Start(time.Now().UnixNano(), d.PDU).Kind != protocols.Send {
		return "", errors.New("cannot log in: the protocol has no login")
	}
	if err := d.Write(); err != nil {
		return "", err
	}
	_, err = d.Until(protocols.Bound, func() { answer = string(d.PDU.AppendLog(nil, true)) })
	return answer, err
}

// Enquire sends a keep-alive, and waits for its answer.
func (d *Dialogue) Enquire() (time.Duration, error) {
	began := time.Now()
	if d.Session.Tick(began.UnixNano(), d.PDU, true).Kind != protocols.Send {
		return 0, errors.New("the protocol has no keep-alive")
	}
	if err := d.Write(); err != nil {
		return 0, err
	}
	for {
		a, err := d.receive()
		switch {
		case err != nil:
			return 0, err
		case a.Kind == protocols.Send: // answers to the SMSC's requests
			if err := d.Write(); err != nil {
				return 0, err
			}
		case d.PDU.IsAnswer():
			return time.Since(began), nil
		}
	}
}

// Until handles PDUs until one leads to an action of a kind. seen is called with that PDU.
func (d *Dialogue) Until(kind protocols.ActionKind, seen func()) (a protocols.Action, err error) {
	for {
		if a, err = d.receive(); err != nil {
			return a, err
		}
		switch a.Kind {
		case kind:
			seen()
			return a, nil
		case protocols.Send:
			err = d.Write()
		}
		if err != nil {
			return a, err
		}
	}
}

// receive receives a PDU, in the time for an answer.
func (d *Dialogue) receive() (a protocols.Action, err error) {
	if a, err = d.Receive(time.Now().Add(d.timeout)); errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("the SMSC does not answer within %s", d.timeout)
	}
	return a, err
}

// Receive receives a PDU, until a time, at which the error is os.ErrDeadlineExceeded. If the action is Send, d.PDU is the
// answer to write. Other errors end the session.
func (d *Dialogue) Receive(until time.Time) (a protocols.Action, err error) {
	if err := d.read(until); err != nil {
		return a, err
	}
	switch a = d.Session.Receive(time.Now().UnixNano(), d.PDU); a.Kind {
	case protocols.Message:
		d.Refused++
		d.Session.Answer(d.PDU, sms.TemporaryFailure, 0)
		a.Kind = protocols.Send
	case protocols.Close:
		return a, errors.New(a.Reason)
	case protocols.SendClose:
		_ = d.Write()
		return a, errors.New(a.Reason)
	case protocols.Drain:
		return a, errors.New("the SMSC has logged us out")
	}
	return a, nil
}

// read reads a PDU. Its octets are limited by Frame.
func (d *Dialogue) read(until time.Time) error {
	_ = d.conn.SetReadDeadline(until)
	for {
		if looksLikeTLS(d.in) {
			return errors.New("the SMSC speaks TLS on this port: try --tls")
		}
		n, err := d.driver.Frame(d.in)
		if len(d.in) > 0 && (err != nil || n > 0 && n <= len(d.in)) {
			if err != nil {
				n = len(d.in)
			}
			one := d.in[:n:n]
			d.in = d.in[n:]
			if err := d.driver.Decode(d.PDU, one); err != nil {
				return fmt.Errorf("the SMSC sends octets that are not a PDU of %s: %w", d.driver.Name(), err)
			}
			return nil
		}
		b := make([]byte, 64<<10)
		n, err = d.conn.Read(b)
		if d.in = append(d.in, b[:n]...); n > 0 {
			continue
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return os.ErrDeadlineExceeded
		case errors.Is(err, io.EOF):
			return ErrClosed
		case err != nil:
			return err
		}
	}
}

// Leave logs out, if the SMSC answers.
func (d *Dialogue) Leave() {
	d.timeout = min(d.timeout, time.Second)
	if d.Session.Unbind(time.Now().UnixNano(), d.PDU).Kind == protocols.Logout && d.Write() == nil {
		_, _ = d.Until(protocols.Close, func() {})
	}
}
