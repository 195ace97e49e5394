package probe

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

// A dialogue is a session with the SMSC. It accepts no messages: it refuses them with a temporary error, so that the
// SMSC sends them again.
type dialogue struct {
	conn    net.Conn
	driver  protocols.SessionDriver
	session protocols.Session
	timeout time.Duration

	in      []byte // octets that came and were not handled yet
	pdu     protocols.PDU
	refused int // number of messages from the SMSC that were refused
}

var errClosed = errors.New("the SMSC closed the connection")

// maxOctets limits the octets of an incomplete PDU.
const maxOctets = 1 << 20

// write sends d.pdu.
func (d *dialogue) write() error {
	_ = d.conn.SetWriteDeadline(time.Now().Add(d.timeout))
	_, err := d.conn.Write(d.pdu.AppendWire(nil))
	return err
}

// login logs in, and returns the answer in the form of the pdu log.
func (d *dialogue) login() (answer string, err error) {
	if d.session.Start(time.Now().UnixNano(), d.pdu).Kind != protocols.Send {
		return "", errors.New("cannot log in: the protocol has no login")
	}
	if err := d.write(); err != nil {
		return "", err
	}
	_, err = d.until(protocols.Bound, func() { answer = string(d.pdu.AppendLog(nil, true)) })
	return answer, err
}

// enquire sends a keep-alive, and waits for its answer.
func (d *dialogue) enquire() (time.Duration, error) {
	began := time.Now()
	if d.session.Tick(began.UnixNano(), d.pdu, true).Kind != protocols.Send {
		return 0, errors.New("the protocol has no keep-alive")
	}
	if err := d.write(); err != nil {
		return 0, err
	}
	for {
		a, err := d.receive()
		switch {
		case err != nil:
			return 0, err
		case a.Kind == protocols.Send: // answers to the SMSC's requests
			if err := d.write(); err != nil {
				return 0, err
			}
		case d.pdu.IsAnswer():
			return time.Since(began), nil
		}
	}
}

// until handles PDUs until one leads to an action of a kind. seen is called with that PDU.
func (d *dialogue) until(kind protocols.ActionKind, seen func()) (a protocols.Action, err error) {
	for {
		if a, err = d.receive(); err != nil {
			return a, err
		}
		switch a.Kind {
		case kind:
			seen()
			return a, nil
		case protocols.Send:
			err = d.write()
		}
		if err != nil {
			return a, err
		}
	}
}

// receive receives a PDU. If the action is Send, d.pdu is the answer to write. An error ends the session.
func (d *dialogue) receive() (a protocols.Action, err error) {
	if err := d.read(); err != nil {
		return a, err
	}
	switch a = d.session.Receive(time.Now().UnixNano(), d.pdu); a.Kind {
	case protocols.Message:
		d.refused++
		d.session.Answer(d.pdu, sms.TemporaryFailure, 0)
		a.Kind = protocols.Send
	case protocols.Close:
		return a, errors.New(a.Reason)
	case protocols.SendClose:
		_ = d.write()
		return a, errors.New(a.Reason)
	case protocols.Drain:
		return a, errors.New("the SMSC has logged us out")
	}
	return a, nil
}

func (d *dialogue) read() error {
	_ = d.conn.SetReadDeadline(time.Now().Add(d.timeout))
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
			if err := d.driver.Decode(d.pdu, one); err != nil {
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
			return fmt.Errorf("the SMSC does not answer within %s", d.timeout)
		case errors.Is(err, io.EOF):
			return errClosed
		case err != nil:
			return err
		case len(d.in) > maxOctets:
			return errors.New("the SMSC sends a PDU of more than 1 MiB")
		}
	}
}

// leave logs out, if the SMSC answers.
func (d *dialogue) leave() {
	d.timeout = min(d.timeout, time.Second)
	if d.session.Unbind(time.Now().UnixNano(), d.pdu).Kind == protocols.Logout && d.write() == nil {
		_, _ = d.until(protocols.Close, func() {})
	}
}
