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

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway"
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
	answerSize = 33 // of a submit_sm_resp with an id of 16 characters
	burst      = 10
)

// What a message costs in allocations, changes of handles' counts and locks, from
// 64 clients with a window of 10 to an SMSC and back, in steady state. The report's
// gateway: 19 allocations, 32 changes, 35 locks.
func TestCostPerMessage(t *testing.T) {
	for _, log := range []bool{false, true} {
		t.Run(fmt.Sprintf("pdulog=%t", log), func(t *testing.T) {
			smsc := newSMSC(t)
			cfg, _, err := config.Parse(fmt.Appendf(nil, costConfig, log, t.TempDir(), smsc.Addr()), config.Options{Protocols: []string{"smpp"}})
			if err != nil {
				t.Fatal(err)
			}
			g, err := gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) {
				return smpp.New(smpp.Options{}), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			e, err := Start(g)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			var clients []*costClient
			for range 64 {
				clients = append(clients, newCostClient(t, e.Addresses(g.Connector("clients"))[0].String()))
			}
			messages := int64(0)
			send := func(rounds int) {
				var wg sync.WaitGroup
				for _, c := range clients {
					wg.Go(func() { c.submit(t, rounds) })
				}
				wg.Wait()
				messages += int64(len(clients) * rounds * burst)
				eventually(t, "everything is sent", func() bool { return g.Pending() == 0 })
			}
			send(50)
			var before, after runtime.MemStats
			first, begun := e.Counters(), messages
			runtime.ReadMemStats(&before)
			send(100)
			runtime.ReadMemStats(&after)
			last := e.Counters()
			per := func(n int64) float64 { return float64(n) / float64(messages-begun) }
			allocated, counted, locked := per(int64(after.Mallocs-before.Mallocs)), per(last.Refs-first.Refs), per(last.Locks-first.Locks)
			t.Logf("a message costs %.3f allocations, %.2f changes of handles' counts, %.2f locks", allocated, counted, locked)
			if allocated >= 0.2 || counted > 6 || locked > 4 {
				t.Error("that is more than 0.2 allocations, 6 changes, 4 locks")
			}
			if n := smsc.messages.Load(); n != messages {
				t.Errorf("the SMSC got %d of %d messages", n, messages)
			}
		})
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
