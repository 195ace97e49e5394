package operate

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/connector"
	"pmg/connector/account"
	"pmg/gateway/convert"
	"pmg/gateway/credit"
	"pmg/gateway/hooks"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/lists"
	"pmg/gateway/networks"
	"pmg/gateway/roomtest"
	"pmg/gateway/settle"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
	"pmg/store/journal"
)

const (
	now    = int64(1_800_000_000_000_000_000) // an arbitrary time
	second = int64(1_000_000_000)
)

// A rig is Operations with what stands below it, and a store.
type rig struct {
	*Operations
	t     *testing.T
	disk  *disk
	share *connector.Share // of the client, in the operator's lane
	gone  bool             // the engine is closed
}

// A disk is a store whose commits fail when the test says so, and of which some cannot be read.
type disk struct {
	store.Store
	full    atomic.Bool
	damaged uint64 // its id; 0: there is none
	lost    bool   // nothing is found
}

var (
	errFull = fmt.Errorf("%w: no space left on device", journal.ErrFull)
	errLost = errors.New("input/output error")
)

func (d *disk) Commit(b *store.Batch) error {
	if d.full.Load() {
		return errFull
	}
	return d.Store.Commit(b)
}

func (d *disk) Lookup(kind store.Kind, key []byte) ([]byte, bool, error) {
	if d.lost {
		return nil, false, errLost
	}
	return d.Store.Lookup(kind, key)
}

func (d *disk) Get(id uint64, e *store.Entry) (bool, error) {
	ok, err := d.Store.Get(id, e)
	d.damage(e)
	return ok, err
}

func (d *disk) Scan(from uint64, limit int, f func(*store.Entry) error) (uint64, error) {
	if d.lost {
		return 0, errLost
	}
	return d.Store.Scan(from, limit, func(e *store.Entry) error {
		d.damage(e)
		return f(e)
	})
}

func (d *disk) damage(e *store.Entry) {
	if e.ID == d.damaged {
		e.Record = e.Record[:len(e.Record)/2]
	}
}

// newRig makes a rig with a store in memory, whose wall clock is ahead.
func newRig(t *testing.T, ahead int64) *rig { return newRigOn(t, store.NewMemory(), ahead) }

// newDurableRig makes a rig with a store on a disk.
func newDurableRig(t *testing.T) *rig {
	t.Helper()
	s, err := store.Open("store", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	return newRigOn(t, s, 0)
}

func newRigOn(t *testing.T, s store.Store, ahead int64) *rig {
	t.Helper()
	ground := roomtest.New(t, roomtest.Operator("window: 10}\n  - {name: second, direction: out, address: \"127.0.0.1:2\", system_id: pmg, password: secret"))
	ground.Node.Clock.EngineClock = func() int64 { return now }
	ground.Node.Clock.WallClock = func() time.Time { return time.Unix(0, now+ahead) }
	ground.Node.Clock.SetAhead(ahead)
	n, k, table := ground.Node, ground.Keeper, ground.Table
	c := convert.New(n, table)
	settler := settle.New(n, k, table, c, hooks.New(nil))
	r := &rig{t: t, disk: &disk{Store: s}}
	ground.Keeper.Open(r.disk, func(store.Position, error) {})
	ground.Keeper.SetRecovered()
	r.Operations = New(n, k, table, settler.Receipts, settler, intake.New(n, k, table, c, settler.Receipts, &settler.Events, hooks.New(nil), lists.New(n, k), networks.New(n), credit.New(n, k)))
	k.Begin(roomtest.Engine(r.do))
	r.share = table.Share(table.LaneOf(table.Connector("operator")), n.Origins.Of("client", "clients"))
	return r
}

func (r *rig) do(_ *connector.Lane, f func(int64)) bool {
	if !r.gone {
		f(now)
	}
	return !r.gone
}

// made returns what was made that its lanes have not been given yet.
func (r *rig) made() []keep.Own {
	all, _ := r.Operations.keep.Outgoing.Waiting()
	return all
}

func (r *rig) close() error { return r.Operations.keep.Close() }

// message returns the next message of the client, part of so many.
func (r *rig) message(part, parts uint8) *sms.Message {
	m := r.Operations.node.Messages.Get()
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("text"))
	m.ID, m.Offset, m.Part, m.Parts = r.Operations.keep.IDs.Add(1), uint16(part), part, parts
	m.Origin, m.Arrived, m.Notify = r.share.Origin, now, sms.NotifyFailure
	return m
}

// store stores messages for the operator's lane.
func (r *rig) store(all ...*sms.Message) {
	r.t.Helper()
	r.Operations.keep.Batches.Write(func(b *store.Batch) {
		for _, m := range all {
			b.Put(m, keep.LaneName(r.share.Lane))
		}
	})
	if err := r.Operations.keep.Batches.Sync(); err != nil {
		r.t.Fatal(err)
	}
}

// enterAll gives the lanes the entries of the messages that are stored for them.
func (r *rig) enterAll() {
	r.t.Helper()
	_, err := r.Operations.keep.Index.Scan(0, 100, func(e *store.Entry) error {
		f := newFound(e)
		if l := r.Operations.table.LaneNamed(r.Operations.node.Config(), f.lane()); l != nil && f.stateName() == StateQueued {
			l.Queues.Restore(now, r.Operations.table.Share(l, r.Operations.node.Origins.Of(string(f.head.Account), string(f.head.Connector))), waitingOf(f, 0))
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// park stores messages that no route leads anywhere for.
func (r *rig) park(all ...*sms.Message) {
	r.t.Helper()
	r.store(all...)
	for _, m := range all {
		r.Operations.keep.SetAside(m, store.Lane{}, store.Parked, "no route")
	}
	if err := r.Operations.keep.Batches.Sync(); err != nil {
		r.t.Fatal(err)
	}
}

// client returns the client's account, which is logged in.
func (r *rig) client() *account.Account {
	r.t.Helper()
	accounts := account.NewTable(r.Operations.node.Config(), account.NewRegistry())
	l := account.Login{SystemID: []byte("client"), Password: []byte("secret"), Connector: "clients", Bind: protocols.Transceiver}
	client, result := accounts.LogIn(1, l, accounts.Verify(l))
	if client == nil {
		r.t.Fatal(result)
	}
	return client
}

// ask carries out an operation of the client, and returns what becomes of it.
func (r *rig) ask(kind protocols.OperationKind, id uint64) sms.Code {
	r.t.Helper()
	return r.carryOut(protocols.Operation{Kind: kind, ID: id})
}

// replace replaces a message as its client.
func (r *rig) replace(id uint64, change func(int64, *sms.Message) sms.Code) sms.Code {
	r.t.Helper()
	return r.carryOut(protocols.Operation{Kind: protocols.Replace, ID: id, Change: change})
}

func (r *rig) carryOut(asked protocols.Operation) sms.Code {
	r.t.Helper()
	asked.Source.Addr = []byte("1234")
	o := r.Begin(r.client(), protocols.SMPP, asked)
	o.Run()
	return o.Code
}

// change changes messages as an operator, and returns what is done to them.
func (r *rig) change(what string, s Selection) (results []string) {
	r.t.Helper()
	p, err := r.ChangeStored(r.t.Context(), QueueChange{What: what, To: "operator"}, s, 0, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, m := range p.Messages {
		results = append(results, m.Result)
	}
	return results
}
