package settle

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/events"
	"pmg/gateway/hooks"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/internal/testkit/testutil"
	"pmg/plugin"
	"pmg/sms"
	"pmg/store"
)

// An audience is a plugin that records what it is informed of.
type audience struct {
	hang chan struct{} // what it waits for; nil: nothing

	mu  sync.Mutex
	all []plugin.Message
}

func (a *audience) Close() {}
func (a *audience) Ask(ctx context.Context, m *plugin.Message) (v plugin.Verdict, err error) {
	a.mu.Lock()
	a.all = append(a.all, *m)
	a.mu.Unlock()
	if a.hang != nil {
		select {
		case <-a.hang:
		case <-ctx.Done():
		}
	}
	v.Do = plugin.Refuse // which means nothing here
	return v, nil
}

// heard returns what it was informed of: id, connector, state and error.
func (a *audience) heard() (all []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.all {
		all = append(all, strings.TrimSpace(strings.TrimLeft(m.ID, "0")+" "+m.Connector+" "+m.State+" "+m.Error))
	}
	slices.Sort(all)
	return all
}

// informs makes a rig that informs a plugin.
func informs(t *testing.T, s store.Store, options, hook string) (*rig, *audience) {
	t.Helper()
	r, a := newRigWith(t, roomtest.Operator("")+`
plugins: [{name: audience, on_failure: pass, url: "http://127.0.0.1:1/", `+options+`}]
hooks: [{at: result, plugin: audience, `+hook+`}]
`, s), &audience{}
	r.hooks = hooks.New(func(*config.Plugin) plugin.Plugin { return a })
	r.hooks.Apply(r.node.Config())
	t.Cleanup(r.hooks.Close)
	r.keep.Outgoing.Begin(func(*connector.Lane, func(int64)) bool { return false })
	return r, a
}

// A plugin is informed of each message that ends, once, when that is stored: of none that is a receipt or goes on in another.
func TestResults(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s store.Store) {
		r, a := informs(t, s, "", "")
		ok, bad := sms.Answer{At: now, PeerID: []byte("A1")}, sms.Answer{Code: sms.BadDestination, Status: 11, At: now}
		r.Ended(r.lane, r.stored(r.submitted(1, 0)), ok, now)
		part := r.stored(r.submitted(2, 0))
		part.Part, part.Parts = 1, 3
		r.Ended(r.lane, part, bad, now)
		r.Ended(r.table.ClientLane("client", nil), r.stored(r.submitted(3, 0)), ok, now)
		r.Forget(r.stored(r.submitted(4, 0)), keep.Ending{State: events.Deleted, Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{Code: sms.Deleted, At: now}}, nil)
		r.Forget(r.stored(r.submitted(5, 0)), keep.Ending{State: events.Joined, Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{At: now}}, nil)
		receipt := r.submitted(6, 0)
		receipt.Kind = sms.Receipt
		r.Ended(r.lane, r.stored(receipt), ok, now)
		r.sync()
		want := []string{"1 operator sent", "2 operator rejected bad_destination", "3  sent", "4 operator deleted deleted"}
		testutil.Eventually(t, "it is informed", func() bool { return len(a.heard()) >= len(want) })
		r.close()
		r.hooks.Close()
		if got := a.heard(); !slices.Equal(got, want) {
			t.Errorf("it is informed of %q, want %q", got, want)
		}
		for _, m := range a.all {
			if m.Hook != plugin.Result || m.Account != "client" || m.Text != "secret text" || (m.Parts == 3) != strings.HasSuffix(m.ID, "2") || m.Parts == 3 && m.Part != 2 {
				t.Errorf("%+v", m)
			}
		}
	})
}

// It is informed behind the commit, so that it never knows more than the store.
func TestResultsBehindCommit(t *testing.T) {
	t.Parallel()
	disk := roomtest.NewDisk()
	disk.Store = store.NewMemory()
	r, a := informs(t, disk, "", "")
	r.Ended(r.lane, r.submitted(1, 0), sms.Answer{At: now}, now)
	r.keep.Batches.CommitSoon()
	testutil.Receive(t, "a commit", disk.Begun)
	if got := a.heard(); len(got) != 0 {
		t.Errorf("it is informed before the commit: %q", got)
	}
	disk.Permits <- nil
	testutil.Eventually(t, "it is informed", func() bool { return len(a.heard()) == 1 })
	close(disk.Permits)
	r.close()
}

// Only of the messages of its accounts, and of those that have left by its connectors.
func TestResultsOfSome(t *testing.T) {
	t.Parallel()
	for hook, want := range map[string]int{
		"accounts: [client]": 1, "accounts: [other]": 0, "connectors: [operator]": 1, "accounts: [other], connectors: [operator]": 0,
	} {
		r, a := informs(t, store.NewMemory(), "", hook)
		r.Ended(r.lane, r.submitted(1, 0), sms.Answer{At: now}, now)
		if strings.Contains(hook, "operator") { // those for clients have left by none
			r.Ended(r.table.ClientLane("client", nil), r.submitted(2, 0), sms.Answer{At: now}, now)
		}
		testutil.Eventually(t, "nothing waits", func() bool { all, giving := r.keep.Outgoing.Waiting(); return len(all) == 0 && !giving })
		r.close()
		r.hooks.Close()
		if got := a.heard(); len(got) != want {
			t.Errorf("%s: %q", hook, got)
		}
	}
}

// One that hangs keeps as many as workers and queue, and no message waits for it to end. What is left out is counted, and logged
// once.
func TestResultsTooMany(t *testing.T) {
	t.Parallel()
	r, a := informs(t, store.NewMemory(), "workers: 1, queue: 2, deadline: 1m", "")
	r.node.Log = zerolog.New(&r.log)
	a.hang = make(chan struct{})
	for id := range uint64(10) {
		r.Ended(r.lane, r.submitted(id+1, 0), sms.Answer{At: now}, now)
	}
	testutil.Eventually(t, "all places are taken", func() bool { f := r.hooks.Status()[0]; return f.InFlight == 1 && f.Waiting == 2 })
	if f := r.hooks.Status()[0]; f.Asked != 1 || f.Failed != 0 || f.Crowded != 7 {
		t.Errorf("%+v", f)
	}
	if n := strings.Count(r.log.String(), "a plugin is not informed how a message has ended"); n != 1 || !strings.Contains(r.log.String(), "(queue)") {
		t.Errorf("it is logged %d times: %s", n, r.log.String())
	}
	close(a.hang)
	testutil.Eventually(t, "it is informed of the others", func() bool { return len(a.heard()) == 3 })
	r.close()
}
