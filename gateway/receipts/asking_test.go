package receipts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/internal/testkit/testutil"
	"pmg/plugin"
	"pmg/sms"
	"pmg/store"
)

// A judge is a plugin that decides about receipts as a test says, and records what it was asked.
type judge struct {
	verdict func(m *plugin.Message) (plugin.Verdict, error)
	hang    chan struct{} // what it waits for if the state is enroute
	given   atomic.Int64  // times that lanes were given receipts

	mu    sync.Mutex
	asked []plugin.Message
}

func (j *judge) Close() {}
func (j *judge) Ask(ctx context.Context, m *plugin.Message) (plugin.Verdict, error) {
	j.mu.Lock()
	j.asked = append(j.asked, *m)
	j.mu.Unlock()
	if m.State == "enroute" {
		select {
		case <-j.hang:
		case <-ctx.Done():
			return plugin.Verdict{}, ctx.Err()
		}
	}
	if j.verdict == nil {
		return plugin.Verdict{}, nil
	}
	return j.verdict(m)
}

// states returns the states that it was asked about, in their order.
func (j *judge) states() (all []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, m := range j.asked {
		all = append(all, m.State)
	}
	return all
}

// asks makes the rig ask a plugin about the receipts of the client, and keep them on a disk.
func (r *rig) asks(onFailure string) (j *judge, ended *[]keep.Ending, log *testutil.Log) {
	r.t.Helper()
	cfg, _, err := config.Parse([]byte(roomtest.Operator("")+fmt.Sprintf(`
plugins: [{name: judge, on_failure: %s, deadline: 1m, url: "http://127.0.0.1:1/"}]
hooks: [{at: receipt, plugin: judge, accounts: [client], connectors: [operator]}]
`, onFailure)), config.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	j, ended, log = &judge{hang: make(chan struct{})}, &[]keep.Ending{}, &testutil.Log{}
	r.Asking.hooks = hooks.New(func(*config.Plugin) plugin.Plugin { return j })
	r.Asking.hooks.Apply(cfg)
	r.Matcher.node.Log = zerolog.New(log)
	r.end = func(m *sms.Message, e keep.Ending) { *ended = append(*ended, e); r.forget(m, e) }
	s, err := store.Open("store", store.Options{FS: vfs.NewMem()})
	if err == nil {
		err = r.keep(s)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.Matcher.keep.Outgoing.Begin(func(_ *connector.Lane, f func(int64)) bool { f(r.now); j.given.Add(1); return true })
	return j, ended, log
}

// told makes a receipt for a client about the message that it knows as known.
func (r *rig) told(account string, known uint64, state sms.State) (*sms.Message, *connector.Share) {
	lane := r.Matcher.table.ClientLane(account, nil)
	m := r.newReceipt(lane, []byte("operator"))
	m.Arrived, m.Expires = r.now, r.now+int64(time.Hour)
	m.SetReport(sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, &sms.Report{Known: known, State: state, Err: []byte("042")})
	return m, r.Matcher.table.Share(lane, m.Origin)
}

// ask asks about a receipt, and stores it as the answer to an SMSC does.
func (r *rig) ask(m *sms.Message, s *connector.Share) {
	r.t.Helper()
	r.Asking.Ask(m, nil, s)
	if err := r.Matcher.keep.Batches.Sync(); err != nil {
		r.t.Fatal(err)
	}
}

// decided waits until the plugin is asked about nothing, and returns the receipts that are in the store.
func (r *rig) decided() (all []string) {
	r.t.Helper()
	testutil.Eventually(r.t, "all are decided", func() bool { return r.Matcher.keep.Aside(store.Asked) == 0 })
	return r.stored()
}

func (r *rig) stored() (all []string) {
	r.t.Helper()
	if err := r.Matcher.keep.Batches.Sync(); err != nil {
		r.t.Fatal(err)
	}
	_, err := r.Matcher.keep.Index.Scan(0, 100, func(e *store.Entry) error {
		var m sms.Message
		if err := store.Decode(e.Record, &m, 0); err != nil {
			return err
		}
		one := fmt.Sprintf("%s to %s", m.Source().Addr, m.Dest().Addr)
		if tags := string(m.Tags()); tags != "" {
			one += " " + tags
		}
		if m.DeliverAt != 0 {
			one += fmt.Sprintf(" at +%d, expires +%d", m.DeliverAt-r.now, m.Expires-r.now)
		}
		if e.State != nil {
			s, err := store.DecodeState(e.State)
			if err != nil {
				return err
			}
			one += fmt.Sprint(" aside ", s.Aside == store.Asked)
		}
		all = append(all, one)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// Each verdict about a receipt is done.
func TestAsking(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	const plain = "46700000001 to 1234"
	for name, c := range map[string]struct {
		verdict   plugin.Verdict
		onFailure string
		err       error
		stored    []string
		logged    string
	}{
		"passes":                   {stored: []string{plain}},
		"changes":                  {verdict: plugin.Verdict{From: text("+4799"), To: text("Shop"), Tags: []string{"a"}}, stored: []string{"4799 to Shop a"}},
		"refuses":                  {verdict: plugin.Verdict{Do: plugin.Refuse, Why: "not his"}, logged: "not his"},
		"delays":                   {verdict: plugin.Verdict{Do: plugin.Delay, Until: time.Unix(1<<33, 0)}, stored: []string{"delayed"}},
		"delays to the past":       {verdict: plugin.Verdict{Do: plugin.Delay, Until: time.Unix(1, 0)}, stored: []string{plain}},
		"holds, and passes":        {verdict: plugin.Verdict{Do: plugin.Hold}, onFailure: "pass", stored: []string{plain}, logged: "which there is not for a receipt"},
		"another text":             {verdict: plugin.Verdict{Text: text("x")}, logged: "it changes the text of a receipt"},
		"a recipient too long":     {verdict: plugin.Verdict{To: text(strings.Repeat("1", 21))}, logged: "it changes the recipient"},
		"fails":                    {err: context.Canceled, logged: "has no verdict"},
		"fails, and passes":        {err: context.Canceled, onFailure: "pass", stored: []string{plain}, logged: "has no verdict"},
		"a long one, which passes": {verdict: plugin.Verdict{To: text(strings.Repeat("1", 21))}, onFailure: "pass", stored: []string{plain}, logged: "it changes the recipient"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			j, ended, log := r.asks(map[bool]string{true: "refuse", false: c.onFailure}[c.onFailure == ""])
			j.verdict = func(*plugin.Message) (plugin.Verdict, error) { return c.verdict, c.err }
			m, s := r.told("client", 17, sms.StateUndeliverable)
			if !r.Asking.Asks(m, s) {
				t.Error("it is not asked about")
			}
			r.ask(m, s)
			if len(c.stored) > 0 { // soon, though nothing else is stored
				testutil.Eventually(t, "the lane is given it", func() bool { return j.given.Load() == 1 })
			}
			got := r.decided()
			if name == "delays" && len(got) == 1 {
				until := c.verdict.Until.UnixNano() - r.Matcher.node.Clock.Ahead() - r.now
				var expires int64 // it is valid for as long from then on
				_, err := fmt.Sscanf(got[0], fmt.Sprintf("%s at +%d, expires +%%d", plain, until), &expires)
				if left := time.Duration(expires - until); err == nil && left <= time.Hour && left > 50*time.Minute {
					got[0] = "delayed"
				}
			}
			if !slices.Equal(got, c.stored) {
				t.Errorf("the store has %q, want %q", got, c.stored)
			}
			if len(c.stored) == 0 && (len(*ended) != 1 || (*ended)[0].State.String() != "rejected" || (*ended)[0].Answer.Code != sms.Rejected || !(*ended)[0].Aside) || len(c.stored) > 0 && len(*ended) > 0 {
				t.Errorf("it has ended as %+v", *ended)
			}
			if text := log.String(); !strings.Contains(text, c.logged) || c.logged == "" && text != "" {
				t.Errorf("the log says %s", text)
			}
			q := j.asked[0]
			if q.Hook != plugin.Receipt || q.Account != "client" || q.Connector != "operator" || q.ID != sms.FormatID(17) || q.State != "undeliverable" || q.Error != "042" || q.Text != "" || q.Binary {
				t.Errorf("%+v", q)
			}
			r.finish()
		})
	}
}

// finish ends the asking, and closes the store.
func (r *rig) finish() {
	r.t.Helper()
	r.Asking.Stop()
	r.Matcher.keep.Outgoing.End()
	r.Asking.hooks.Close()
	r.Asking.End()
	if n := r.Matcher.node.Memory.Used(); n != 0 && r.Matcher.table.ClientLane("client", nil).Queues.Len() == 0 {
		r.t.Errorf("%d octets are in use at the end", n)
	}
	if err := r.close(); err != nil {
		r.t.Error(err)
	}
}

// Only receipts of its accounts and of messages that left by its connectors are asked about.
func TestAskingOfSome(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asks("refuse")
	m, s := r.told("other", 17, sms.StateDelivered)
	if r.Asking.Asks(m, s) {
		t.Error("that of another account is asked about")
	}
	m, s = r.told("client", 17, sms.StateDelivered)
	if m.Origin = r.Matcher.node.Origins.Of("", "clients"); r.Asking.Asks(m, s) {
		t.Error("that of a message that has left by another connector is asked about")
	}
	r.finish()
}

// Those about one message are asked about one after another, in their order, and others do not wait for them.
func TestAskingInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	j, _, _ := r.asks("refuse")
	for _, one := range []struct {
		known uint64
		state sms.State
	}{{17, sms.StateEnroute}, {17, sms.StateDelivered}, {17, sms.StateExpired}, {18, sms.StateRejected}} {
		m, s := r.told("client", one.known, one.state)
		r.ask(m, s)
		if one.state == sms.StateEnroute {
			testutil.Eventually(t, "it is asked about", func() bool { return len(j.states()) == 1 })
		}
	}
	testutil.Eventually(t, "that of another message is asked about", func() bool { return len(j.states()) == 2 })
	if got := j.states(); !slices.Equal(got, []string{"enroute", "rejected"}) {
		t.Errorf("it is asked about %q", got)
	}
	testutil.Eventually(t, "one is decided", func() bool { return r.Matcher.keep.Aside(store.Asked) == 3 })
	close(j.hang)
	if got := r.decided(); len(got) != 4 {
		t.Errorf("the store has %q", got)
	}
	if got := j.states(); !slices.Equal(got[2:], []string{"delivered", "expired"}) {
		t.Errorf("it is asked about %q", got)
	}
	m, s := r.told("client", 17, sms.StateDelivered)
	r.ask(m, s) // nothing is left of those before
	if r.decided(); len(j.states()) != 5 {
		t.Errorf("it is asked about %q", j.states())
	}
	r.finish()
}

// What has no verdict at a stop stays in the store, for the next start, and so do those that wait behind it.
func TestAskingStops(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	j, ended, _ := r.asks("refuse")
	for _, state := range []sms.State{sms.StateEnroute, sms.StateDelivered} {
		m, s := r.told("client", 17, state)
		r.ask(m, s)
	}
	testutil.Eventually(t, "it is asked about", func() bool { return len(j.states()) == 1 })
	r.Asking.Stop()
	m, s := r.told("client", 18, sms.StateDelivered)
	r.ask(m, s)
	close(j.hang)
	r.Asking.End()
	got := r.stored()
	if len(got) < 2 || len(*ended) != 0 || len(j.states()) != 1 {
		t.Errorf("the store has %q, %v have ended, asked about %q", got, *ended, j.states())
	}
	for _, one := range got[1:] { // the first has got its verdict
		if one != "46700000001 to 1234 aside true" {
			t.Errorf("the store has %q", got)
		}
	}
	r.finish()
}
