package apitest

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
	"pmg/store"
)

// A Site is a gateway whose lanes are dispatched without a pipeline. Its SMSC is the test.
type Site struct {
	Gateway *gateway.Gateway
	Log     testutil.Log
	SMSC    *SMSC // the SMSC of connector operator; nil: the site has none

	t  *testing.T
	do *engine
}

// New starts a gateway of a configuration, whose messages are in a store in memory.
func New(t *testing.T, yaml string) *Site {
	t.Helper()
	s := &Site{t: t}
	c := Parse(t, yaml)
	g, err := gateway.New(c, zerolog.New(&s.Log), driver)
	if err != nil {
		t.Fatal(err)
	}
	disk, err := store.Open("store", store.Options{FS: vfs.NewMem(), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Keep(disk); err != nil {
		t.Fatal(err)
	}
	s.Gateway, s.do = g, newEngine(g)
	g.Keeper.Begin(s.do)
	g.Recover(t.Context(), s.do)
	t.Cleanup(func() { s.do.end(); _ = g.Close() })
	if o := g.Table.Connector("operator"); o != nil {
		s.SMSC = &SMSC{site: s, connector: o, lane: g.Table.LaneOf(o), given: make(chan *connector.Slot, 100)}
		outlet := connector.NewOutlet(o, s.SMSC, 100)
		s.Do(s.SMSC.lane, func(int64) { s.SMSC.lane.Window.Open(outlet) })
	}
	return s
}

func driver(protocol string, _ *config.Config) (protocols.Driver, error) {
	if protocol == "http" {
		return httpsms.New(), nil
	}
	return toy.New(), nil
}

// Parse returns the configuration of a text.
func Parse(t *testing.T, yaml string) *config.Config {
	t.Helper()
	c, _, err := config.Parse([]byte("pdulog: {enabled: false}\n"+yaml), config.Options{Protocols: []string{"http", "smpp"}})
	if err != nil {
		t.Fatalf("%v\n%s", err, yaml)
	}
	return c
}

// Do implements the engines of httpapi's packages.
func (s *Site) Do(l *connector.Lane, f func(now int64)) bool { return s.do.Do(l, f) }

// Reload puts another configuration in force.
func (s *Site) Reload(yaml string) {
	s.t.Helper()
	s.Apply(Parse(s.t, yaml))
}

// Apply puts a configuration in force, as Reload does after reading it.
func (s *Site) Apply(c *config.Config) {
	s.t.Helper()
	if _, err := s.Gateway.Reload(c, s.do); err != nil {
		s.t.Error(err)
	}
	for _, c := range s.Gateway.Table.Connectors() {
		c.Streams.Check()
	}
}

// Settled waits until the store has recorded the end of every message.
func (s *Site) Settled() {
	s.t.Helper()
	testutil.Eventually(s.t, "all have ended", func() bool {
		return s.Gateway.Pending() == 0 && s.Gateway.Keeper.Batches.Sync() == nil
	})
}

// An engine dispatches lanes on a goroutine, one after another.
type engine struct {
	gateway.Engine // nil: the site has no sessions
	gateway        *gateway.Gateway
	ended          chan struct{}

	mu     sync.Mutex
	work   []work
	wake   chan struct{}
	closed bool
}

type work struct {
	lane *connector.Lane
	f    func(int64)
}

func newEngine(g *gateway.Gateway) *engine {
	e := &engine{gateway: g, ended: make(chan struct{}), wake: make(chan struct{}, 1)}
	go e.run()
	return e
}

// Committed implements keep.Engine.
func (e *engine) Committed(store.Position, error) {
	if e.gateway.GoesOn() {
		for _, l := range e.gateway.Table.Lanes() {
			e.Do(l, func(int64) {})
		}
	}
}

func (e *engine) Do(l *connector.Lane, f func(int64)) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.work = append(e.work, work{l, f})
		e.signal()
	}
	return !e.closed
}

func (*engine) Logout(func(*connector.Link) bool)               {}
func (*engine) Rebind(*connector.Connector)                     {}
func (*engine) Addresses(*connector.Connector) []netip.AddrPort { return nil }

func (e *engine) signal() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *engine) end() {
	e.mu.Lock()
	e.closed = true
	e.signal()
	e.mu.Unlock()
	<-e.ended
}

func (e *engine) run() {
	defer close(e.ended)
	tick := time.NewTicker(5 * time.Millisecond) // for pauses that end, and messages that become due
	defer tick.Stop()
	for {
		e.mu.Lock()
		all, closed := e.work, e.closed
		e.work = nil
		e.mu.Unlock()
		now := e.gateway.Node.Clock.Now()
		e.gateway.Node.Clock.See(now)
		for _, w := range all {
			w.f(now)
		}
		if closed {
			return
		}
		for _, l := range e.gateway.Table.Lanes() {
			l.Tick(now)
			e.dispatch(l, now)
		}
		e.gateway.Keeper.CommitEnded()
		select {
		case <-e.wake:
		case <-tick.C:
		}
	}
}

func (e *engine) dispatch(l *connector.Lane, now int64) {
	for {
		slot, _ := l.Next(now)
		if slot == nil || slot.Outlet == nil { // no outlet takes the lane's messages
			break
		}
		slot.Outlet.Courier.Give(now, slot)
	}
	if l.HasHanded() {
		l.HandOver(func(s *connector.Share, m *sms.Message) { s.Lane.Queues.Push(now, s, m) })
	}
	l.Window.Quiet(now)
	l.Publish()
}

// An SMSC is the courier of a connector's lane: the test answers the messages.
type SMSC struct {
	site      *Site
	connector *connector.Connector
	lane      *connector.Lane
	given     chan *connector.Slot
}

// Give implements connector.Courier.
func (c *SMSC) Give(_ int64, s *connector.Slot) { c.given <- s }

// Quiet implements connector.Courier.
func (*SMSC) Quiet(int64) {}

// A Taken is a message that the SMSC has received and not answered.
type Taken struct {
	Message *sms.Message
	smsc    *SMSC
	slot    *connector.Slot
}

// Take waits for the next message.
func (c *SMSC) Take() *Taken {
	c.site.t.Helper()
	select {
	case s := <-c.given:
		return &Taken{s.Message, c, s}
	case <-time.After(testutil.Patience):
		c.site.t.Fatal("the SMSC is sent nothing")
		return nil
	}
}

// Idle reports whether the SMSC has got nothing so far.
func (c *SMSC) Idle() bool {
	done := make(chan struct{})
	c.site.Do(c.lane, func(int64) {}) // waiting messages are sent before the second call
	c.site.Do(c.lane, func(int64) { close(done) })
	<-done
	return len(c.given) == 0
}

// Answer answers the message.
func (t *Taken) Answer(code sms.Code, status uint32, id string) {
	t.smsc.site.Do(t.smsc.lane, func(now int64) {
		a := sms.Answer{Code: code, Status: status, At: now}
		if id != "" {
			a.PeerID = []byte(id)
		}
		t.smsc.lane.Answered(now, t.slot, a)
	})
}

// Accept takes the next message under an id.
func (c *SMSC) Accept(id string) {
	c.site.t.Helper()
	c.Take().Answer(sms.OK, 0, id)
}

// Refuse permanently refuses the next message.
func (c *SMSC) Refuse() {
	c.site.t.Helper()
	c.Take().Answer(sms.BadDestination, 11, "")
}

// Receipt delivers the receipt of a message that the SMSC has accepted with an id.
func (c *SMSC) Receipt(id string, state sms.State) {
	c.site.t.Helper()
	c.brings(func(m *sms.Message) sms.Code {
		m.SetReport(mobile(), sms.Address{Addr: []byte("1234")}, &sms.Report{ID: []byte(id), State: state})
		return sms.OK
	})
}

// Deliver delivers a message from a mobile.
func (c *SMSC) Deliver(text string) {
	c.site.t.Helper()
	c.brings(func(m *sms.Message) sms.Code {
		m.Kind = sms.MO
		m.Set(mobile(), sms.Address{Addr: []byte("1234")}, []byte(text))
		return sms.OK
	})
}

func mobile() sms.Address { return sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")} }

func (c *SMSC) brings(fill func(*sms.Message) sms.Code) {
	c.site.t.Helper()
	from := &connector.Source{Connector: c.connector, Origin: c.site.Gateway.Node.Origins.Of("", c.connector.Name)}
	if r := c.site.Gateway.Requests.Deliver(from, fill); r.Code != sms.OK {
		c.site.t.Errorf("a delivery of the SMSC is not accepted: %+v", r)
	}
}

// YAML returns a configuration: rows of accounts, options of the connectors api, which takes requests, and operator, and
// routes. Without routes all messages go to the operator.
func YAML(accounts, api, operator, routes string) string {
	if routes == "" {
		routes = "{to: operator}"
	}
	return fmt.Sprintf(`
accounts: [%s]
connectors:
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0", throttle_pause: 1ms, retry: {temporary: [1ms, repeat], lost: [1ms, repeat]}, %s}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, %s}
routes: [%s]
`, accounts, api, operator, routes)
}
