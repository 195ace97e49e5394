package gateway

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/internal/testutil"
	"pmg/sms"
	"pmg/store"
)

// withEvents makes the port's gateway write events, and returns their directory.
func (r *rig) withEvents(s store.Store) (dir string) {
	r.t.Helper()
	dir = filepath.Join(r.t.TempDir(), "events")
	cfg := *r.g.Node.Config()
	cfg.Events.Dir = dir
	r.g.Node.SetConfig(&cfg)
	if err := r.g.Keep(s, nil); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = r.g.Settler.Events.Writer.Close() }) // so that nobody writes when the directory is removed
	return dir
}

func (r *rig) ended(id uint64, state events.State) {
	m := r.g.Node.Messages.Get()
	m.ID, m.Arrived = id, r.now
	m.Origin = r.g.Node.Origins.Of("acme", "clients")
	m.Set(sms.Address{Addr: []byte("1")}, sms.Address{Addr: []byte("2")}, []byte("secret text"))
	r.g.Settler.Forget(m, keep.Ending{State: state, Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{At: r.now}}, nil)
	m.Release()
}

// Every engine writes an event for a message that an operator deletes, and nothing of its
// text.
func TestEventOfDeleted(t *testing.T) {
	t.Parallel()
	durable, err := store.Open("store", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []store.Store{durable, store.NewMemory()} {
		r := startRig(t)
		dir := r.withEvents(s)
		r.ended(7, events.Deleted)
		if err := r.g.closeStore(); err != nil {
			t.Error(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "events.log"))
		if err != nil || !strings.HasPrefix(string(b), `{"number":1,"id":"0000000000000007","kind":"submit","state":"deleted","account":"acme"`) ||
			strings.Contains(string(b), "secret") {
			t.Errorf("%s %v", b, err)
		}
	}
}

// While too many events wait no message leaves, and that the lanes go on is reported once.
func TestEventsFull(t *testing.T) {
	t.Parallel()
	r := startRig(t)
	r.withEvents(store.NewMemory())
	if r.g.Settler.Halted() || r.g.GoesOn() {
		t.Error("halted, or going on, with no event")
	}
	for n := range uint64(1 << 16) { // none of them is committed
		r.ended(1+n, events.Sent)
	}
	if !r.g.Settler.Halted() || r.g.GoesOn() {
		t.Error("not halted, or going on, with too many events")
	}
	r.g.Keeper.Commit()
	testutil.Eventually(t, "messages leave again", r.g.GoesOn)
	if r.g.Settler.Halted() || r.g.GoesOn() {
		t.Error("halted, or going on twice")
	}
	if err := r.g.closeStore(); err != nil {
		t.Error(err)
	}
}

// An event allocates nothing of its own, whether events are written or not.
func TestForgetAllocates(t *testing.T) {
	for _, with := range []bool{false, true} {
		r := startRig(t)
		s := roomtest.NewDisk()
		close(s.Permits)
		m := r.g.Node.Messages.Get()
		m.Set(sms.Address{Addr: []byte("1")}, sms.Address{Addr: []byte("2")}, []byte("text"))
		if with {
			r.withEvents(noEvents{s})
		} else if err := r.g.Keep(s, nil); err != nil {
			t.Fatal(err)
		}
		e := keep.Ending{Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{At: 1, PeerID: []byte("17")}, Sent: 1}
		for range 100_000 { // lets the batch grow
			r.g.Settler.Forget(m, e, nil)
		}
		if n := testing.AllocsPerRun(1000, func() { r.g.Settler.Forget(m, e, nil) }); n != 0 {
			t.Errorf("events %v: %v allocations", with, n)
		}
		_ = r.g.closeStore() // the disk has no events to write
	}
}

// A noEvents has none.
type noEvents struct{ store.Store }

func (noEvents) Events(after uint64, _ int, _ func(uint64, []byte) error) (uint64, error) {
	return after, nil
}
