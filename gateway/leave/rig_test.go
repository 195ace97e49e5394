package leave

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/convert"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/login"
	"pmg/gateway/node"
	"pmg/gateway/route"
	"pmg/internal/testkit/testutil"
	"pmg/plugin"
	"pmg/protocols/smpp"
	"pmg/sms"
	"pmg/store"
)

const (
	now    = int64(1_800_000_000_000_000_000) // an arbitrary time
	second = int64(1_000_000_000)
	ahead  = 3600 * second // the wall clock of a rig
)

// A fake is a plugin that answers by the text of a message, and records what it was asked.
type fake struct {
	name  string
	waits bool
	hang  chan struct{} // what it waits for; nil: nothing

	mu    sync.Mutex
	asked []plugin.Message
}

// A quick is a fake that does not wait.
type quick struct{ *fake }

func (q quick) Try(m *plugin.Message) (plugin.Verdict, bool, error) {
	v, err := q.Ask(context.Background(), m)
	return v, true, err
}

// plugin returns the fake as a plugin.
func (f *fake) plugin() plugin.Plugin {
	if f.waits {
		return f
	}
	return quick{f}
}

func (f *fake) Close() {}
func (f *fake) Ask(ctx context.Context, m *plugin.Message) (v plugin.Verdict, err error) {
	one := *m
	one.Text, one.From, one.To = strings.Clone(m.Text), strings.Clone(m.From), strings.Clone(m.To) // they are used again
	f.mu.Lock()
	f.asked = append(f.asked, one)
	f.mu.Unlock()
	if f.hang != nil {
		select {
		case <-f.hang:
		case <-ctx.Done():
			return v, ctx.Err()
		}
	}
	text := func(s string) *string { return &s }
	v.Why = "of " + f.name
	switch what, _, _ := strings.Cut(m.Text, ","); what {
	case f.name + " refuses":
		v.Do = plugin.Refuse
	case f.name + " refuses for a while":
		v.Do, v.Status = plugin.Refuse, sms.Throttled.String()
	case f.name + " refuses its recipient":
		v.Do, v.Status = plugin.Refuse, sms.BadDestination.String()
	case f.name + " holds":
		v.Do = plugin.Hold
	case f.name + " delays":
		v.Do, v.Until = plugin.Delay, time.Unix(0, now+ahead+5*second)
	case f.name + " delays to the past":
		v.Do, v.Until = plugin.Delay, time.Unix(0, now+ahead)
	case f.name + " changes":
		v.From, v.To, v.Text, v.Tags = text("New"), text("+46700000009"), text("changed"), []string{"late"}
	case f.name + " adds":
		v.Text = text(m.Text + "+" + m.Connector)
	case f.name + " writes a long one":
		v.Text = text(strings.Repeat("l", 161))
	case f.name + " breaks its recipient":
		v.To = text("nobody")
	case f.name + " fails":
		err = errors.New("out of order")
	}
	return v, err
}

// A rig is an asker with the lane of an SMSC, whose session is the test's.
type rig struct {
	*Asker
	t    *testing.T
	log  testutil.Log
	lane *connector.Lane
	one  *fake
	two  *fake

	mu     sync.Mutex
	given  []*connector.Slot
	ended  []string // code, recipient and tags of each message
	quiets int
}

const gated = `
pdulog: {enabled: false}
accounts: [{system_id: acme, password: x, max_parked: PARKED}, {system_id: other, password: x}]
connectors:
  - {name: clients, direction: in, address: ":0"}
  - {name: operator, direction: out, address: "a:1", system_id: x, instances: 1, static: true, window: 2, long_messages: split8}
routes: [{to: operator}]
plugins: [{name: one, on_failure: FAILURE, url: "http://127.0.0.1:1/"}, {name: two, on_failure: pass, url: "http://127.0.0.1:2/"}]
hooks: [HOOKS]
`

const both = "{at: send, plugin: one, accounts: [acme], connectors: [operator]}, {at: send, plugin: two}"

// newRig makes a rig. Of each two arguments the first is replaced by the second in its configuration.
func newRig(t *testing.T, waits bool, with ...string) *rig {
	t.Helper()
	cfg := parse(t, with...)
	r := &rig{t: t, one: &fake{name: "one", waits: waits}, two: &fake{name: "two", waits: waits}}
	n := node.New(cfg, zerolog.New(&r.log))
	n.Memory.SetLimit(1 << 30)
	n.Clock.EngineClock = func() int64 { return now }
	n.Clock.SetAhead(ahead)
	k := keep.New(n)
	s, err := store.Open("store", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	k.Open(s, func(store.Position, error) {})
	h := hooks.New(func(p *config.Plugin) plugin.Plugin {
		if p.Name == "one" {
			return r.one.plugin()
		}
		return r.two.plugin()
	})
	policy := &connector.Policy{Settler: r, Intents: k, Bodies: k, Process: n}
	tb := route.NewTable(n, k, login.New(n, hooks.New(nil)), policy, func(*connector.Lane) {})
	r.Asker = New(n, k, tb, convert.New(n, tb), h)
	policy.Gate, policy.Router = r.Asker, tb
	var all []*connector.Connector
	for i := range cfg.Connectors {
		d := smpp.New(smpp.Options{})
		c := connector.New(i, &cfg.Connectors[i], d, &n.Memory)
		c.Protocol = d.Protocol()
		all = append(all, c)
	}
	tb.SetConnectors(all)
	tb.Apply(cfg, nil)
	h.Apply(cfg)
	k.Begin(r)
	r.lane = tb.LaneOf(tb.Connector("operator"))
	l := &connector.Link{}
	l.Open(r.lane.Window.Attach()[0], netip.AddrPort{}, now, r)
	l.BoundAt, l.Lane = now, r.lane
	l.Instance.SetLink(l)
	r.lane.Window.Bound(l, true)
	t.Cleanup(func() {
		h.Close()
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func parse(t *testing.T, with ...string) *config.Config {
	t.Helper()
	yaml := strings.NewReplacer(append(with, "PARKED", "10", "FAILURE", "refuse", "HOOKS", both)...).Replace(gated)
	cfg, _, err := config.Parse([]byte(yaml), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// Do and Committed are those of an engine, Give and Quiet those of a courier, and the rest is of a settler.
func (r *rig) Do(_ *connector.Lane, f func(int64)) bool {
	r.mu.Lock() // as one goroutine dispatches
	defer r.mu.Unlock()
	f(now)
	return true
}
func (r *rig) Committed(store.Position, error) {}
func (r *rig) Give(_ int64, s *connector.Slot) { r.given = append(r.given, s) }
func (r *rig) Quiet(int64)                     { r.quiets++ }
func (r *rig) Settle(*connector.Lane, *sms.Message, sms.Answer, bool) connector.Outcome {
	return connector.Outcome{}
}
func (r *rig) Tried(*connector.Lane, *sms.Message, sms.Answer, int64) {}
func (r *rig) Doubled(*connector.Lane, *sms.Message, sms.Answer)      {}
func (r *rig) Halted(int64) bool                                      { return false }
func (r *rig) Unreadable(*connector.Lane, *connector.Share, uint64)   {}
func (r *rig) Ended(_ *connector.Lane, m *sms.Message, a sms.Answer, _ int64) {
	r.ended = append(r.ended, strings.TrimSpace(fmt.Sprintf("%v %s %s", a.Code, m.Dest().Addr, m.Tags())))
}

// message makes a message of an account, which is stored.
func (r *rig) message(account, text string) (*connector.Share, *sms.Message) {
	m := r.node.Messages.Get()
	m.ID, m.Arrived, m.Notify = r.keep.IDs.Add(1), now, sms.NotifyFailure
	m.Origin = r.node.Origins.Of(account, "clients")
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}, []byte(text))
	s := r.table.Share(r.lane, m.Origin)
	r.keep.Put(keep.Accepted{Message: m, Share: s}, nil)
	s.Enter(m, now)
	return s, m
}

// submit gives the lane a message of an account, and returns the slot by which it leaves, nil if it does not.
func (r *rig) submit(account, text string) *connector.Slot {
	s, m := r.message(account, text)
	r.push(s, m)
	slot, _ := r.next(now)
	return slot
}

// The lane's functions, which one goroutine at a time may call.
func (r *rig) push(s *connector.Share, m *sms.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lane.Queues.Push(now, s, m)
}

func (r *rig) next(at int64) (*connector.Slot, int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lane.Next(at)
}

func (r *rig) accepted(s *connector.Slot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lane.Answered(now, s, sms.Answer{Code: sms.OK, At: now})
}

// leaves describes what leaves by a slot.
func leaves(s *connector.Slot) string {
	if s == nil {
		return ""
	}
	m := s.Leaving()
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", m.Source().Addr, m.Dest().Addr, m.Text(), m.Tags()))
}

// aside returns the states of the messages that were put aside, with their tags.
func (r *rig) aside() (all []string) {
	r.t.Helper()
	if err := r.keep.Batches.Sync(); err != nil {
		r.t.Fatal(err)
	}
	_, err := r.keep.Index.Scan(0, 100, func(e *store.Entry) error {
		if e.State == nil {
			return nil
		}
		s, err := store.DecodeState(e.State)
		var m sms.Message
		if err == nil {
			err = store.Decode(e.Record, &m, 0)
		}
		if s.Aside == store.Parked {
			all = append(all, s.Reason+" "+string(m.Tags()))
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}
