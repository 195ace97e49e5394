package receipts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// known records what the operator's id of a message stands for.
func (p *rig) known(o *SMSC, id string, v store.Mapping) {
	p.t.Helper()
	p.Matcher.keep.Batches.Write(func(b *store.Batch) { p.RecordMapping(b, o, &v, []byte(id), p.now, false) })
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		p.t.Fatal(err)
	}
}

// quiet waits until no receipt is looked at.
func (p *rig) quiet() {
	p.t.Helper()
	o := &p.Orphans
	testutil.Eventually(p.t, "no receipt is looked at", func() bool { o.mu.Lock(); defer o.mu.Unlock(); return !o.running })
}

// A receipt without a message is found again after a restart, and goes to its client when its message is known. One that
// cannot be read is named in the log, and hides no other.
func TestOrphanAfterRestart(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	p := keepAgain(t, fs)
	id := p.makeOrphan("17", sms.StateDelivered)
	p.quiet()
	p.madeReceipts(t)
	p = keepAgain(t, fs)
	var log testutil.Log
	p.Matcher.node.Log = zerolog.New(&log)
	p.Orphans.Find(&store.Entry{ID: 9, Record: []byte("cut")})
	if !strings.Contains(log.String(), `"id":"`+sms.FormatID(9)) || p.Orphans.n.Load() != 0 {
		t.Errorf("%d are kept; the log has %s", p.Orphans.n.Load(), log.String())
	}
	if _, err := p.Matcher.keep.Index.Scan(0, 10, func(e *store.Entry) error { p.Orphans.Find(e); return nil }); err != nil {
		t.Fatal(err)
	}
	p.quiet()
	if !p.Orphans.has(id) || p.Counts.Adopted.Load() != 0 {
		t.Fatalf("it is kept: %v, %d are adopted", p.Orphans.has(id), p.Counts.Adopted.Load())
	}
	_, f := partOf(p, 0, 1, sms.StateDelivered, "")
	p.known(p.operator(), "17", f.Mapping)
	testutil.Eventually(t, "it is adopted", func() bool { return p.Counts.Adopted.Load() == 1 })
	p.quiet()
	if all := p.madeReceipts(t); len(all) != 1 || all[0].Known != 5000 {
		t.Errorf("the client gets %+v", all)
	}
}

// A receipt that came before the answer to its message goes to the client when the answer comes, before the message has
// ended.
func TestOrphanOfAnswer(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	p.makeOrphan("17", sms.StateDelivered)
	p.quiet()
	c := p.Matcher.table.Connector("operator").Config()
	p.RecordAnswer(p.operator(), c, p.submitted(sms.NotifySuccess), []byte("17"))
	testutil.Eventually(t, "it is adopted", func() bool { return p.Counts.Adopted.Load() == 1 })
	p.quiet()
	if n := len(p.made()); n != 1 {
		t.Errorf("%d receipts are made", n)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// A receipt finds a message that ended while the receipt was stored, though that is in the open batch only and the latest messages
// have lost it to others.
func TestOrphanOfOpenBatch(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	m := p.storeOrphan("46700000001", "17", sms.StateDelivered)
	_, f := partOf(p, 0, 1, sms.StateDelivered, "")
	o := p.operator()
	p.Matcher.keep.Batches.Write(func(b *store.Batch) { p.RecordMapping(b, o, &f.Mapping, []byte("17"), p.now, false) })
	o.recent = newRecent(0)
	p.Orphans.Keep(m)
	m.Release()
	p.quiet()
	if n := len(p.made()); n != 1 || p.Counts.Adopted.Load() != 1 {
		t.Errorf("%d receipts are made", n)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// A receipt finds its message by the SMSC's name though its connector is not configured any more.
func TestOrphanOfGoneConnector(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	p.EndOrphans()
	m := p.receipt("46700000001", sms.Report{ID: []byte("17"), State: sms.StateDelivered})
	m.ID, m.Origin = p.Matcher.keep.IDs.Add(1), p.Matcher.node.Origins.Of("", "gone")
	_, f := partOf(p, 0, 1, sms.StateDelivered, "")
	gone := p.Of(&config.Connector{Name: "gone"})
	p.Orphans.Keep(m)
	p.Orphans.again = nil
	p.known(gone, "17", f.Mapping)
	if len(p.Orphans.again) != 1 || p.Orphans.again[0] != m.ID {
		t.Errorf("when its message is known, %d are looked at", p.Orphans.again)
	}
	if err := p.Orphans.Adopt(m, 0); err != nil || len(p.made()) != 1 {
		t.Errorf("%d receipts are made; %v", len(p.made()), err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// What becomes of a receipt that was put aside: its client's, if that wants it; the outcomes of other parts are read for
// it. In any case it is no orphan any more.
func TestAdopted(t *testing.T) {
	t.Parallel()
	type message struct {
		notify      sms.Notify
		part, parts uint8
	}
	for name, c := range map[string]struct {
		message message
		state   sms.State
		other   bool // the other part has an outcome, of an earlier run
		want    string
	}{
		"wanted":             {message{sms.NotifySuccess, 0, 1}, sms.StateDelivered, false, "delivered 0"},
		"not wanted":         {message{sms.NotifyFailure, 0, 1}, sms.StateDelivered, false, ""},
		"not asked for":      {message{0, 0, 1}, sms.StateDelivered, false, ""},
		"of one part of two": {message{sms.NotifySuccess, 1, 2}, sms.StateDelivered, false, ""},
		"of the last part":   {message{sms.NotifySuccess, 1, 2}, sms.StateDelivered, true, "delivered 2"},
		"of one that fails":  {message{sms.NotifyFailure, 1, 2}, sms.StateRejected, true, "rejected 2"},
	} {
		p := newRig(t)
		if err := p.keep(store.NewMemory()); err != nil {
			t.Fatal(err)
		}
		p.EndOrphans()
		if c.other {
			p.part(t, 0, sms.StateDelivered)
		}
		p.Parts.by, p.Parts.order, p.Matcher.keep.LastStored = nil, nil, 6000
		_, f := partOf(p, c.message.part, c.message.parts, c.state, "")
		f.Mapping.Notify = c.message.notify
		p.known(p.operator(), "17", f.Mapping)
		id := p.makeOrphan("17", c.state)
		p.Orphans.Read(id, p.Orphans.Adopt)
		got := ""
		for _, own := range p.made() {
			r, _ := own.Message.Report()
			got += fmt.Sprint(r.State, " ", r.Parts)
		}
		if got != c.want {
			t.Errorf("%s: the client gets %q, want %q", name, got, c.want)
		}
		if err := p.Matcher.keep.Batches.Sync(); err != nil {
			t.Fatal(err)
		}
		var e store.Entry
		ok, err := p.Matcher.keep.Index.Get(id, &e)
		if ok || err != nil || p.Orphans.has(id) || p.Matcher.keep.Aside(store.Orphan) != 0 || p.Counts.Adopted.Load() != 1 {
			t.Errorf("%s: it is an orphan still: %v, %v, %d are adopted", name, ok, err, p.Counts.Adopted.Load())
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// A receipt that was put aside is matched by the options of its connector, which stay in force.
func TestAdoptedByID(t *testing.T) {
	t.Parallel()
	p := newRigWith(t, "receipt_match: id, receipt_ids: decimal")
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	_, f := partOf(p, 0, 1, sms.StateDelivered, "")
	p.known(p.operator(), "1f", f.Mapping)
	p.makeOrphanOf("46700000002", "31", sms.StateDelivered)
	testutil.Eventually(t, "it is adopted", func() bool { return p.Counts.Adopted.Load() == 1 })
	p.quiet()
	if o := p.SMSCs.all["operator"]; !o.byID || !o.learner.IsFixed() {
		t.Errorf("matched by the id alone: %v, in a form that is given: %v", o.byID, o.learner.IsFixed())
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// An older receipt with the same id stays if it is about another number, or if its message cannot be looked for now: the
// log says that.
func TestOlderStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		number string
		fails  bool
	}{"it is about another number": {"46700000002", false}, "its message cannot be looked for": {"46700000001", true}} {
		p := newRig(t)
		f := &failing{Store: store.NewMemory()}
		s := &reading{Store: f, at: func() {}}
		var log testutil.Log
		p.Matcher.node.Log = zerolog.New(&log)
		if err := p.keep(s); err != nil {
			t.Fatal(err)
		}
		p.EndOrphans()
		_, match := partOf(p, 0, 1, sms.StateDelivered, "")
		older := p.makeOrphanOf(c.number, "msg-17", sms.StateDelivered)
		newer := p.makeOrphan("msg-17", sms.StateDelivered)
		p.known(p.operator(), "msg-17", match.Mapping)
		p.restart() // the message is in the store alone
		log.Take()
		p.Orphans.Read(newer, func(m *sms.Message, size int) error {
			if c.fails {
				s.at = func() { f.kind = store.IDsOf("operator") } // once the older one is read
			}
			return p.Orphans.Adopt(m, size)
		})
		if !p.Orphans.has(older) || p.Orphans.has(newer) {
			t.Errorf("%s: the older one stays: %v, the newer one: %v", name, p.Orphans.has(older), p.Orphans.has(newer))
		}
		if logged := strings.Contains(log.String(), errFailing.Error()); logged != c.fails {
			t.Errorf("%s: the log has %s", name, log.String())
		}
		f.kind = ""
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// Only receipts that were put aside are read as such, and the log says which cannot be read.
func TestReadOrphan(t *testing.T) {
	t.Parallel()
	p := keepAgain(t, vfs.NewMem())
	p.EndOrphans()
	var log testutil.Log
	p.Matcher.node.Log = zerolog.New(&log)
	parked, inLane, orphan := p.submitted(0), p.submitted(0), p.makeOrphan("17", sms.StateDelivered)
	p.Matcher.keep.Batches.Write(func(b *store.Batch) {
		b.Put(inLane, store.Lane{Connector: "operator"})
		b.Put(parked, store.Lane{})
		p.Matcher.keep.KeepAside(b, parked, store.Lane{}, store.Parked, "")
	})
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[uint64]bool{parked.ID: false, inLane.ID: false, orphan: true, 99: false} {
		read := false
		p.Orphans.Read(id, func(m *sms.Message, size int) error {
			read = m.ID == id && size > 0
			m.Release()
			return nil
		})
		if read != want {
			t.Errorf("message %d is read: %v", id, read)
		}
	}
	if log.Take(); p.Matcher.keep.Aside(store.Orphan) != 1 {
		t.Errorf("%d are left", p.Matcher.keep.Aside(store.Orphan))
	}
	p.Orphans.Read(orphan, func(m *sms.Message, _ int) error { m.Release(); return errFailing })
	if !strings.Contains(log.String(), errFailing.Error()) {
		t.Errorf("the log has %s", log.String())
	}
	p.madeReceipts(t)
}

// A receipt that an operator has removed a moment ago is not adopted, though the store still has it.
func TestRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	id := p.makeOrphan("17", sms.StateDelivered)
	p.quiet()
	p.Matcher.keep.Changing.Lock()
	p.accepted("17") // so it is to be looked at, when the change is made
	p.Orphans.Left(id)
	p.Matcher.keep.Changing.Unlock()
	p.quiet()
	if n := p.Counts.Adopted.Load(); n != 0 || len(p.made()) != 0 {
		t.Errorf("%d are adopted, %d receipts are made", n, len(p.made()))
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// A cannotGet is a store that cannot read messages.
type cannotGet struct{ store.Store }

func (cannotGet) Get(uint64, *store.Entry) (bool, error) { return false, errFailing }

// A receipt that the store cannot read now stays, and the log says so.
func TestOrphanCannotBeRead(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(cannotGet{store.NewMemory()}); err != nil {
		t.Fatal(err)
	}
	var log testutil.Log
	p.Matcher.node.Log = zerolog.New(&log)
	id := p.makeOrphan("17", sms.StateDelivered)
	p.quiet()
	if !p.Orphans.has(id) || !strings.Contains(log.String(), errFailing.Error()) {
		t.Errorf("it stays: %v; the log has %s", p.Orphans.has(id), log.String())
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}
