package receipts

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// makeOrphan keeps a receipt without a message, and returns its id.
func (p *rig) makeOrphan(id string, s sms.State) uint64 {
	p.t.Helper()
	return p.makeOrphanOf("46700000001", id, s)
}

// makeOrphanOf does the same with one about a message to a number.
func (p *rig) makeOrphanOf(number, id string, s sms.State) uint64 {
	p.t.Helper()
	m := p.storeOrphan(number, id, s)
	defer m.Release()
	p.Orphans.Keep(m)
	return m.ID
}

// storeOrphan stores such a receipt, and keeps it not yet as an orphan.
func (p *rig) storeOrphan(number, id string, s sms.State) *sms.Message {
	p.t.Helper()
	g, m := p, p.Matcher.node.Messages.Get()
	m.Origin = g.Matcher.node.Origins.Of("", "operator")
	m.SetReport(sms.Address{Addr: []byte(number)}, sms.Address{Addr: []byte("1234")}, &sms.Report{ID: []byte(id), State: s})
	m.ID, m.Arrived = g.Matcher.keep.IDs.Add(1), p.now
	g.Matcher.keep.Batches.Write(func(b *store.Batch) {
		b.Put(m, store.Lane{})
		g.Matcher.keep.KeepAside(b, m, store.Lane{}, store.Orphan, "")
	})
	if err := g.Matcher.keep.Batches.Sync(); err != nil {
		p.t.Fatal(err)
	}
	return m
}

// T15: receipts that came before the answer go on together when it comes, in their order, and nothing of them
// is left in memory. Those of other ids stay, and those of the same id when one of them is Dropped.
func TestOrphansAreForgotten(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	g, o := p, &p.Orphans
	if err := g.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	Dropped := p.makeOrphan("17", sms.StateAccepted)
	other := p.makeOrphan("18", sms.StateDelivered)
	p.makeOrphan("17", sms.StateEnroute)
	p.makeOrphan("17", sms.StateDelivered)
	testutil.Eventually(t, "no receipt is looked at", func() bool { o.mu.Lock(); defer o.mu.Unlock(); return !o.running })
	g.Matcher.keep.Changing.Lock()
	g.Orphans.Read(Dropped, g.Orphans.expire)
	g.Matcher.keep.Changing.Unlock()
	v := store.Mapping{ID: 5000, Notify: sms.NotifySuccess | sms.NotifyFailure | sms.NotifyProgress, Account: []byte("client"), Connector: []byte("clients"),
		Source: sms.Address{Addr: []byte("1234")}, Dest: sms.Address{Addr: []byte("46700000001")}}
	g.Matcher.keep.Batches.Write(func(b *store.Batch) {
		g.RecordMapping(b, g.Of(p.Matcher.table.Connector("operator").Config()), &v, []byte("17"), p.now, false)
	})
	testutil.Eventually(t, "the others are adopted", func() bool { return g.Matcher.keep.Aside(store.Orphan) == 1 })
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
	for _, s := range g.made() {
		r, _ := s.Message.Report()
		told = append(told, r.State)
	}
	if !slices.Equal(told, []sms.State{sms.StateEnroute, sms.StateDelivered}) {
		t.Errorf("the client is told %v", told)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
}

// A receipt whose message has become known before the receipt was kept does not wait for another answer.
func TestOrphanOfKnownMessage(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	id := p.accepted("17")
	orphan := p.makeOrphan("17", sms.StateDelivered)
	testutil.Eventually(t, "it is adopted", func() bool { return p.Matcher.keep.Aside(store.Orphan) == 0 })
	p.Orphans.end()
	if all := p.made(); len(all) != 1 {
		t.Errorf("the client gets %d receipts", len(all))
	} else if r, _ := all[0].Message.Report(); r.Known != id {
		t.Errorf("the client gets one of message %d, not %d", r.Known, id)
	}
	var e store.Entry
	if ok, err := p.Matcher.keep.Index.Get(orphan, &e); ok || err != nil || p.Counts.Adopted.Load() != 1 {
		t.Errorf("it is an orphan still: %v, %v; %d are counted", ok, err, p.Counts.Adopted.Load())
	}
	p.makeOrphan("17", sms.StateDelivered)
	if p.Orphans.end(); p.Matcher.keep.Aside(store.Orphan) != 1 {
		t.Error("a receipt is looked at when the gateway has ended that, and may have closed its store")
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// Where there are too many receipts, the oldest one makes room.
func TestMostOrphans(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	oldest := p.makeOrphan("17", sms.StateDelivered)
	p.Orphans.mu.Lock()
	p.Orphans.all = append(p.Orphans.all, make([]orphan, maxOrphans-2)...)
	p.Orphans.mu.Unlock()
	p.makeOrphan("18", sms.StateDelivered)
	if !p.Orphans.has(oldest) {
		t.Error("the oldest one is forgotten although there is room")
	}
	p.Matcher.keep.Changing.Lock() // nothing ends meanwhile
	if p.makeOrphan("19", sms.StateDelivered); len(p.Orphans.all) != maxOrphans || p.Orphans.has(oldest) {
		t.Errorf("%d are kept, the oldest one among them: %v", len(p.Orphans.all), p.Orphans.has(oldest))
	}
	p.Matcher.keep.Changing.Unlock()
	testutil.Eventually(t, "the oldest one ends", func() bool { return p.Matcher.keep.Aside(store.Orphan) == 2 })
	p.Orphans.end()
	var e store.Entry
	if ok, err := p.Matcher.keep.Index.Get(oldest, &e); ok || err != nil || p.Orphans.has(oldest) {
		t.Errorf("it is kept: %v, %v", ok, err)
	}
	if err := p.close(); err != nil {
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
	p := newRig(t)
	g, o := p, &p.Orphans
	var read atomic.Int64
	s := &reading{Store: store.NewMemory(), at: func() {}}
	if err := g.keep(s); err != nil {
		t.Fatal(err)
	}
	const all = 5 * orphansTogether
	for range all {
		p.makeOrphan("17", sms.StateDelivered)
	}
	quiet := func() bool { o.mu.Lock(); defer o.mu.Unlock(); return !o.running }
	testutil.Eventually(t, "no receipt is looked at", quiet)
	g.Matcher.keep.Changing.Lock()
	changed := make(chan int64)
	s.at = func() {
		if read.Add(1) == 1 {
			go func() {
				g.Matcher.keep.Changing.Lock()
				changed <- read.Load()
				g.Matcher.keep.Changing.Unlock()
			}()
		}
		time.Sleep(100 * time.Microsecond) // the change has begun to wait meanwhile
	}
	o.lookAgain("operator")
	g.Matcher.keep.Changing.Unlock()
	if n := <-changed; n == all {
		t.Errorf("a change waited until all %d receipts were looked at", n)
	}
	testutil.Eventually(t, "no receipt is looked at", quiet)
	if n := read.Load(); n != all {
		t.Errorf("%d of %d receipts were looked at", n, all)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
}

// A receipt that an operator takes up goes to the client behind the older ones of its message, each to all of the client's
// messages that it was joined of, under ids of their own. One whose message is not known stays.
func TestAdoptOlder(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	p.EndOrphans() // none is looked at but by the operator
	first := p.makeOrphan("msg-17", sms.StateAccepted)
	other, last := p.makeOrphan("msg-18", sms.StateDelivered), p.makeOrphan("msg-17", sms.StateDelivered)
	m := p.submitted(sms.NotifySuccess)
	joined := []sms.Joined{{ID: 71, Notify: sms.NotifySuccess}, {ID: 72, Notify: sms.NotifySuccess}}
	m.SetSubmitted(&sms.Submitted{Source: m.Source(), Dest: m.Dest(), Joined: joined})
	p.Matcher.keep.Batches.Write(func(b *store.Batch) {
		p.note(b, m, &sms.Answer{PeerID: []byte("msg-17"), At: p.now}, 0)
	})
	adopt := func(id uint64) (err error) {
		p.Orphans.Read(id, func(m *sms.Message, size int) error { err = p.Orphans.Adopt(m, size); return nil })
		return err
	}
	if err := adopt(other); !errors.Is(err, ErrUnknown) {
		t.Errorf("one whose message is not known: %v", err)
	}
	if err := adopt(last); err != nil {
		t.Error(err)
	}
	var got []string
	ids := map[uint64]bool{other: true, m.ID: true}
	for _, own := range p.made() {
		r, _ := own.Message.Report()
		got = append(got, fmt.Sprint(r.Known, " ", r.State))
		if ids[own.Message.ID] || own.Share.Lane.Account != "client" {
			t.Errorf("the receipt of %d has the id of another, or goes to %s", r.Known, own.Share.Lane.Account)
		}
		ids[own.Message.ID] = true
	}
	if want := []string{"71 accepted", "72 accepted", "71 delivered", "72 delivered"}; !slices.Equal(got, want) {
		t.Errorf("the client is told %q, want %q", got, want)
	}
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[uint64]bool{first: false, last: false, other: true} {
		var e store.Entry
		if ok, err := p.Matcher.keep.Index.Get(id, &e); ok != want || err != nil {
			t.Errorf("receipt %d is in the store: %v, %v", id, ok, err)
		}
	}
	if p.Counts.Adopted.Load() != 2 || p.Matcher.keep.Aside(store.Orphan) != 1 {
		t.Errorf("%d are adopted, %d are left", p.Counts.Adopted.Load(), p.Matcher.keep.Aside(store.Orphan))
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}
