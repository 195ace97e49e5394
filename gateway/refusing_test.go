package gateway

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// A refusingStore takes no batches for a while.
type refusingStore struct {
	store.Store
	refuses atomic.Bool
}

func (s *refusingStore) Commit(b *store.Batch) error {
	if s.refuses.Load() {
		return errors.New("the store refuses")
	}
	return s.Store.Commit(b)
}

func newRefusingRig(t *testing.T) (*rig, *refusingStore) {
	t.Helper()
	durable, err := store.Open("store", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	s := &refusingStore{Store: durable}
	r := startRig(t)
	if err := r.g.Keep(s); err != nil {
		t.Fatal(err)
	}
	r.g.Keeper.SetRecovered()
	return r, s
}

// A receipt that the gateway makes goes to its client when it is stored, once, also where the first
// commit fails.
func TestOwnReceiptCommitFails(t *testing.T) {
	t.Parallel()
	r, s := newRefusingRig(t)
	asked := chanEngine{calls: make(chan func(int64), 10)}
	r.g.Keeper.Outgoing.Begin(asked.Do)
	share := r.g.Table.Share(r.g.Table.LaneOf(r.operator), r.g.Node.Origins.Of("client", "clients"))
	m := r.g.Node.Messages.Get()
	m.ID, m.Origin, m.Arrived = r.g.Keeper.IDs.Add(1), share.Origin, r.now
	m.Notify = sms.NotifySuccess | sms.NotifyFailure
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("text"))
	r.g.Keeper.Put(keep.Accepted{Message: m, Share: share}, nil)
	if err := r.g.Keeper.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	s.refuses.Store(true)
	r.g.Settler.Forget(m, keep.Ending{State: events.Rejected, Lane: keep.LaneName(share.Lane), Answer: sms.Answer{Code: sms.Rejected, At: r.now}}, nil)
	for range 2 {
		if err := r.g.Keeper.Batches.Sync(); err == nil {
			t.Error("the store has taken a batch")
		}
	}
	if n := len(asked.calls); n > 0 {
		t.Errorf("%d lanes were asked before the receipt was stored", n)
	}
	s.refuses.Store(false)
	if err := r.g.Keeper.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	(<-asked.calls)(r.now)
	r.g.Keeper.Outgoing.End()
	lane := r.g.Table.ClientLane("client", nil)
	if n := lane.Queues.Len(); n != 1 || len(asked.calls) > 0 {
		t.Errorf("%d receipts are in the lane of the client, which was asked %d times more", n, len(asked.calls))
	}
	if n := s.Stats().Messages; n != 1 {
		t.Errorf("%d messages are in the store", n)
	}
}
