package soak

import (
	"bytes"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/protocols/smpp"
)

// faults are clients that misbehave, one after the other on each of a few
// goroutines, until they are stopped.
type faults struct {
	to   string
	done chan struct{}
	wg   sync.WaitGroup
	n    atomic.Int64
}

const misbehaving = 4

func startFaults(to string) *faults {
	f := &faults{to: to, done: make(chan struct{})}
	for i := range misbehaving {
		f.wg.Go(func() { f.run(rand.New(rand.NewPCG(uint64(i), 1))) })
	}
	return f
}

// stop ends the clients and returns how many there were.
func (f *faults) stop() int64 {
	close(f.done)
	f.wg.Wait()
	return f.n.Load()
}

func (f *faults) run(random *rand.Rand) {
	for {
		select {
		case <-f.done:
			return
		case <-time.After(time.Duration(random.IntN(20)) * time.Millisecond):
			f.one(random)
		}
	}
}

// one connects, misbehaves and disconnects.
func (f *faults) one(random *rand.Rand) {
	// The clients have an address of their own, because the gateway delays logins from an
	// address that guesses passwords.
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.2")}, Timeout: testutil.Patience}
	conn, err := d.Dial("tcp", f.to)
	if err != nil {
		return // the gateway is busy with others
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	bind := wire("bind_transceiver seq=1 system_id=load password=secret interface_version=52")
	enquire := wire("enquire_link seq=2")
	garbage := make([]byte, 1+random.IntN(4000))
	for i := range garbage {
		garbage[i] = byte(random.Uint32())
	}
	switch random.IntN(6) {
	case 0: // sends nothing
	case 1:
		_, _ = conn.Write(garbage)
	case 2: // wrong password: not often, because each one makes the next wait longer
		if random.IntN(100) == 0 {
			_, _ = conn.Write(wire("bind_transceiver seq=1 system_id=guess password=wrong interface_version=52"))
		}
	case 3: // half a PDU, then silence, unless the gateway closes before
		_, _ = conn.Write(append(bind, enquire[:random.IntN(len(enquire))]...))
		if random.IntN(10) == 0 {
			wait(conn)
		}
	case 4: // never reads the answers
		_, _ = conn.Write(bind)
		if random.IntN(2) == 0 {
			enquire = wire("submit_sm seq=2") // without a destination, so it is only answered
		}
		_, _ = conn.Write(bytes.Repeat(enquire, random.IntN(2000)))
	case 5: // disconnects while sending garbage after a login
		_, _ = conn.Write(append(bind, garbage...))
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // reset
		}
	}
	f.n.Add(1)
}

// wait waits until the gateway closes the connection.
func wait(conn net.Conn) {
	b := make([]byte, 256)
	for {
		if _, err := conn.Read(b); err != nil {
			return
		}
	}
}

// wire returns the octets of a PDU written as in the pdu log.
func wire(line string) []byte {
	d := smpp.New(smpp.Options{})
	p := d.NewPDU()
	if err := d.ParseLog(p, []byte(line)); err != nil {
		panic(err)
	}
	return p.AppendWire(nil)
}
