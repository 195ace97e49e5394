package e2e

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// A PDU may arrive in any pieces.
func TestSplit(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator})
	s, c := operator.session(), g.bind("transmitter")
	size := len(wire(t, submitLine(100)))
	for at := 1; at < size; at++ {
		b := wire(t, submitLine(100+at))
		c.write(b[:at])
		time.Sleep(time.Millisecond) // so that most pieces are read separately
		c.write(b[at:])
		c.accepted(100+at, 100+at)
		s.serve(100+at, 100+at)
	}
	for _, octet := range wire(t, submitLine(1), submitLine(2)) {
		c.write([]byte{octet})
	}
	c.accepted(1, 2)
	s.serve(1, 2)
}

// However many PDUs arrive together, all are answered, in order, and none is lost.
func TestManyTogether(t *testing.T) {
	parallel(t)
	const many = 10_000
	operator := newSMSC(t)
	g := start(t, site{operator: operator, out: "window: 100"})
	s, c := operator.session(), g.bind("transmitter")
	var refused, submits []byte
	for n := range many {
		refused = append(refused, wire(t, fmt.Sprintf("submit_sm seq=%d", n))...) // to nobody
		submits = append(submits, wire(t, submitLine(n))...)
	}
	c.writeBehind(refused)
	for n := range many {
		c.want("submit_sm_resp", fmt.Sprint("seq=", n), "status=0xb(ESME_RINVDSTADR)")
	}
	c.writeBehind(submits)
	c.accepted(0, many-1)
	s.serve(0, many-1)
}

// Octets that cannot be framed are refused and end their session. Other sessions are not
// affected.
func TestNotFramed(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, limits: "pdu_timeout: 300ms, max_pdu: 1KiB"})
	s, other := operator.session(), g.bind("transmitter")
	header := func(length uint32) []byte {
		b := binary.BigEndian.AppendUint32(nil, length)
		return append(b, 0, 0, 0, 0x15, 0, 0, 0, 0, 0, 0, 0, 7)
	}
	for name, b := range map[string][]byte{
		"length 0":         header(0),
		"length 4":         header(4),
		"length 15":        header(15),
		"over the limit":   header(1025),
		"length -1":        header(0xFFFFFFFF),
		"an HTTP request":  []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"a TLS hello":      append([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3}, make([]byte, 500)...),
		"much of the same": bytes.Repeat(header(3), 10_000),
	} {
		for _, c := range []*peer{g.dial("clients"), g.bind("transceiver")} {
			_, _ = c.conn.Write(b) // the gateway may close before all is written
			if _, err := c.next(); err == nil {
				c.wantClosed()
			} else if isTimeout(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	c := g.bind("transceiver")
	c.write(header(15))
	c.want("generic_nack", "seq=7", "status=0x2(ESME_RINVCMDLEN)")
	c.wantEOF()
	for _, short := range [][]byte{{0}, header(16)[:15], header(100)} {
		c := g.bind("transceiver")
		c.write(short)
		c.wantEOF() // the peer was silent for too long
	}
	other.put(1, 1)
	s.serve(1, 1)
}

// Random octets do no harm, before a login and after it, to the gateway as server and as
// client.
func TestGarbage(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	g := start(t, site{operator: operator, limits: "pdu_timeout: 100ms"})
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		var c *peer
		switch i % 3 {
		case 0:
			c = g.dial("clients")
		case 1:
			c = g.bind("transceiver")
		case 2:
			c = operator.session()
		}
		b := make([]byte, 16+random.IntN(2000))
		for j := range b {
			b[j] = byte(random.Uint32())
		}
		if i%2 == 0 { // framed well, so that the body is read
			binary.BigEndian.PutUint32(b, uint32(len(b)))
			binary.BigEndian.PutUint32(b[4:], []uint32{1, 2, 4, 5, 6, 9, 0x15, 0x80000004, 0x80000000, 0x103}[random.IntN(10)])
		}
		_, _ = c.conn.Write(b)
		c.conn.Close()
	}
	c := g.bind("transmitter")
	c.put(1, 1)
	operator.session().serve(1, 1)
}
