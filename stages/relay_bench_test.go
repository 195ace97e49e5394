package stages

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway"
	"pmg/internal/tlsfiles"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms"
	"pmg/stages/flow"
)

// BenchmarkRelay measures the cost of a message without the kernel: from the parser to the
// pdu builder and back, for 64 clients and 4 sessions to an SMSC with window 10. Memory
// replaces the sockets at both ends.
func BenchmarkRelay(b *testing.B) {
	for _, log := range []bool{false, true} {
		for _, backlog := range []int{0, 1000, 50000} {
			b.Run(fmt.Sprintf("pdulog=%t/backlog=%d", log, backlog), func(b *testing.B) { benchRelay(b, log, backlog) })
		}
	}
}

const relayConfig = `
pdulog: {enabled: %t, dir: %q, compress: false}
limits: {max_jobs: 10000000}
accounts: [{system_id: load, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", window: 100}
  - {name: operator, direction: out, address: "127.0.0.1:1", instances: 4, window: 10, system_id: pmg, password: secret, max_queue: 10000000, response_timeout: 1h}
routes: [{to: operator}]
`

// memory replaces reader and writer: it sends the octets of the peers to the stages, and
// receives the octets to the peers. The SMSC answers as many messages as it has credit for.
type memory struct {
	*buffers
	clients []*handle
	burst   []byte // ten submits
	next    int

	credit   int
	held     []*Job // answers that wait for credit
	answered atomic.Int64
	sent     atomic.Int64
}

func (m *memory) Work(out *flow.Out[Job], j *Job) {
	switch {
	case j.Kind == Room:
		m.credit += 640
		out.Release(j)
	case j.Handle.Connector.Config().Listens():
		m.answered.Add(int64(len(j.Octets.b) / 33))
		m.buffers.giveBack(j)
		discard(out, j)
	default:
		answer, resp := out.Get(), m.buffers.get()
		for w := j.Octets.b; len(w) > 0; w = w[binary.BigEndian.Uint32(w):] {
			resp.b = append(resp.b, 0, 0, 0, 33, 0x80, 0, 0, 4, 0, 0, 0, 0)
			resp.b = append(resp.b, w[12:16]...)
			resp.b = append(resp.b, "0123456789abcdef\x00"...)
		}
		answer.Kind, answer.Octets = Bytes, resp
		answer.retain(j.Handle)
		m.buffers.giveBack(j)
		discard(out, j)
		m.held = append(m.held, answer)
	}
	for len(m.held) > 0 && m.credit > 0 {
		n := len(m.held[0].Octets.b) / 33
		m.credit -= n
		m.sent.Add(int64(n))
		out.To(toParser, m.held[0])
		m.held = m.held[1:]
	}
}

// submit sends a burst of each client.
func (m *memory) submit(in *flow.Inlet[Job]) {
	for range 64 {
		h := m.clients[m.next%len(m.clients)]
		m.next++
		j := in.Get()
		j.Kind = Bytes
		j.Octets = m.buffers.get()
		j.Octets.b = append(j.Octets.b, m.burst...)
		j.retain(h)
		in.Send(toParser, j)
	}
}

func benchRelay(b *testing.B, log bool, backlog int) {
	cfg, _, err := config.Parse([]byte(fmt.Sprintf(relayConfig, log, b.TempDir())), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		b.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) {
		return smpp.New(smpp.Options{}), nil
	})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	pool := NewPool()
	deps := &Deps{Gateway: g, Pool: pool, Log: zerolog.Nop()}
	m := &memory{buffers: &deps.buffers}
	table := Table()
	none := func(*Deps) (flow.Stage[Job], error) { return &memory{}, nil }
	table[toListener].New, table[toReader].New, table[toConnecter].New = none, none, none
	table[toWriter].To = append(table[toWriter].To, "parser")
	table[toWriter].New = func(*Deps) (flow.Stage[Job], error) { return m, nil }
	table[toConnecter].New = none
	p, err := flow.Start(table, deps, pool, flow.Options[Job]{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	in := p.NewInlet()
	defer in.Close()
	now := p.Now()
	operator, clients := g.Table.Connector("operator"), g.Table.Connector("clients")
	for range 4 {
		h := newHandle(deps, operator.Acquire(), -1, netip.AddrPort{}, now)
		g.Sessions.Connected(&h.Link)
		bind := in.Get()
		h.Session.Start(now, bind.pdu(operator))
		resp := &smpp.PDU{ID: smpp.BindTransceiver | smpp.Response, SequenceNumber: bind.PDU.Sequence()}
		h.Session.Receive(now, resp)
		h.BoundAt = 1
		j := in.Get()
		j.Kind = Bound
		j.retain(h)
		in.Send(toDispatcher, j)
	}
	origin := &sms.Origin{Account: "load", Connector: "clients", Tally: &sms.Tally{}}
	for range 64 {
		h := newHandle(deps, clients.Acquire(), -1, netip.AddrPort{}, now)
		h.Session.Start(now, nil)
		bind := &smpp.PDU{ID: smpp.BindTransceiver, SequenceNumber: 1}
		bind.Bind().SystemID, bind.Bind().Password, bind.Bind().InterfaceVersion = []byte("load"), []byte("secret"), 0x34
		a := h.Session.Receive(now, bind)
		login := g.Logins.Begin(now, clients, netip.AddrPort{}, tlsfiles.Identity{}, a.Credentials)
		login.Next(now)
		h.Account, h.Origin = login.Result.Account, origin
		h.Session.Login(now, bind, login.Result.Code)
		h.BoundAt = 1
		m.clients = append(m.clients, h)
	}
	for i := range 10 {
		m.burst = submit(uint32(i + 1)).AppendWire(m.burst)
	}
	submitted := 0
	round := func() {
		m.submit(in)
		submitted += 640
		for int(m.answered.Load()) < submitted {
			runtime.Gosched()
		}
		if submitted > backlog {
			j := in.Get()
			j.Kind = Room
			in.Send(toWriter, j)
			for int(m.sent.Load()) < submitted-backlog-640 {
				runtime.Gosched()
			}
		}
	}
	for submitted < 2*backlog+10000 {
		round()
	}
	b.ResetTimer()
	begun := submitted
	for submitted < begun+b.N {
		round()
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(submitted-begun), "ns/message")
}

// submit is a submit_sm with a message of 60 octets.
func submit(sequence uint32) *smpp.PDU {
	s := &smpp.PDU{ID: smpp.SubmitSM, SequenceNumber: sequence}
	s.SM.SourceTON, s.SM.SourceNPI, s.SM.SourceAddr = 1, 1, []byte("46700000001")
	s.SM.DestTON, s.SM.DestNPI, s.SM.DestAddr = 1, 1, []byte("46700000002")
	s.SM.ShortMessage = []byte("#000000000001 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
	return s
}
