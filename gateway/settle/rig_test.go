package settle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/gateway/convert"
	"pmg/gateway/hooks"
	"pmg/gateway/roomtest"
	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
	"pmg/store"
)

const (
	now    = int64(1_800_000_000_000_000_000) // an arbitrary time
	second = int64(1_000_000_000)
	ahead  = 3600 * second // the wall clock of a rig
)

// start makes a Settler whose operator has options.
func start(t *testing.T, options string) (*Settler, *connector.Connector) {
	t.Helper()
	d := startWith(t, roomtest.Operator(options))
	return d, d.table.Connector("operator")
}

// startWith makes a Settler for a configuration.
func startWith(t *testing.T, yaml string) *Settler {
	t.Helper()
	g := roomtest.With(t, yaml, func(string) protocols.Driver { return named{toy.New()} })
	h := hooks.New(hooks.Open(g.Node.Log))
	h.Apply(g.Node.Config())
	t.Cleanup(h.Close)
	return New(g.Node, g.Keeper, g.Table, convert.New(g.Node, g.Table), h)
}

// A named is a driver whose statuses below 100 have names.
type named struct{ protocols.Driver }

func (named) StatusName(status uint32) string {
	if status > 99 {
		return ""
	}
	return fmt.Sprint("STATUS_", status)
}

// A rig is a Settler with a store, a log and a directory for events. Its clocks stand.
type rig struct {
	*Settler
	t    *testing.T
	log  testutil.Log
	dir  string // of events
	lane *connector.Lane
}

// newRig makes a rig whose operator has options.
func newRig(t *testing.T, options string, s store.Store) *rig {
	t.Helper()
	return newRigWith(t, roomtest.Operator(options), s)
}

// newRigWith makes a rig for a configuration.
func newRigWith(t *testing.T, yaml string, s store.Store) *rig {
	t.Helper()
	r := &rig{Settler: startWith(t, yaml), t: t, dir: filepath.Join(t.TempDir(), "events")}
	r.node.Log = zerolog.New(&r.log).Level(zerolog.InfoLevel)
	r.node.Clock.EngineClock = func() int64 { return now }
	r.node.Clock.SetAhead(ahead)
	r.keep.Open(s, func(store.Position, error) {
		if w := r.Writer(); w != nil {
			w.Wake()
		}
	})
	if c := r.table.Connector("operator"); c != nil {
		r.lane = r.table.LaneOf(c)
	}
	return r
}

// onDisk returns a durable store without messages.
func onDisk(t *testing.T) store.Store {
	t.Helper()
	s, err := store.Open("store", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stores calls f with each kind of store.
func stores(t *testing.T, f func(t *testing.T, s store.Store)) {
	t.Run("disk", func(t *testing.T) { t.Parallel(); f(t, onDisk(t)) })
	t.Run("memory", func(t *testing.T) { t.Parallel(); f(t, store.NewMemory()) })
}

// withEvents writes events.
func (r *rig) withEvents() {
	r.t.Helper()
	cfg := *r.node.Config()
	cfg.Events.Dir = r.dir
	r.node.SetConfig(&cfg)
	if err := r.OpenEvents(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = r.Events.Writer.Close() }) // so that nobody writes when the directory is removed
}

// submitted returns a message of the client that asks for these receipts.
func (r *rig) submitted(id uint64, n sms.Notify) *sms.Message {
	m := r.node.Messages.Get()
	m.ID, m.Arrived, m.Notify, m.Sends = id, now, n, 1
	m.Origin = r.node.Origins.Of("client", "clients")
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("secret text"))
	return m
}

// close commits what is left, and closes everything.
func (r *rig) close() {
	r.t.Helper()
	r.Receipts.EndOrphans()
	r.Receipts.EndWaits()
	r.keep.Outgoing.End()
	if err := r.CloseEvents(); err != nil {
		r.t.Error(err)
	}
	if err := r.keep.Close(); err != nil {
		r.t.Error(err)
	}
}

// sync commits what waits.
func (r *rig) sync() {
	r.t.Helper()
	if err := r.keep.Batches.Sync(); err != nil {
		r.t.Fatal(err)
	}
}

// events returns the events that were written, by the ids of their messages. There is one of each.
func (r *rig) events() map[string]map[string]any {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, "events.log"))
	if err != nil {
		r.t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for line := range strings.Lines(string(b)) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			r.t.Fatal(err)
		}
		id := e["id"].(string)
		if all[id] != nil || strings.Contains(line, "secret") {
			r.t.Errorf("it is the second of its message, or has its text: %s", line)
		}
		all[id] = e
	}
	return all
}
