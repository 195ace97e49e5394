package gateway

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/internal/testutil"
	"pmg/sms"
	"pmg/store"
)

// withEvents makes the port's gateway write events, and returns their directory.
func (p *port) withEvents(s store.Store) (dir string) {
	p.t.Helper()
	dir = filepath.Join(p.t.TempDir(), "events")
	cfg := *p.g.Config()
	cfg.Events.Dir = dir
	p.g.SetConfig(&cfg)
	if err := p.g.Keep(s, nil); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.g.Settler.Events.Writer.Close() }) // so that nobody writes when the directory is removed
	return dir
}

func (p *port) ended(id uint64, state events.State) {
	m := p.g.Messages.Get()
	m.ID, m.Arrived = id, p.now
	m.Origin = p.g.Origins.Of("acme", "clients")
	m.Set(sms.Address{Addr: []byte("1")}, sms.Address{Addr: []byte("2")}, []byte("secret text"))
	p.g.Settler.Forget(m, keep.Ending{State: state, Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{At: p.now}}, nil)
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
		p := newPort(t, "")
		dir := p.withEvents(s)
		p.ended(7, events.Deleted)
		if err := p.g.closeStore(); err != nil {
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
	p := newPort(t, "")
	p.withEvents(store.NewMemory())
	if p.g.Halted() || p.g.GoesOn() {
		t.Error("halted, or going on, with no event")
	}
	for n := range uint64(1 << 16) { // none of them is committed
		p.ended(1+n, events.Sent)
	}
	if !p.g.Halted() || p.g.GoesOn() {
		t.Error("not halted, or going on, with too many events")
	}
	p.g.Commit()
	testutil.Eventually(t, "messages leave again", p.g.GoesOn)
	if p.g.Halted() || p.g.GoesOn() {
		t.Error("halted, or going on twice")
	}
	if err := p.g.closeStore(); err != nil {
		t.Error(err)
	}
}

// An event allocates nothing of its own, whether events are written or not.
func TestForgetAllocates(t *testing.T) {
	for _, with := range []bool{false, true} {
		p := newPort(t, "")
		s := newDisk()
		close(s.permits)
		m := p.g.Messages.Get()
		m.Set(sms.Address{Addr: []byte("1")}, sms.Address{Addr: []byte("2")}, []byte("text"))
		if with {
			p.withEvents(noEvents{s})
		} else if err := p.g.Keep(s, nil); err != nil {
			t.Fatal(err)
		}
		e := keep.Ending{Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{At: 1, PeerID: []byte("17")}, Sent: 1}
		for range 100_000 { // lets the batch grow
			p.g.Settler.Forget(m, e, nil)
		}
		if n := testing.AllocsPerRun(1000, func() { p.g.Settler.Forget(m, e, nil) }); n != 0 {
			t.Errorf("events %v: %v allocations", with, n)
		}
		_ = p.g.closeStore() // the disk has no events to write
	}
}

// A noEvents has none.
type noEvents struct{ store.Store }

func (noEvents) Events(after uint64, _ int, _ func(uint64, []byte) error) (uint64, error) {
	return after, nil
}
