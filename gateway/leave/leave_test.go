package leave

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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
	"pmg/internal/testutil"
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

// A fake is a plugin that answers by the text of a message, and notes what it was asked.
type fake struct {
	name  string
	waits bool
	hang  chan struct{} // what it waits for; nil: nothing

	mu    sync.Mutex
	asked []plugin.Message
}

func (f *fake) Waits() bool { return f.waits }
func (f *fake) Close()      {}
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
			return r.one
		}
		return r.two
	})
	policy := &connector.Policy{Settler: r, Notes: k, Bodies: k, Process: n}
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
	tb.Apply(cfg)
	h.Apply(cfg)
	k.Begin(r)
	r.lane = tb.LaneOf(tb.Connector("operator"))
	l := &connector.Link{}
	l.Open(r.lane.Attach()[0], netip.AddrPort{}, now, r)
	l.BoundAt, l.Lane = now, r.lane
	l.Instance.SetLink(l)
	r.lane.Bound(l, true)
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
func (r *rig) Halted() bool                                           { return false }
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
	r.lane.Push(now, s, m)
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
	if err := r.keep.Journal.Sync(); err != nil {
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

// Each verdict of a plugin is done, whether it waits or not.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	const plain = "1234 46700000001 "
	for _, c := range []struct {
		text, failure string
		leaves        string // what leaves
		ended, aside  string
		again         int64  // when it is tried again, in seconds
		asked         string // of which plugins, by their names
		says          string // in the log
	}{
		{text: "a", leaves: plain + "a", asked: "one two"},
		{text: "one refuses", ended: "rejected 46700000001 refused:one", asked: "one", says: "plugin one refuses it: of one"},
		{text: "two refuses", ended: "rejected 46700000001 refused:two", asked: "one two"},
		{text: "one refuses for a while", ended: "rejected 46700000001 refused:one", asked: "one"},
		{text: "one refuses its recipient", ended: "bad_destination 46700000001 refused:one", asked: "one"},
		{text: "one holds", aside: "held by plugin one held:one", asked: "one", says: "plugin one holds it: of one"},
		{text: "one delays", again: 5, asked: "one", says: "plugin one delays it by 5s"},
		{text: "one delays to the past", leaves: plain + "one delays to the past", asked: "one two"},
		{text: "one changes", leaves: "New 46700000009 changed changed:one", asked: "one two"},
		{text: "two adds", leaves: plain + "two adds+operator changed:two", asked: "one two"},
		{text: "one fails", failure: "refuse", ended: "rejected 46700000001 refused:one", asked: "one", says: "out of order"},
		{text: "one fails", failure: "pass", leaves: plain + "one fails", asked: "one two", says: "out of order"},
		{text: "one fails", failure: "hold", aside: "held by plugin one held:one", asked: "one", says: "out of order"},
		{text: "one writes a long one", failure: "pass", leaves: plain + "one writes a long one", asked: "one two", says: "too long for one message"},
		{text: "one writes a long one", failure: "hold", aside: "held by plugin one held:one", asked: "one"},
		{text: "one breaks its recipient", failure: "refuse", ended: "rejected 46700000001 refused:one", asked: "one", says: "which is no number"},
	} {
		for _, waits := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				if c.failure == "" {
					c.failure = "refuse"
				}
				r := newRig(t, waits, "FAILURE", c.failure)
				slot := r.submit("acme", c.text)
				if waits {
					if slot != nil {
						t.Errorf("%s: it leaves before it was asked about", c.text)
					}
					synctest.Wait()
				}
				var again int64
				if slot == nil {
					slot, again = r.next(now)
				}
				got := []string{leaves(slot), strings.Join(r.ended, ","), strings.Join(r.aside(), ",")}
				if want := []string{c.leaves, c.ended, c.aside}; !slices.Equal(got, want) {
					t.Errorf("%s, waits %v: got %q, want %q", c.text, waits, got, want)
				}
				if c.again != 0 && again != now+c.again*second || c.again == 0 && again != 0 {
					t.Errorf("%s, waits %v: again at %d", c.text, waits, again-now)
				}
				var asked []string
				for _, f := range []*fake{r.one, r.two} {
					for _, q := range f.asked {
						asked = append(asked, f.name)
						if q.Hook != plugin.Send || q.Connector != "operator" || q.Account != "acme" || q.ID == "" {
							t.Errorf("%s: %+v", c.text, q)
						}
					}
				}
				if strings.Join(asked, " ") != c.asked {
					t.Errorf("%s, waits %v: %q are asked, want %s", c.text, waits, asked, c.asked)
				}
				if text := r.log.String(); !strings.Contains(text, c.says) || c.says == "" && strings.Contains(c.leaves, plain) && text != "" {
					t.Errorf("%s, waits %v: the log says %s", c.text, waits, text)
				}
				if slot != nil {
					if slot.Message.Sends != 1 || string(slot.Message.Dest().Addr) != "46700000001" || len(slot.Message.Tags()) > 0 {
						t.Errorf("%s: the message was changed: %+v", c.text, slot.Message)
					}
					r.accepted(slot)
				}
			})
		}
	}
}

// A later plugin sees what an earlier one has changed, for this attempt. What ends the message leaves it as its client has
// submitted it.
func TestChangesOfEarlierPlugins(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, waits)
			r.two.name = "changed" // refuses what the first has made
			r.submit("acme", "one changes")
			synctest.Wait()
			if q := r.two.asked; len(q) != 1 || q[0].Text != "changed" || q[0].To != "46700000009" || q[0].From != "New" {
				t.Errorf("waits %v: %+v", waits, q)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, waits)
			r.two.name = "one adds+operator"
			r.submit("acme", "one adds")
			synctest.Wait()
			r.two.name = "two"
			if q := r.two.asked; len(q) != 1 || q[0].Text != "one adds+operator" {
				t.Errorf("waits %v: %+v", waits, q)
			}
		})
	}
}

// Only messages of its accounts that leave for an SMSC are asked about: no receipts, none for clients, and none that will be cut.
// A plugin that has held one is not asked about it again.
func TestAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	if r.IsOpen(r.lane) || !r.IsOpen(r.table.ClientLane("acme", nil)) {
		t.Error("messages for SMSCs are not asked about, or those for clients are")
	}
	if slot := r.submit("other", "one refuses"); slot == nil || len(r.one.asked) != 0 || len(r.two.asked) != 1 {
		t.Errorf("another account: %d and %d are asked", len(r.one.asked), len(r.two.asked))
	} else {
		r.accepted(slot)
	}
	s, m := r.message("acme", "one refuses")
	sms.SetMark(m, sms.Held, "one")
	r.push(s, m)
	if slot, _ := r.next(now); slot == nil || len(r.one.asked) != 0 || len(r.two.asked) != 2 {
		t.Errorf("one that it has held: %d and %d are asked", len(r.one.asked), len(r.two.asked))
	} else {
		r.accepted(slot)
	}
	receipt := &sms.Message{Kind: sms.Receipt, Origin: m.Origin}
	if p := r.Check(now, &connector.Slot{Message: receipt, Share: s}); p != (connector.Passage{}) || len(r.two.asked) != 2 {
		t.Errorf("a receipt: %+v", p)
	}
	r.hooks.Apply(parse(t, "HOOKS", ""))
	if !r.IsOpen(r.lane) {
		t.Error("without hooks messages are asked about")
	}
}

// A message for which there is no room among those that are parked stays in its queue for a minute.
func TestHoldsTooMany(t *testing.T) {
	t.Parallel()
	r := newRig(t, false, "PARKED", "1")
	r.submit("acme", "one holds")
	if slot := r.submit("acme", "one holds"); slot != nil || len(r.aside()) != 1 {
		t.Errorf("%q are parked", r.aside())
	}
	if slot, again := r.next(now); slot != nil || again != now+int64(fullPause) || r.lane.Len() != 1 {
		t.Errorf("%d wait until %d", r.lane.Len(), again-now)
	}
	if r.next(now + int64(fullPause)); len(r.one.asked) != 3 || !strings.Contains(r.log.String(), "plugin one holds it") {
		t.Errorf("it was asked %d times: %s", len(r.one.asked), r.log.String())
	}
}

// A reload that removes the hooks, or the plugins, while one hangs changes nothing for the message that it is asked about: it
// goes on with the hooks that were in force, and has its verdict when the deadline is over.
func TestReloadWhileAsked(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, true)
			r.one.hang = make(chan struct{})
			r.submit("acme", "two refuses")
			synctest.Wait()
			cfg := parse(t, "HOOKS", "")
			cfg.Plugins = nil
			r.hooks.Apply(cfg)
			want := "rejected 46700000001 refused:one" // that is on_failure
			if answers {
				close(r.one.hang)
				want = "rejected 46700000001 refused:two"
			} else {
				time.Sleep(2 * time.Second)
			}
			synctest.Wait()
			if !slices.Equal(r.ended, []string{want}) {
				t.Errorf("answers %v: it has ended as %q, want %s", answers, r.ended, want)
			}
		})
	}
}

// While one is asked about, it keeps its place in the window, and a plugin that hangs holds no more than that.
func TestWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, true)
		r.one.hang = make(chan struct{})
		for range 5 {
			if slot := r.submit("acme", "a"); slot != nil {
				t.Error("one leaves that has no verdict")
			}
		}
		synctest.Wait()
		if len(r.one.asked) != 2 || r.lane.Len() != 3 {
			t.Errorf("%d are asked about, %d wait", len(r.one.asked), r.lane.Len())
		}
		close(r.one.hang)
		for n := 0; n < 5; n++ {
			synctest.Wait()
			slot, _ := r.next(now)
			for slot == nil {
				synctest.Wait()
				slot, _ = r.next(now)
			}
			r.accepted(slot)
		}
		if len(r.ended) != 5 || len(r.one.asked) != 5 {
			t.Errorf("%d have ended, %d were asked about", len(r.ended), len(r.one.asked))
		}
	})
}

// A preview says what each plugin says, asks none that waits, and neither logs nor keeps anything.
func TestPreview(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		waits  bool
		leaves bool
		says   string
	}{
		{"a", false, true, ""},
		{"one refuses", false, false, "one refuses it: of one"},
		{"one holds", false, false, "one holds it: of one"},
		{"two delays", false, false, "two delays it by 5s"},
		{"one changes", false, true, "one changes it for this attempt"},
		{"one fails", false, false, "one has no verdict: plugin one: out of order; one refuses it: plugin one has not answered"},
		{"one refuses", true, true, "one would be asked, and is not: what it says is not known here; two would be asked, and is not: what it says is not known here"},
	} {
		r := newRig(t, c.waits)
		s, m := r.message("acme", c.text)
		var says []string
		changed, leaves := r.Preview(now, &connector.Slot{Message: m, Share: s}, func(plugin, one string) { says = append(says, plugin+" "+one) })
		if leaves != c.leaves || (changed != nil) != (c.text == "one changes" || !c.leaves && !strings.Contains(c.text, "delays")) {
			t.Errorf("%s: leaves %v, changed %+v", c.text, leaves, changed)
		}
		if got := strings.Join(says, "; "); got != c.says || r.log.String() != "" || len(r.aside()) != 0 {
			t.Errorf("%s: %s, want %s; %s", c.text, got, c.says, r.log.String())
		}
	}
}
