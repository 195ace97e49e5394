package gateway

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// A life is a gateway with a store, in a process that is killed.
type life struct {
	*Gateway
	t      *testing.T
	fs     *vfs.MemFS
	events string
}

const aheadAtKill = 3600 * second

// begin starts a gateway with what a file system has.
func begin(t *testing.T, fs *vfs.MemFS, events string) *life {
	t.Helper()
	g, _, _ := start(t, "")
	g.Node.Clock.SetAhead(aheadAtKill)
	cfg := *g.Node.Config()
	cfg.Events.Dir = events
	g.Node.SetConfig(&cfg)
	s, err := store.Open("data", store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Keep(s); err != nil {
		t.Fatal(err)
	}
	return &life{g, t, fs, events}
}

// submit stores a message for the operator.
func (l *life) submit(id uint64, notify sms.Notify) *sms.Message {
	share := l.Table.Share(l.Table.LaneOf(l.Table.Connector("operator")), l.Node.Origins.Of("client", "clients"))
	m := l.Node.Messages.Get()
	m.ID, m.Origin, m.Notify, m.Arrived = id, share.Origin, notify, l.Node.Clock.Now()
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("text"))
	l.Keeper.Put(keep.Accepted{Message: m, Share: share}, nil)
	return m
}

// kill ends the process; percent of what was not synced is there afterwards: all after a kill, nothing after a power cut.
func (l *life) kill(percent int) *life {
	l.t.Helper()
	fs := l.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(1, 1))})
	if err := l.Close(); err != nil {
		l.t.Fatal(err)
	}
	return begin(l.t, fs, l.t.TempDir())
}

// receipts returns the receipts in the store, and what other messages there are.
func (l *life) stored() (receipts []*sms.Report, others []uint64) {
	l.t.Helper()
	_, err := l.Keeper.Index.Scan(0, 10, func(e *store.Entry) error {
		m, _, err := l.Keeper.Decode(e)
		if err == nil && m.Kind == sms.Receipt {
			r, _ := m.Report()
			receipts = append(receipts, &r)
		} else if err == nil {
			others = append(others, e.ID)
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return receipts, others
}

// Messages that had ended when the gateway was killed, before a commit, stay ended: with their events, the SMSC's id for their
// receipts, and the receipts that the gateway has made. A power cut brings them back.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, percent := range map[string]int{"kill": 100, "power cut": 0} {
		t.Run(name, func(t *testing.T) {
			l := begin(t, vfs.NewCrashableMem(), t.TempDir())
			sent, refused, waits := l.submit(1, sms.NotifySuccess), l.submit(2, sms.NotifyFailure), l.submit(3, 0)
			if err := l.Keeper.Batches.Sync(); err != nil {
				t.Fatal(err)
			}
			lane, at := l.Table.LaneOf(l.Table.Connector("operator")), refused.Arrived+second
			l.Settler.Ended(lane, sent, sms.Answer{PeerID: []byte("7"), At: at}, at)
			l.Settler.Ended(lane, refused, sms.Answer{Code: sms.Rejected, At: at}, at)
			l.Keeper.Batches.WriteEnds()
			l = l.kill(percent)
			receipts, others := l.stored()
			_, known, err := l.Keeper.Index.Lookup(store.IDsOf("operator"), []byte("7"))
			if killed := percent > 0; killed != (len(others) == 1 && others[0] == waits.ID) || killed != (len(receipts) == 1) ||
				known != killed || err != nil {
				t.Fatalf("%d messages, %d receipts, the SMSC's id is known: %t, %v", len(others), len(receipts), known, err)
			}
			if len(receipts) == 1 && (receipts[0].Submitted != refused.Arrived+aheadAtKill || receipts[0].Done != at+aheadAtKill) {
				t.Errorf("submitted at %d, ended at %d; want %d, %d", receipts[0].Submitted, receipts[0].Done,
					refused.Arrived+aheadAtKill, at+aheadAtKill)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			lines, _ := os.ReadFile(filepath.Join(l.events, "events.log"))
			if n := strings.Count(string(lines), "\n"); n != 2*percent/100 {
				t.Errorf("events: %s", lines)
			}
		})
	}
}
