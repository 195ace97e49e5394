package sandbox

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/request"
	"pmg/internal/smstext"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/prototest/toy"
	"pmg/protocols/testsms"
	"pmg/sms"
	"pmg/store"
)

// durable is a store in memory that counts as a disk, so that its notes outlive a gateway.
type durable struct{ store.Store }

func (durable) Durable() bool { return true }
func (durable) Close() error  { return nil }

// rig is a gateway in a bubble of synctest, whose connector operator is the sandbox. What comes back goes to the client.
type rig struct {
	gateway.Engine // nil: there are no sessions
	t              *testing.T
	g              *gateway.Gateway
	smsc           *SMSC
	operator       *connector.Connector
	lane           *connector.Lane // of the client
	logs           string          // directory of the pdu log
	dir            *pdulog.Dir

	lanes sync.Mutex // one is dispatched at a time

	mu     sync.Mutex
	ended  bool
	gotten []*sms.Message // what the client has got, copies
	showed []Text

	got   []*sms.Message // the same, as it was when the test looked last
	shown []Text
}

// newRig makes one with options of the connector. disk is nil, or a store that a rig before has left.
func newRig(t *testing.T, disk store.Store, options string) *rig {
	t.Helper()
	cfg, _, err := config.Parse([]byte(`
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret}]
connectors:
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0"}
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, protocol: test, throttle_pause: 10ms, retry: [10ms, repeat], `+options+`}
routes: [{from: operator, to: {account: client}}, {to: operator}]
`), config.Options{Protocols: []string{"http", "smpp", "test"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.Nop(), func(protocol string, _ *config.Config) (protocols.Driver, error) {
		switch protocol {
		case "test":
			return testsms.New(), nil
		case "http":
			return httpsms.New(), nil
		}
		return toy.New(), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, g: g, operator: g.Table.Connector("operator"), logs: t.TempDir()}
	if disk != nil {
		if err := g.Keep(disk); err != nil {
			t.Fatal(err)
		}
	}
	r.dir = pdulog.NewDir(r.logs, pdulog.Options{})
	if r.operator.PDULog, err = r.dir.Open("operator"); err != nil {
		t.Fatal(err)
	}
	g.Keeper.Begin(r)
	l := g.Table.AccountLane(cfg, "client")
	r.lane = l
	outlet := connector.NewOutlet(l.Home(), client{r}, 100)
	r.Do(l, func(int64) { l.Window.Open(outlet) })
	r.smsc = Start(t.Context(), g, r, r.operator)
	r.smsc.Watch(func(one Text) {
		r.mu.Lock()
		r.showed = append(r.showed, one)
		r.mu.Unlock()
	})
	g.Recover(t.Context(), r)
	synctest.Wait()
	return r
}

// close ends the gateway.
func (r *rig) close() {
	r.smsc.Close()
	synctest.Wait()
	if err := r.dir.Close(); err != nil {
		r.t.Error(err)
	}
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	if err := r.g.Close(); err != nil {
		r.t.Error(err)
	}
}

// lines returns the pdu log, which the gateway has closed.
func (r *rig) lines() string {
	var all strings.Builder
	names, _ := filepath.Glob(filepath.Join(r.logs, "*"))
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			r.t.Error(err)
		}
		all.Write(b)
	}
	return all.String()
}

// Do dispatches a lane on a goroutine of its own, so that nobody waits for another.
func (r *rig) Do(l *connector.Lane, f func(int64)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return false
	}
	go r.dispatch(l, f)
	return true
}

func (r *rig) dispatch(l *connector.Lane, f func(int64)) {
	r.lanes.Lock()
	defer r.lanes.Unlock()
	now := r.g.Node.Clock.Now()
	f(now)
	l.Tick(now)
	for {
		slot, again := l.Next(now)
		if slot == nil || slot.Outlet == nil {
			if again != 0 {
				time.AfterFunc(time.Duration(again-now), func() { r.Do(l, func(int64) {}) })
			}
			break
		}
		slot.Outlet.Courier.Give(now, slot)
	}
	l.Window.Quiet(now)
	l.Publish()
	r.g.Keeper.CommitEnded()
}

func (*rig) Committed(store.Position, error)                 {}
func (*rig) Logout(func(*connector.Link) bool)               {}
func (*rig) Rebind(*connector.Connector)                     {}
func (*rig) Addresses(*connector.Connector) []netip.AddrPort { return nil }

// client is the courier of the client's lane.
type client struct{ *rig }

func (c client) Give(now int64, s *connector.Slot) {
	m := c.g.Node.Messages.Get()
	source, dest := s.Message.Source(), s.Message.Dest()
	m.Set(source, dest, s.Message.Text())
	m.Kind = s.Message.Kind
	if report, ok := s.Message.Report(); ok {
		m.SetReport(source, dest, &report)
	}
	c.mu.Lock()
	c.gotten = append(c.gotten, m)
	c.mu.Unlock()
	c.Do(c.lane, func(now int64) { c.lane.Answered(now, s, sms.Answer{}) })
}

func (client) Quiet(int64) {}

// submit submits a message to a number, and waits until nothing more happens now. notify says which receipts are asked for.
func (r *rig) submit(to, text string, notify sms.Notify) uint64 {
	r.t.Helper()
	from := &connector.Source{
		Connector: r.g.Table.Connector("api"), Account: r.g.Logins.Accounts().Account("client"), Origin: r.g.Node.Origins.Of("client", "api"),
	}
	alphabet, octets := smstext.Encode(sms.Default, text)
	o := httpsms.Order{From: "1234", To: to, Alphabet: alphabet, Text: octets, Notify: notify}
	a := r.g.Requests.Submit(r.t.Context(), from, []request.Item{{Fill: o.Fill}})[0]
	if a.Code != sms.OK {
		r.t.Fatalf("%+v", a)
	}
	r.pass(0)
	return a.ID
}

// pass passes time, and looks.
func (r *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	r.mu.Lock()
	r.got, r.shown = slices.Clone(r.gotten), slices.Clone(r.showed)
	r.mu.Unlock()
}
