package keep_test

import (
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// disk is a durable store whose operations fail when the test says so.
type disk struct {
	store.Store

	mu     sync.Mutex
	commit error
	reads  func(id uint64) error // nil: it reads all
	close  error
	stats  *store.Stats // that it returns in place of its own; nil: its own
}

// Durable implements store.Store, also for a store in memory, which synctest can wait for.
func (*disk) Durable() bool { return true }

func (d *disk) fail(err error) {
	d.mu.Lock()
	d.commit = err
	d.mu.Unlock()
}

func (d *disk) says(s store.Stats) {
	d.mu.Lock()
	d.stats = &s
	d.mu.Unlock()
}

func (d *disk) Commit(b *store.Batch) error {
	d.mu.Lock()
	err := d.commit
	d.mu.Unlock()
	if err != nil {
		return err
	}
	return d.Store.Commit(b)
}

func (d *disk) Get(id uint64, e *store.Entry) (bool, error) {
	if d.reads != nil {
		if err := d.reads(id); err != nil {
			return false, err
		}
	}
	return d.Store.Get(id, e)
}

func (d *disk) Stats() store.Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stats != nil {
		return *d.stats
	}
	return d.Store.Stats()
}

func (d *disk) Close() error {
	if err := d.Store.Close(); err != nil {
		return err
	}
	return d.close
}

// rig is a keeper whose messages are on a disk.
type rig struct {
	*roomtest.Ground
	t    *testing.T
	disk *disk
	log  testutil.Log
	ids  uint64
}

// newRig makes one on a store of files in memory.
func newRig(t *testing.T) *rig {
	t.Helper()
	s, err := store.Open("data", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	p := rigOn(t, &disk{Store: s})
	t.Cleanup(func() {
		if err := p.Keeper.Close(); err != nil && p.disk.close == nil {
			t.Error(err)
		}
	})
	return p
}

// rigOn makes one on a store, which the test closes.
func rigOn(t *testing.T, d *disk) *rig {
	t.Helper()
	p := &rig{Ground: roomtest.New(t, roomtest.Operator("retry: [1s, 2h, repeat]")), t: t, disk: d, ids: 100}
	p.Node.Log = zerolog.New(&p.log)
	p.Keeper.Open(d, func(store.Position, error) {})
	return p
}

// message makes one of the account client.
func (p *rig) message() *sms.Message {
	m := p.Node.Messages.Get()
	p.ids++
	m.ID, m.Origin = p.ids, p.Node.Origins.Of("client", "clients")
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("hello"))
	return m
}

// share is the client's of the operator's lane.
func (p *rig) share() *connector.Share {
	return p.Table.Share(p.Table.LaneOf(p.Table.Connector("operator")), p.Node.Origins.Of("client", "clients"))
}

// put stores n messages that wait for the operator, and returns their ids.
func (p *rig) put(n int) (ids []uint64) {
	p.t.Helper()
	for range n {
		m := p.message()
		p.Keeper.Put(keep.Accepted{Message: m, Share: p.share()}, nil)
		ids = append(ids, m.ID)
	}
	p.sync()
	return ids
}

func (p *rig) sync() {
	p.t.Helper()
	if err := p.Keeper.Batches.Sync(); err != nil {
		p.t.Fatal(err)
	}
}

// read returns a message as the store has it, its lane and its state; nil: the store has it not.
func (p *rig) read(id uint64) (*sms.Message, store.Lane, store.State) {
	p.t.Helper()
	var e store.Entry
	ok, err := p.Keeper.Index.Get(id, &e)
	if err != nil {
		p.t.Fatal(err)
	}
	if !ok {
		return nil, store.Lane{}, store.State{}
	}
	m, lane, err := p.Keeper.Decode(&e)
	if err != nil {
		p.t.Fatal(err)
	}
	var s store.State
	if e.State != nil {
		if s, err = store.DecodeState(e.State); err != nil {
			p.t.Fatal(err)
		}
	}
	return m, lane, s
}
