// Package smpppeer is a small SMSC and a small client of SMPP, for tests that need a peer. It shares no code with the gateway.
// Module loadtest has peers that count, measure and misbehave.
//
// # Start reading
//
// StartSMSC, Send, then pdu.
package smpppeer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	bindReceiver    = 0x01
	bindTransmitter = 0x02
	bindTransceiver = 0x09
	submit          = 0x04
	deliver         = 0x05
	unbind          = 0x06
	enquireLink     = 0x15
	response        = 0x80000000
	badPassword     = 0x0E // ESME_RINVPASWD
	maxPDU          = 1 << 16
)

// A pdu is a PDU without its length: command, status, sequence number and body.
type pdu struct {
	command, status, seq uint32
	body                 []byte
}

func read(c net.Conn) (p pdu, err error) {
	var head [16]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return p, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 16 || n > maxPDU {
		return p, fmt.Errorf("a PDU of %d octets", n)
	}
	word := func(at int) uint32 { return binary.BigEndian.Uint32(head[at:]) }
	p = pdu{word(4), word(8), word(12), make([]byte, n-16)}
	_, err = io.ReadFull(c, p.body)
	return p, err
}

func (p pdu) write(c net.Conn) error {
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(p.body)))
	for _, n := range []uint32{p.command, p.status, p.seq} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	_, err := c.Write(append(b, p.body...))
	return err
}

// fields splits a body. layout has '1' for an octet, and 's' for a text that ends with a zero.
func fields(body []byte, layout string) (all []string) {
	for _, kind := range layout {
		end := 1
		if kind == 's' {
			end = bytes.IndexByte(body, 0) + 1
		}
		if end < 1 || end > len(body) {
			return append(all, make([]string, len(layout)-len(all))...)
		}
		all = append(all, string(bytes.TrimSuffix(body[:end], []byte{0})))
		body = body[end:]
	}
	return all
}

// An SMSC accepts every message, and sends receipts.
type SMSC struct {
	password string
	receipts bool
	due      <-chan struct{} // each receipt waits for a value; nil: receipts do not wait
	listener net.Listener
	ids      atomic.Int64
	wg       sync.WaitGroup

	mu       sync.Mutex
	sessions map[net.Conn]bool
}

// StartSMSC starts an SMSC, which ends with the test. It refuses logins with another password. With receipts it sends the
// receipts that messages ask for.
func StartSMSC(t testing.TB, password string, receipts bool) *SMSC {
	t.Helper()
	s, err := Start(password, receipts, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts an SMSC outside of a test. Each receipt waits for a value of due, unless that is nil.
func Start(password string, receipts bool, due <-chan struct{}) (*SMSC, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &SMSC{password: password, receipts: receipts, due: due, listener: l, sessions: map[net.Conn]bool{}}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.sessions[c] = true
			s.mu.Unlock()
			s.wg.Go(func() { s.serve(c) })
		}
	})
	return s, nil
}

// Addr returns the address on which the SMSC listens.
func (s *SMSC) Addr() string { return s.listener.Addr().String() }

// Close ends its sessions.
func (s *SMSC) Close() {
	s.listener.Close()
	s.mu.Lock()
	for c := range s.sessions {
		c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *SMSC) serve(c net.Conn) {
	defer func() {
		c.Close()
		s.mu.Lock()
		delete(s.sessions, c)
		s.mu.Unlock()
	}()
	for {
		p, err := read(c)
		if err != nil {
			return
		}
		answer := pdu{command: p.command | response, seq: p.seq}
		var receipt *pdu
		switch p.command {
		case bindReceiver, bindTransmitter, bindTransceiver:
			if answer.body = []byte("smsc\x00"); fields(p.body, "ss")[1] != s.password {
				answer.status = badPassword
			}
		case submit:
			id := strconv.FormatInt(1_000_000_000+s.ids.Add(1), 10)
			answer.body = append([]byte(id), 0)
			if f := fields(p.body, "s11s11s111ss1"); s.receipts && f[12] != "" && f[12][0]&1 != 0 {
				receipt = newReceipt(p.seq, f[3], f[6], id)
			}
		case unbind, enquireLink:
		default:
			continue
		}
		if err := answer.write(c); err != nil || answer.status != 0 || p.command == unbind {
			return
		}
		if receipt == nil {
			continue
		}
		if s.due != nil {
			<-s.due
		}
		if receipt.write(c) != nil {
			return
		}
	}
}

// newReceipt returns the receipt of a message (SMPP 3.4 appendix B).
func newReceipt(seq uint32, from, to, id string) *pdu {
	now := time.Now().Format("0601021504")
	text := fmt.Sprintf("id:%s sub:001 dlvrd:001 submit date:%s done date:%s stat:DELIVRD err:000 text:", id, now, now)
	body := fmt.Appendf(nil, "\x00\x01\x01%s\x00\x01\x01%s\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00", to, from)
	return &pdu{command: deliver, seq: seq, body: append(append(body, byte(len(text))), text...)}
}

// A Client submits messages one after another over one session.
type Client struct {
	Addr, SystemID, Password string
	Transmitter              bool        // false: a transceiver
	Receipts                 bool        // asks for receipts, and waits for all
	Before                   func(i int) // is called before message i; may be nil
}

// Send submits n messages to numbers from 46700000000 upwards, and returns when all answers and receipts have arrived.
func (o Client) Send(ctx context.Context, n int) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", o.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	bind, registered := uint32(bindTransceiver), byte(0)
	if o.Transmitter {
		bind = bindTransmitter
	}
	receipts := 0
	if o.Receipts {
		registered, receipts = 1, n
	}
	login := []byte(o.SystemID + "\x00" + o.Password + "\x00\x00\x34\x00\x00\x00")
	if err := o.ask(c, pdu{command: bind, seq: 1, body: login}, &receipts); err != nil {
		return err
	}
	for i := range n {
		if o.Before != nil {
			o.Before(i)
		}
		to := 46700000000 + i
		const layout = "\x00\x01\x0146700000001\x00\x01\x01%d\x00\x00\x00\x00\x00\x00%c\x00\x00\x00\x05hello"
		body := fmt.Appendf(nil, layout, to, registered)
		if err := o.ask(c, pdu{command: submit, seq: uint32(2 + i), body: body}, &receipts); err != nil {
			return err
		}
	}
	for receipts > 0 {
		if err := o.take(c, nil, &receipts); err != nil {
			return err
		}
	}
	return o.ask(c, pdu{command: unbind, seq: uint32(2 + n)}, &receipts)
}

var errNoAnswer = errors.New("no answer")

// ask sends a request and waits for its answer.
func (o Client) ask(c net.Conn, p pdu, receipts *int) error {
	if err := p.write(c); err != nil {
		return err
	}
	for {
		err := o.take(c, &p, receipts)
		if !errors.Is(err, errNoAnswer) {
			return err
		}
	}
}

// take reads one PDU, answers it if it is a request, and returns errNoAnswer if it is not the answer to p.
func (o Client) take(c net.Conn, p *pdu, receipts *int) error {
	got, err := read(c)
	switch {
	case err != nil:
		return err
	case got.command&response == 0:
		answer := pdu{command: got.command | response, seq: got.seq}
		if got.command == deliver {
			answer.body = []byte{0}
			*receipts--
		}
		if err := answer.write(c); err != nil || p == nil {
			return err
		}
		return errNoAnswer
	case p == nil || got.seq != p.seq:
		return errNoAnswer
	case got.status != 0:
		return fmt.Errorf("command %#x is answered with status %#x", p.command, got.status)
	}
	return nil
}
