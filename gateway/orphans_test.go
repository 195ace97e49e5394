package gateway

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pmg/gateway/keep"
	"pmg/internal/testutil"
	"pmg/sms"
	"pmg/store"
)

// orphan keeps a receipt without a message, and returns its id.
func (p *port) orphan(id string, s sms.State) uint64 {
	p.t.Helper()
	g, m := p.g, p.g.Messages.Get()
	defer m.Release()
	m.Origin = g.Origins.Of("", "operator")
	m.SetReport(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, &sms.Report{ID: []byte(id), State: s})
	m.ID, m.Arrived = g.IDs.Add(1), p.now
	b := g.Committer.Begin()
	b.Put(m, store.Lane{})
	g.KeepAside(b, m, store.Lane{}, store.Orphan, "")
	g.Committer.End()
	if err := g.Committer.Sync(); err != nil {
		p.t.Fatal(err)
	}
	g.keepOrphan(m)
	return m.ID
}

// T15: receipts that came before the answer go on together when it comes, in their order, and nothing of them
// is left in memory. Those of other ids stay, and those of the same id when one of them is dropped.
func TestOrphansAreForgotten(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	g, o := p.g, &p.g.receipts.orphans
	if err := g.Keep(store.NewMemory(), nil); err != nil {
		t.Fatal(err)
	}
	other := p.orphan("18", sms.StateDelivered)
	dropped := p.orphan("17", sms.StateAccepted)
	p.orphan("17", sms.StateEnroute)
	p.orphan("17", sms.StateDelivered)
	testutil.Eventually(t, "no receipt is looked at", func() bool { o.mu.Lock(); defer o.mu.Unlock(); return !o.running })
	g.changing.Lock()
	g.orphan(dropped, g.dropOrphan)
	g.changing.Unlock()
	v := store.Mapping{ID: 5000, Notify: sms.NotifySuccess | sms.NotifyFailure | sms.NotifyProgress, Account: []byte("client"), Connector: []byte("clients"),
		Source: sms.Address{Addr: []byte("1234")}, Dest: sms.Address{Addr: []byte("46700000001")}}
	g.receipts.noteMapping(g, g.Committer.Begin(), g.receipts.of(g.Config(), p.operator.Config()), &v, []byte("17"), p.now)
	g.Committer.End()
	testutil.Eventually(t, "the others are adopted", func() bool { return g.Aside(store.Orphan) == 1 })
	o.end()
	if len(o.all) != 1 || o.all[0].id != other || len(o.known) != 1 || !o.known[other] || o.n.Load() != 1 {
		t.Errorf("%d orphans are left, %d known, %d counted", len(o.all), len(o.known), o.n.Load())
	}
	for key, ids := range o.by {
		if !slices.Equal(ids, []uint64{other}) {
			t.Errorf("%q finds the receipts %d", key, ids)
		}
	}
	if len(o.by) != 3 { // 18 as it stands, and in both other forms
		t.Errorf("%d keys are left", len(o.by))
	}
	var told []sms.State
	for _, s := range made(g) {
		r, _ := s.Message.Report()
		told = append(told, r.State)
	}
	if !slices.Equal(told, []sms.State{sms.StateEnroute, sms.StateDelivered}) {
		t.Errorf("the client is told %v", told)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// A reading is a store in which something happens at each reading of a message.
type reading struct {
	store.Store
	at func()
}

func (s *reading) Get(id uint64, e *store.Entry) (bool, error) {
	s.at()
	return s.Store.Get(id, e)
}

// D20g: an operator's change does not wait until all receipts have been looked at.
func TestOrphansLetChange(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	g, o := p.g, &p.g.receipts.orphans
	var read atomic.Int64
	s := &reading{Store: store.NewMemory(), at: func() {}}
	if err := g.Keep(s, nil); err != nil {
		t.Fatal(err)
	}
	const all = 5 * orphansTogether
	for range all {
		p.orphan("17", sms.StateDelivered)
	}
	quiet := func() bool { o.mu.Lock(); defer o.mu.Unlock(); return !o.running }
	testutil.Eventually(t, "no receipt is looked at", quiet)
	g.changing.Lock()
	changed := make(chan int64)
	s.at = func() {
		if read.Add(1) == 1 {
			go func() {
				g.changing.Lock()
				changed <- read.Load()
				g.changing.Unlock()
			}()
		}
		time.Sleep(100 * time.Microsecond) // the change has begun to wait meanwhile
	}
	o.lookAgain(g, "operator")
	g.changing.Unlock()
	if n := <-changed; n == all {
		t.Errorf("a change waited until all %d receipts were looked at", n)
	}
	testutil.Eventually(t, "no receipt is looked at", quiet)
	if n := read.Load(); n != all {
		t.Errorf("%d of %d receipts were looked at", n, all)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

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
	if err := g.Keep(s, nil); err != nil {
		t.Fatal(err)
	}
	m := g.Messages.Get()
	m.Origin = g.Origins.Of("", "operator")
	m.SetReport(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, &sms.Report{ID: []byte("17"), State: sms.StateDelivered})
	m.ID, m.Arrived = g.IDs.Add(1), p.now
	refused := keep.Accepted{Message: m}
	s.failing.Store(true)
	g.Put(refused, nil)
	if err := g.Committer.Sync(); err == nil {
		t.Fatal("a commit that fails reports nothing")
	}
	p.c.cancel(p.operator, refused)
	v := store.Mapping{ID: 5000, Notify: sms.NotifySuccess, Account: []byte("client"), Connector: []byte("clients"),
		Source: sms.Address{Addr: []byte("1234")}, Dest: sms.Address{Addr: []byte("46700000001")}}
	g.receipts.noteMapping(g, g.Committer.Begin(), g.receipts.of(g.Config(), p.operator.Config()), &v, []byte("17"), p.now)
	g.Committer.End()

	retry := func() (QueuePage, error) {
		return g.ChangeStored(t.Context(), nil, QueueChange{What: RetryMessages}, Selection{}, 0, 10)
	}
	if page, err := retry(); err == nil {
		t.Errorf("while the store fails, an operator changes %v", page.Messages)
	}
	s.failing.Store(false)
	if page, err := retry(); err != nil || len(page.Messages) != 0 {
		t.Errorf("an operator changes %v, %v", page.Messages, err)
	}
	if n := g.Aside(store.Orphan); n != 0 {
		t.Errorf("%d receipts count as orphans", n)
	}
	if n := len(made(g)); n != 0 {
		t.Errorf("%d receipts that were refused go to a client", n)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
