package gateway

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// A brokenStore cannot read some messages.
type brokenStore struct {
	store.Store
	mu    sync.Mutex
	why   map[uint64]error
	tries map[uint64]int // after which Get reads a message all the same; 0: never
}

func (s *brokenStore) Scan(from uint64, limit int, f func(*store.Entry) error) (uint64, error) {
	return s.Store.Scan(from, limit, func(e *store.Entry) error {
		if err := s.why[e.ID]; err != nil {
			return err
		}
		return f(e)
	})
}

func (s *brokenStore) Get(id uint64, e *store.Entry) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.why[id]; err != nil {
		if s.tries[id]--; s.tries[id] != 0 {
			return false, err
		}
		delete(s.why, id)
	}
	return s.Store.Get(id, e)
}

// newBrokenStore returns a store with messages 1 to n for a lane, each of the next account.
func newBrokenStore(t *testing.T, r *rig, n uint64, lane store.Lane, accounts ...string) *brokenStore {
	t.Helper()
	s, err := store.Open("store", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	var b store.Batch
	for id := uint64(1); id <= n; id++ {
		m := &sms.Message{ID: id, Origin: r.g.Node.Origins.Of(accounts[id%uint64(len(accounts))], "clients"), Arrived: now}
		m.Set(sms.Address{}, sms.Address{Addr: []byte("46700000001")}, []byte("text"))
		b.Put(m, lane)
	}
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
	return &brokenStore{Store: s, why: map[uint64]error{}, tries: map[uint64]int{}}
}

// An askedEngine counts how often lanes are asked.
type askedEngine struct {
	engineNow
	n int
}

func (e *askedEngine) Do(l *connector.Lane, f func(now int64)) bool {
	e.n++
	return e.engineNow.Do(l, f)
}

// What can be read of a damaged store is sent, and the operator sees what cannot.
func TestRecoverBehindDamage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		bad  []uint64
		want int
	}{
		{"none", nil, 40},
		{"first", []uint64{1}, 39},
		{"last", []uint64{40}, 39},
		{"two blocks", []uint64{5, 6, 7, 8, 9, 20}, 34},
		{"all", []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 30},
	} {
		r := startRig(t)
		s := newBrokenStore(t, r, 40, store.Lane{Connector: r.operator.Name}, "client", "other")
		for _, id := range c.bad {
			s.why[id] = fmt.Errorf("%w: a block", store.ErrDamaged)
		}
		if err := r.g.Keep(s); err != nil {
			t.Fatal(err)
		}
		e := &engineNow{}
		r.g.Keeper.Begin(e)
		r.g.Recover(t.Context(), e)
		if n := r.g.Table.LaneOf(r.operator).Queues.Len(); n != c.want {
			t.Errorf("%s: %d messages are in their lane, not %d", c.name, n, c.want)
		}
		told := slices.ContainsFunc(r.g.Problems(), func(line string) bool { return strings.Contains(line, "pmg store repair") })
		if told != (len(c.bad) > 0) || !r.g.Keeper.Recovered() {
			t.Errorf("%s: %q, recovered %v", c.name, r.g.Problems(), r.g.Keeper.Recovered())
		}
	}
}

// A lane is asked once for each account with messages in a page, whatever other accounts have had.
func TestRecoverAsksFew(t *testing.T) {
	t.Parallel()
	r := startRig(t)
	s := newBrokenStore(t, r, 3*recoverAtATime, store.Lane{Connector: r.operator.Name}, "big")
	var b store.Batch
	for id := uint64(1); id <= 100; id++ {
		b.Put(&sms.Message{ID: id, Origin: r.g.Node.Origins.Of(fmt.Sprint("account", id), "clients"), Arrived: now}, store.Lane{Connector: r.operator.Name})
	}
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
	if err := r.g.Keep(s); err != nil {
		t.Fatal(err)
	}
	e := &askedEngine{engineNow: engineNow{}}
	r.g.Keeper.Begin(e)
	r.g.Recover(t.Context(), e)
	if n := r.g.Table.LaneOf(r.operator).Queues.Len(); n != 3*recoverAtATime || e.n != 103 {
		t.Errorf("%d messages are in their lane, and it was asked %d times", n, e.n)
	}
}

// A message that is due is dropped from its queue if it is damaged, and not because the store cannot
// be read for a moment.
func TestLoadFails(t *testing.T) {
	t.Parallel()
	r := startRig(t)
	s := newBrokenStore(t, r, 4, store.Lane{Connector: r.operator.Name}, "client")
	s.why[1], s.tries[1] = syscall.EMFILE, 3
	s.why[3] = fmt.Errorf("%w: a block", store.ErrDamaged)
	if err := s.Commit(deleteOf(4)); err != nil {
		t.Fatal(err)
	}
	if err := r.g.Keep(s); err != nil {
		t.Fatal(err)
	}
	asked := chanEngine{calls: make(chan func(int64), 10)}
	lane := r.g.Table.LaneOf(r.operator)
	r.g.Keeper.Loads.Begin(asked.Do)
	messages, missing, failed := r.g.Keeper.Read([]uint64{2, 3, 4}, 0)
	if len(messages) != 1 || messages[0].ID != 2 || !slices.Equal(missing, []uint64{3, 4}) || len(failed) > 0 {
		t.Errorf("%d messages, %v are missing, %v failed", len(messages), missing, failed)
	}
	messages[0].Release()
	r.g.Keeper.Load(lane, []uint64{1})
	for range 3 { // twice in vain
		(<-asked.calls)(now)
	}
	s.mu.Lock()
	if len(s.why) != 1 {
		t.Errorf("message 1 was not read")
	}
	s.why[1], s.tries[1] = syscall.EIO, 0
	s.mu.Unlock()
	r.g.Keeper.Loads.End()
	for tries := range keep.LoadTries + 1 { // it is given up in the end
		_, missing, failed := r.g.Keeper.Read([]uint64{1}, tries)
		if n := len(missing); n+len(failed) != 1 || n == 1 != (tries == keep.LoadTries) {
			t.Errorf("try %d: %v missing, %v failed", tries, missing, failed)
		}
	}
}

func deleteOf(id uint64) *store.Batch {
	b := new(store.Batch)
	b.Delete(id, 0)
	return b
}

// A chanEngine passes on what lanes are asked.
type chanEngine struct {
	Engine
	calls chan func(now int64)
}

func (e chanEngine) Do(_ *connector.Lane, f func(now int64)) bool { e.calls <- f; return true }

// At a restart a message whose connector has gone from the configuration waits for an operator where
// no route leads anywhere, and goes where its route leads now where one does. Records that cannot be
// read stay in the store, and hold up nothing.
func TestRecoverElsewhere(t *testing.T) {
	t.Parallel()
	for _, routes := range []bool{false, true} {
		g := startWith(t, fmt.Sprintf(`
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
routes: [{destination: "%s", to: operator}]
`, map[bool]string{false: "99", true: "46"}[routes]))
		r := newRig(t, g)
		s := newBrokenStore(t, r, 6, store.Lane{Connector: "gone"}, "client")
		var b store.Batch
		ok := sms.Message{ID: 5, Origin: r.g.Node.Origins.Of("client", "clients"), Arrived: now}
		b.Replace(&ok, store.Lane{Connector: r.operator.Name})
		if err := s.Commit(&b); err != nil {
			t.Fatal(err)
		}
		garbled := &garbledStore{brokenStore: s, record: map[uint64]bool{2: true}, state: map[uint64]bool{3: true}}
		if err := r.g.Keep(garbled); err != nil {
			t.Fatal(err)
		}
		r.g.Recover(t.Context(), &engineNow{})
		lane, parked := r.g.Table.LaneOf(r.operator).Queues.Len(), int(r.g.Keeper.Aside(store.Parked))
		if want := map[bool][2]int{false: {1, 3}, true: {4, 0}}[routes]; lane != want[0] || parked != want[1] {
			t.Errorf("routes %v: %d messages are in the lane, %d are parked", routes, lane, parked)
		}
		if err := r.g.Keeper.Batches.Sync(); err != nil {
			t.Fatal(err)
		}
		for id := uint64(1); id <= 6; id++ {
			var e store.Entry
			if found, err := s.Store.Get(id, &e); err != nil || !found {
				t.Errorf("message %d is not in the store: %v", id, err)
			} else if st, err := store.DecodeState(e.State); !routes && id%5 == 1 && (err != nil || st.Aside != store.Parked) {
				t.Errorf("message %d is not parked: %+v, %v", id, st, err)
			}
		}
	}
}

// A garbledStore has records and states that cannot be read.
type garbledStore struct {
	*brokenStore
	record, state map[uint64]bool
}

func (s *garbledStore) Scan(from uint64, limit int, f func(*store.Entry) error) (uint64, error) {
	return s.brokenStore.Scan(from, limit, func(e *store.Entry) error {
		if s.record[e.ID] {
			e.Record = []byte{1}
		}
		if s.state[e.ID] {
			e.State = []byte{0xFF}
		}
		return f(e)
	})
}

// What a lane asks for is read in parts, so that another lane's messages come in between.
func TestLoadTurns(t *testing.T) {
	t.Parallel()
	r := startRig(t)
	s := newBrokenStore(t, r, 1, store.Lane{Connector: r.operator.Name}, "client")
	if err := r.g.Keep(s); err != nil {
		t.Fatal(err)
	}
	many, one := r.g.Table.LaneOf(r.operator), r.g.Table.ClientLane("client", nil)
	ids := make([]uint64, 3*keep.LoadAtATime)
	for i := range ids {
		ids[i] = uint64(i + 2) // they are not in the store
	}
	r.g.Keeper.Load(many, ids)
	r.g.Keeper.Load(one, []uint64{1})
	e := laneEngine{lanes: make(chan *connector.Lane, 10)}
	r.g.Keeper.Loads.Begin(e.Do)
	for i, want := range []*connector.Lane{many, one, many, many} {
		if got := <-e.lanes; got != want {
			t.Errorf("load %d is for the other lane", i)
		}
	}
	r.g.Keeper.Loads.End()
}

// A laneEngine notes which lanes are asked.
type laneEngine struct {
	Engine
	lanes chan *connector.Lane
}

func (e laneEngine) Do(l *connector.Lane, _ func(now int64)) bool { e.lanes <- l; return true }
