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
// pdu builder and back, for 64 clients and 4 sessions to an SMSC with window 10, without receipts and
// with one for each message, right behind the SMSC's answer. Memory replaces the sockets at both ends.
func BenchmarkRelay(b *testing.B) {
	for _, receipts := range []bool{false, true} {
		for _, log := range []bool{false, true} {
			for _, backlog := range []int{0, 1000, 50000} {
				b.Run(fmt.Sprintf("receipts=%t/pdulog=%t/backlog=%d", receipts, log, backlog), func(b *testing.B) { benchRelay(b, receipts, log, backlog) })
			}
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

	receipts bool
	id       uint64 // of the SMSC's last message
	credit   int
	held     []*Job // answers that wait for credit
	answered atomic.Int64
	received atomic.Int64 // receipts of the clients
	sent     atomic.Int64
}

func (m *memory) Work(out *flow.Out[Job], j *Job) {
	switch {
	case j.Kind == Room:
		m.credit += 640
		out.Release(j)
	case j.Handle.Connector.Config().Listens():
		m.client(out, j)
	default:
		m.smsc(out, j)
	}
	for len(m.held) > 0 && m.credit > 0 {
		n := countOf(m.held[0].Octets.b, smpp.SubmitSM|smpp.Response)
		m.credit -= n
		m.sent.Add(int64(n))
		out.To(toParser, m.held[0])
		m.held = m.held[1:]
	}
}

// countOf returns how many PDUs of a kind octets have.
func countOf(octets []byte, id smpp.CommandID) (n int) {
	for w := octets; len(w) > 0; w = w[binary.BigEndian.Uint32(w):] {
		if smpp.CommandID(binary.BigEndian.Uint32(w[4:])) == id {
			n++
		}
	}
	return n
}

// client counts the answers that a client gets, and answers its receipts.
func (m *memory) client(out *flow.Out[Job], j *Job) {
	m.answered.Add(int64(countOf(j.Octets.b, smpp.SubmitSM|smpp.Response)))
	resp := m.buffers.get()
	for w := j.Octets.b; len(w) > 0; w = w[binary.BigEndian.Uint32(w):] {
		if smpp.CommandID(binary.BigEndian.Uint32(w[4:])) == smpp.DeliverSM {
			resp.b = append(resp.b, 0, 0, 0, 17, 0x80, 0, 0, 5, 0, 0, 0, 0)
			resp.b = append(append(resp.b, w[12:16]...), 0)
		}
	}
	if n := len(resp.b) / 17; n > 0 {
		answer := out.Get()
		answer.Kind, answer.Octets = Bytes, resp
		answer.retain(j.Handle)
		out.To(toParser, answer)
		m.received.Add(int64(n))
	} else {
		m.buffers.put(resp)
	}
	m.buffers.giveBack(j)
	discard(out, j)
}

// smsc answers the messages that an SMSC gets, as far as it has credit, and reports them as delivered.
func (m *memory) smsc(out *flow.Out[Job], j *Job) {
	answer, resp := out.Get(), m.buffers.get()
	for w := j.Octets.b; len(w) > 0; w = w[binary.BigEndian.Uint32(w):] {
		if smpp.CommandID(binary.BigEndian.Uint32(w[4:])) != smpp.SubmitSM {
			continue
		}
		m.id++
		resp.b = append(resp.b, 0, 0, 0, 33, 0x80, 0, 0, 4, 0, 0, 0, 0)
		resp.b = append(resp.b, w[12:16]...)
		resp.b = append(fmt.Appendf(resp.b, "%016d", m.id), 0)
	}
	if m.receipts {
		for id := m.id - uint64(len(resp.b)/33) + 1; id <= m.id; id++ {
			resp.b = receipt(id).AppendWire(resp.b)
		}
	}
	m.buffers.giveBack(j)
	if len(resp.b) == 0 {
		m.buffers.put(resp)
		discard(out, answer)
		discard(out, j)
		return
	}
	answer.Kind, answer.Octets = Bytes, resp
	answer.retain(j.Handle)
	discard(out, j)
	m.held = append(m.held, answer)
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

func benchRelay(b *testing.B, receipts, log bool, backlog int) {
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
	deps := &Deps{Gateway: g, Pool: pool, Log: zerolog.Nop(), groups: newGroups(1)}
	m := &memory{buffers: &deps.buffers, receipts: receipts}
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
		h := newHandle(deps, operator.Acquire(), admitted{fd: -1}, now)
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
		h := newHandle(deps, clients.Acquire(), admitted{fd: -1}, now)
		h.Session.Start(now, nil)
		bind := &smpp.PDU{ID: smpp.BindTransceiver, SequenceNumber: 1}
		bind.Bind().SystemID, bind.Bind().Password, bind.Bind().InterfaceVersion = []byte("load"), []byte("secret"), 0x34
		a := h.Session.Receive(now, bind)
		login := g.Logins.Begin(now, clients, netip.AddrPort{}, tlsfiles.Identity{}, a.Credentials)
		login.Next(now)
		h.Account, h.Origin = login.Result.Account, origin
		h.Session.Login(now, bind, login.Result.Code)
		h.BoundAt = 1
		h.Lane = g.Table.AccountLane(cfg, "load")
		m.clients = append(m.clients, h)
		j := in.Get()
		j.Kind = Bound
		j.retain(h)
		in.Send(toDispatcher, j)
	}
	for i := range 10 {
		pdu := submit(uint32(i + 1))
		if receipts {
			pdu.SM.RegisteredDelivery = 1
		}
		m.burst = pdu.AppendWire(m.burst)
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
	for receipts && int(m.received.Load()) < submitted-backlog-640 {
		runtime.Gosched()
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

// receipt is a deliver_sm that reports a message as delivered.
func receipt(id uint64) *smpp.PDU {
	s := &smpp.PDU{ID: smpp.DeliverSM, SequenceNumber: uint32(id%0x7fffffff) + 1}
	s.SM.SourceTON, s.SM.SourceNPI, s.SM.SourceAddr = 1, 1, []byte("46700000002")
	s.SM.DestTON, s.SM.DestNPI, s.SM.DestAddr = 1, 1, []byte("46700000001")
	s.SM.ESMClass = 4
	s.SM.ShortMessage = fmt.Appendf(nil, "id:%016d sub:001 dlvrd:001 submit date:2601010000 done date:2601010000 stat:DELIVRD err:000 text:#000000000001", id)
	return s
}
