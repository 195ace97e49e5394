package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"pmg/protocols/smpp"
)

const (
	attacker = "127.0.0.2"
	honest   = "127.0.0.1"
)

// A client is one connection to the gateway.
type client struct{ net.Conn }

// connect opens a connection from an address of this host.
func connect(from, to string) (*client, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	conn, err := d.Dial("tcp", to)
	if err != nil {
		return nil, err
	}
	return &client{conn}, nil
}

// bindPDU returns a login.
func bindPDU(account, password string) []byte {
	p := smpp.PDU{ID: smpp.BindTransmitter, SequenceNumber: 1}
	bind := p.Bind()
	bind.SystemID, bind.Password, bind.InterfaceVersion = []byte(account), []byte(password), smpp.Version34
	return p.AppendWire(nil)
}

// emptyRequest returns a request without a body.
func emptyRequest(id smpp.CommandID) []byte {
	p := smpp.PDU{ID: id, SequenceNumber: 2}
	return p.AppendWire(nil)
}

// submitPDU returns a submit_sm with a text of the size.
func submitPDU(size int) []byte {
	p := smpp.PDU{ID: smpp.SubmitSM, SequenceNumber: 3}
	p.SM.SourceAddr, p.SM.DestAddr = []byte("46700000001"), []byte("46700000002")
	text := make([]byte, size)
	for i := range text {
		text[i] = 'x'
	}
	if size > 254 {
		const payload = 0x0424
		p.SM.TLVs = smpp.AppendTLV(nil, payload, text)
	} else {
		p.SM.ShortMessage = text
	}
	return p.AppendWire(nil)
}

// answer reads the next PDU and returns its command and status.
func (c *client) answer(within time.Duration) (id smpp.CommandID, status uint32, err error) {
	_ = c.SetReadDeadline(time.Now().Add(within))
	var head [16]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return 0, 0, err
	}
	rest := int64(binary.BigEndian.Uint32(head[:])) - int64(len(head))
	if _, err := io.CopyN(io.Discard, c, max(rest, 0)); err != nil {
		return 0, 0, err
	}
	return smpp.CommandID(binary.BigEndian.Uint32(head[4:])), binary.BigEndian.Uint32(head[8:]), nil
}

// login connects and logs in, and returns an error if that takes longer than within.
func login(from, to, account string, within time.Duration) (*client, error) {
	c, err := connect(from, to)
	if err != nil {
		return nil, err
	}
	if _, err := c.Write(bindPDU(account, "secret")); err != nil {
		c.Close()
		return nil, err
	}
	_, status, err := c.answer(within)
	if err == nil && status != 0 {
		err = fmt.Errorf("refused with status %#x", status)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
