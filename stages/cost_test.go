//go:build !race && !pmgdebug

package stages

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

const costConfig = `
pdulog: {enabled: %t, dir: %q, compress: false}
accounts: [{system_id: load, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", window: 100}
  - {name: operator, direction: out, address: %q, instances: 4, window: 10, system_id: pmg, password: secret, max_queue: 2000}
routes: [{to: operator}]
`

const (
	answerSize = 33 // octets of a submit_sm_resp with an id of 16 characters
	burst      = 10
)

// A message costs at most 0.2 allocations, 6 changes of handles' counts and 4 locks, from
// 64 clients with a window of 10 to an SMSC and back, in steady state. The gateway before
// the first review needed 19 allocations, 32 changes and 35 locks.
func TestCostPerMessage(t *testing.T) {
	for _, log := range []bool{false, true} {
		t.Run(fmt.Sprintf("pdulog=%t", log), func(t *testing.T) {
			r := newCostRig(t, log)
			defer r.close()
			r.send(50)
			var before, after runtime.MemStats
			refs, locks, begun := r.Counters().Refs, r.Counters().Locks, r.messages
			runtime.ReadMemStats(&before)
			r.send(100)
			runtime.ReadMemStats(&after)
			per := func(n int64) float64 { return float64(n) / float64(r.messages-begun) }
			allocated, counted, locked := per(int64(after.Mallocs-before.Mallocs)), per(r.Counters().Refs-refs), per(r.Counters().Locks-locks)
			t.Logf("a message costs %.3f allocations, %.2f changes of handles' counts, %.2f locks", allocated, counted, locked)
			if allocated >= 0.2 || counted > 6 || locked > 4 {
				t.Error("that is more than 0.2 allocations, 6 changes, 4 locks")
			}
			if n := r.smsc.messages.Load(); n != r.messages {
				t.Errorf("the SMSC got %d of %d messages", n, r.messages)
			}
		})
	}
}

// The pipeline holds at most 1,200 octets for a message in flight: the jobs with their PDUs
// and buffers, and the message itself (review S14). All messages in flight together should
// fit in the processor's cache.
func TestWorkingSet(t *testing.T) {
	r := newCostRig(t, false)
	r.send(300)
	r.close()
	jobs, pdus, octets := r.made()
	const inFlight = 64 * burst
	job := int64(unsafe.Sizeof(Job{}))
	message := r.gateway.Node.Messages.Get().Size()
	lent := r.lent()
	slot := int64(unsafe.Sizeof(connector.Slot{})) * 4 * 10
	all := jobs*job + pdus*int64(unsafe.Sizeof(smpp.PDU{})) + octets + lent + inFlight*message + slot
	t.Logf("%d jobs of %d octets with %d PDUs, %d octets of PDUs, %d octets read or to be written: %d octets a message",
		jobs, job, pdus, octets, lent, all/inFlight)
	if all/inFlight > 1200 {
		t.Error("that is more than 1200")
	}
}

// made returns how many jobs are in the pool, and the size of their PDUs and octets.
func (r *costRig) made() (jobs, pdus, octets int64) {
	c := r.pool.NewCache()
	for unused := 0; unused < 100; {
		j := c.Get()
		if j.PDU == nil && cap(j.Bytes) == 0 { // it is new, or was never used for octets
			unused++
			continue
		}
		jobs++
		if j.PDU != nil {
			pdus++
		}
		octets += int64(cap(j.Bytes))
	}
	return jobs, pdus, octets
}

// lent returns the size of the buffers in the pool.
func (r *costRig) lent() (octets int64) {
	p := &r.deps.buffers.pool
	for o := p.Get(); o != nil; o = p.Get() {
		octets += int64(cap(o.(*buffer).b))
	}
	return octets
}

// A costRig is a whole pipeline between 64 clients with a window of 10 and an SMSC.
type costRig struct {
	*Engine
	t        *testing.T
	smsc     *costSMSC
	clients  []*costClient
	messages int64
}

func newCostRig(t *testing.T, log bool) *costRig {
	r := &costRig{t: t, smsc: newSMSC(t)}
	cfg, _, err := config.Parse(fmt.Appendf(nil, costConfig, log, t.TempDir(), r.smsc.Addr()), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) {
		return smpp.New(smpp.Options{}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Engine, err = Start(g); err != nil {
		t.Fatal(err)
	}
	for range 64 {
		r.clients = append(r.clients, newCostClient(t, r.Addresses(g.Table.Connector("clients"))[0].String()))
	}
	return r
}

// send submits a number of bursts from every client, and waits until all are sent.
func (r *costRig) send(rounds int) {
	var wg sync.WaitGroup
	for _, c := range r.clients {
		wg.Go(func() { c.submit(r.t, rounds) })
	}
	wg.Wait()
	r.messages += int64(len(r.clients) * rounds * burst)
	testutil.Eventually(r.t, "everything is sent", func() bool { return r.gateway.Pending() == 0 })
}

func (r *costRig) close() {
	if err := r.Close(); err != nil {
		r.t.Error(err)
	}
	if err := r.gateway.Close(); err != nil {
		r.t.Error(err)
	}
}

// A costSMSC accepts every login and message, without allocating.
type costSMSC struct {
	net.Listener
	messages atomic.Int64
}

func newSMSC(t *testing.T) *costSMSC {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &costSMSC{Listener: l}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return s
}

func (s *costSMSC) serve(c net.Conn) {
	defer c.Close()
	in, have := make([]byte, 64<<10), 0
	var out []byte
	for {
		n, err := c.Read(in[have:])
		if err != nil {
			return
		}
		rest := in[:have+n]
		out = out[:0]
		for len(rest) >= 16 && len(rest) >= int(binary.BigEndian.Uint32(rest)) {
			id := binary.BigEndian.Uint32(rest[4:]) | uint32(smpp.Response)
			body := "smsc\x00"
			if id == uint32(smpp.SubmitSM|smpp.Response) {
				body = "0123456789abcdef\x00"
				s.messages.Add(1)
			}
			out = binary.BigEndian.AppendUint32(out, uint32(16+len(body)))
			out = binary.BigEndian.AppendUint32(out, id)
			out = binary.BigEndian.AppendUint32(out, 0)
			out = append(out, rest[12:16]...)
			out = append(out, body...)
			rest = rest[binary.BigEndian.Uint32(rest):]
		}
		have = copy(in, rest)
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// A costClient submits bursts and waits for their answers, without allocating.
type costClient struct {
	net.Conn
	burst   []byte
	answers [burst * answerSize]byte
}

func newCostClient(t *testing.T, address string) *costClient {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &costClient{Conn: conn}
	bind := &smpp.PDU{ID: smpp.BindTransceiver, SequenceNumber: 1}
	bind.Bind().SystemID, bind.Bind().Password, bind.Bind().InterfaceVersion = []byte("load"), []byte("secret"), 0x34
	if _, err := c.Write(bind.AppendWire(nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, c.answers[:4]); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, binary.BigEndian.Uint32(c.answers[:])-4)); err != nil {
		t.Fatal(err)
	}
	for range burst {
		c.burst = submit(2).AppendWire(c.burst)
	}
	return c
}

func (c *costClient) submit(t *testing.T, rounds int) {
	for range rounds {
		if _, err := c.Write(c.burst); err != nil {
			t.Error(err)
			return
		}
		if _, err := io.ReadFull(c, c.answers[:]); err != nil {
			t.Error(err)
			return
		}
	}
}
