package session_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/operate"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// A forgetful store writes what it then says it has not.
type forgetful struct {
	store.Store
	failing atomic.Bool
}

func (s *forgetful) Commit(b *store.Batch) error {
	err := s.Store.Commit(b)
	if err == nil && s.failing.Load() {
		err = errors.New("the disk is slow to say that it wrote")
	}
	return err
}

// R24: a receipt whose commit failed was refused and is not counted any more. It may be in the store until
// the next commit takes it away; an operator who retries receipts meanwhile does not find it.
func TestRefusedOrphanIsNotRetried(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	g := p.g
	s := &forgetful{Store: store.NewMemory()}
	if err := g.Keep(s); err != nil {
		t.Fatal(err)
	}
	m := g.Node.Messages.Get()
	m.Origin = g.Node.Origins.Of("", "operator")
	m.SetReport(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, &sms.Report{ID: []byte("17"), State: sms.StateDelivered})
	m.ID, m.Arrived = g.Keeper.IDs.Add(1), p.now
	refused := keep.Accepted{Message: m}
	s.failing.Store(true)
	g.Keeper.Put(refused, nil)
	if err := g.Keeper.Batches.Sync(); err == nil {
		t.Fatal("a commit that fails reports nothing")
	}
	p.c.RoomLeft().Undo(&connector.Source{Connector: p.operator}, refused, sms.SystemError)
	v := store.Mapping{ID: 5000, Notify: sms.NotifySuccess, Account: []byte("client"), Connector: []byte("clients"),
		Source: sms.Address{Addr: []byte("1234")}, Dest: sms.Address{Addr: []byte("46700000001")}}
	g.Keeper.Batches.Write(func(b *store.Batch) {
		g.Receipts.RecordMapping(b, g.Receipts.Of(p.operator.Config()), &v, []byte("17"), p.now, false)
	})

	retry := func() (operate.QueuePage, error) {
		return g.Operate.ChangeStored(t.Context(), operate.QueueChange{What: operate.RetryMessages}, operate.Selection{}, 0, 10)
	}
	if page, err := retry(); err == nil {
		t.Errorf("while the store fails, an operator changes %v", page.Messages)
	}
	s.failing.Store(false)
	if page, err := retry(); err != nil || len(page.Messages) != 0 {
		t.Errorf("an operator changes %v, %v", page.Messages, err)
	}
	if n := g.Keeper.Aside(store.Orphan); n != 0 {
		t.Errorf("%d receipts count as orphans", n)
	}
	if n := len(roomtest.Made(g.Keeper)); n != 0 {
		t.Errorf("%d receipts that were refused go to a client", n)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
