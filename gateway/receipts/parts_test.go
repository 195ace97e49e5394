package receipts

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/connector"
	"pmg/connector/queue"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// A step is a receipt of a part, and what becomes of it.
type step struct {
	part  uint8
	state sms.State
	err   string
	want  Verdict
	told  sms.State // with passOn: the state that the client gets
}

// steps gives a gateway the receipts of the parts of a message of three.
func steps(t *testing.T, g *rig, steps ...step) (last sms.Report) {
	t.Helper()
	for i, s := range steps {
		m, f := partOf(g, s.part, 3, s.state, s.err)
		_, v := g.Direct(1, m, f)
		last, _ = m.Report()
		if v != s.want || v == passOn && last.State != s.told {
			t.Fatalf("step %d: verdict %d, %s; want %d, %s", i, v, last.State, s.want, s.told)
		}
		if v == passOn && (last.Known != 5000 && !(s.state == sms.NoState) || string(m.Source().Addr) != "46700000001" || string(m.Dest().Addr) != "1234" || m.Parts != 0) {
			t.Errorf("step %d: %+v from %s to %s", i, last, m.Source().Addr, m.Dest().Addr)
		}
	}
	return last
}

// The receipts of the parts of a long message become one for the client, whatever their order.
// One that comes twice makes no difference; the last may come again, because it may not have
// been stored.
func TestReceiptOfParts(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	const delivered = sms.StateDelivered
	steps(t, g,
		step{2, delivered, "000", Recorded, 0},
		step{2, delivered, "000", Recorded, 0},
		step{0, sms.StateEnroute, "", Dropped, 0}, // an intermediate notification, which the client has not asked for
		step{0, delivered, "000", Recorded, 0},
		step{1, delivered, "000", passOn, delivered},
		step{1, delivered, "000", passOn, delivered},
		step{0, delivered, "000", Recorded, 0})
	if r := steps(t, g, step{1, delivered, "000", passOn, delivered}); r.Parts != 3 || r.Delivered != 3 || r.Submitted != 1000 || r.Done != 2002 || string(r.Text) != "x\x00" {
		t.Errorf("%+v", r)
	}
}

// The client hears of a part that has failed for good immediately, because the others' receipts
// may never come, and of nothing else.
func TestReceiptOfFailedPart(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	r := steps(t, g,
		step{2, sms.StateDelivered, "000", Recorded, 0},
		step{0, sms.StateUnknown, "099", Recorded, 0}, // which may be worse, or not be the end
		step{1, sms.StateUndeliverable, "022", passOn, sms.StateUndeliverable})
	if string(r.Err) != "022" || r.Parts != 3 || r.Delivered != 1 || r.Done != 2002 {
		t.Errorf("%+v", r)
	}
	steps(t, g,
		step{1, sms.StateUndeliverable, "022", passOn, sms.StateUndeliverable}, // it was not stored
		step{0, sms.StateRejected, "011", Recorded, 0},
		step{2, sms.StateDelivered, "000", Recorded, 0})
}

// ACCEPTD of a part is sent when all have at least that, and is replaced by what follows.
func TestReceiptOfAcceptedParts(t *testing.T) {
	t.Parallel()
	const accepted, delivered = sms.StateAccepted, sms.StateDelivered
	g := newRig(t)
	steps(t, g,
		step{0, accepted, "000", Recorded, 0},
		step{0, sms.NoState, "000", passOn, sms.NoState}, // a word that is not known ends nothing
		step{1, accepted, "000", Recorded, 0},
		step{2, accepted, "000", passOn, accepted},
		step{2, accepted, "000", passOn, accepted},
		step{1, accepted, "000", Recorded, 0},
		step{0, delivered, "000", Recorded, 0},
		step{0, accepted, "000", Recorded, 0}, // a late one
		step{1, delivered, "000", Recorded, 0},
		step{2, delivered, "000", passOn, delivered},
		step{1, delivered, "000", Recorded, 0})
	g = newRig(t)
	steps(t, g,
		step{0, accepted, "000", Recorded, 0},
		step{1, delivered, "000", Recorded, 0},
		step{2, accepted, "000", passOn, accepted},
		step{0, sms.StateUndeliverable, "011", passOn, sms.StateUndeliverable},
		step{2, delivered, "000", Recorded, 0})
}

// keepAgain is a restart of a gateway whose store is on fs.
func keepAgain(t *testing.T, fs vfs.FS) *rig {
	t.Helper()
	p := newRig(t)
	s, err := store.Open("data", store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.keep(s); err != nil {
		t.Fatal(err)
	}
	p.Matcher.keep.LastStored = 6000
	p.Matcher.keep.Outgoing.Begin(func(_ *connector.Lane, f func(int64)) bool { f(p.now); return true })
	return p
}

// part gives a gateway the receipt of a part of a message of two, as a session does.
func (p *rig) part(t *testing.T, part uint8, state sms.State) (v Verdict, told sms.State) {
	t.Helper()
	m, f := partOf(p, part, 2, state, "000")
	_, v = p.Direct(p.now, m, f)
	if v == Unread {
		if err := p.LoadParts(f); err != nil {
			t.Fatal(err)
		}
		_, v = p.Direct(p.now, m, f)
	}
	if v == Recorded {
		if err := p.Matcher.keep.Batches.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	r, _ := m.Report()
	return v, r.State
}

// madeReceipts returns the receipts that the gateway has made and given to the client's lane, and closes
// the gateway.
func (p *rig) madeReceipts(t *testing.T) (all []sms.Report) {
	t.Helper()
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "the lanes have what was made", func() bool { all, giving := p.Matcher.keep.Outgoing.Waiting(); return len(all) == 0 && !giving })
	p.Matcher.keep.Outgoing.End()
	if err := p.close(); err != nil {
		t.Error(err)
	}
	lane := p.Matcher.table.ClientLane("client", nil)
	lane.Queues.Shares(func(s *connector.Share) {
		lane.Queues.EachWaiting(s, func(_ queue.Waiting, m *sms.Message) {
			r, _ := m.Report()
			if m.Kind != sms.Receipt || m.Flags != sms.HasReport || m.Origin.Account != "" || m.Origin.Connector != "clients" && m.Origin.Connector != "operator" {
				t.Errorf("what was made is of kind %d, with flags %b, from %+v", m.Kind, m.Flags, m.Origin)
			}
			r.Text = nil
			all = append(all, r)
		})
	})
	return all
}

// A part may go without an outcome for a time. Then the client gets what is known, once, and later
// the outcome of the message, whatever restarts are between.
func TestPartsWait(t *testing.T) {
	t.Parallel()
	day := int64(24 * 3600e9)
	fs := vfs.NewMem()
	p := keepAgain(t, fs)
	tell := func() {
		t.Helper()
		if err := p.waits.tell(); err != nil {
			t.Fatal(err)
		}
	}
	if v, _ := p.part(t, 0, sms.StateDelivered); v != Recorded {
		t.Fatalf("verdict %d", v)
	}
	tell()
	if all := p.madeReceipts(t); len(all) != 0 {
		t.Fatalf("told at once: %+v", all)
	}
	p = keepAgain(t, fs)
	p.Matcher.node.Clock.SetAhead(day + 60e9)
	tell()
	tell()
	all := p.madeReceipts(t)
	if len(all) != 1 || all[0].Known != 5000 || all[0].State != sms.StateUnknown || all[0].Parts != 2 || all[0].Delivered != 1 {
		t.Fatalf("told %+v", all)
	}
	p = keepAgain(t, fs)
	p.Matcher.node.Clock.SetAhead(2*day + 60e9)
	tell()
	if v, told := p.part(t, 1, sms.StateDelivered); v != passOn || told != sms.StateDelivered {
		t.Errorf("the last part: verdict %d, %s", v, told)
	}
	if v, _ := p.part(t, 0, sms.StateDelivered); v != Recorded {
		t.Errorf("the first part again: verdict %d", v)
	}
	if all := p.madeReceipts(t); len(all) != 0 {
		t.Errorf("told again: %+v", all)
	}
	p = keepAgain(t, fs)
	if v, _ := p.part(t, 0, sms.StateUndeliverable); v != Recorded {
		t.Errorf("the client, which was told all, is told more: verdict %d", v)
	}
	if all := p.madeReceipts(t); len(all) != 0 {
		t.Errorf("told again: %+v", all)
	}
}

// A message of which everything is known waits for nothing.
func TestPartsWaitForNothing(t *testing.T) {
	t.Parallel()
	for _, last := range []sms.State{sms.StateDelivered, sms.StateUndeliverable, sms.StateAccepted} {
		fs := vfs.NewMem()
		p := keepAgain(t, fs)
		p.part(t, 0, sms.StateDelivered)
		if v, told := p.part(t, 1, last); v != passOn || told != last {
			t.Errorf("%s: verdict %d, %s", last, v, told)
		}
		p.madeReceipts(t)
		p = keepAgain(t, fs)
		p.Matcher.node.Clock.SetAhead(int64(25 * 3600e9))
		if err := p.waits.tell(); err != nil {
			t.Fatal(err)
		}
		if all := p.madeReceipts(t); len(all) != 0 {
			t.Errorf("%s: told %+v", last, all)
		}
	}
}

// A client that asks for success alone does not hear that nothing is known of a part.
func TestPartsWaitUnwanted(t *testing.T) {
	t.Parallel()
	p := keepAgain(t, vfs.NewMem())
	m, f := partOf(p, 0, 2, sms.StateDelivered, "000")
	f.Mapping.Notify = sms.NotifySuccess
	if _, v := p.Direct(p.now, m, f); v == Unread {
		if err := p.Parts.Load(f); err != nil {
			t.Fatal(err)
		}
		p.Direct(p.now, m, f)
	}
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	p.Matcher.node.Clock.SetAhead(int64(25 * 3600e9))
	if err := p.waits.tell(); err != nil {
		t.Fatal(err)
	}
	if _, fate, ok, err := p.FateOf(5000); !ok || err != nil || fate.State != sms.StateUnknown {
		t.Errorf("a query is told %+v; %v, %v", fate, ok, err)
	}
	if all := p.madeReceipts(t); len(all) != 0 {
		t.Errorf("told %+v", all)
	}
}

// A receipt that was not final, before a restart, is followed by the end.
func TestAcceptedPartsAfterRestart(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	for _, s := range []struct {
		state sms.State
		want  []Verdict
	}{
		{sms.StateAccepted, []Verdict{Recorded, passOn}},
		{sms.StateDelivered, []Verdict{Recorded, passOn}},
	} {
		p := keepAgain(t, fs)
		for part, want := range s.want {
			v, told := p.part(t, uint8(part), s.state)
			if v != want || v == passOn && told != s.state {
				t.Errorf("%s of part %d: verdict %d, %s", s.state, part, v, told)
			}
		}
		p.madeReceipts(t)
	}
}

// What became of the parts before a restart is read from the store.
func TestReceiptOfPartsAfterRestart(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	if err := g.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	m, f := partOf(g, 0, 2, sms.StateDelivered, "000")
	if _, v := g.Direct(1, m, f); v != Recorded {
		t.Fatalf("verdict %d", v)
	}
	m.Release()
	if err := g.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	g.Parts.by, g.Parts.order, g.Matcher.keep.LastStored = nil, nil, 6000
	m, f = partOf(g, 1, 2, sms.StateDelivered, "000")
	if _, v := g.Direct(1, m, f); v != Unread {
		t.Fatalf("verdict %d before the others are read", v)
	}
	if err := g.Parts.Load(f); err != nil {
		t.Fatal(err)
	}
	if _, v := g.Direct(1, m, f); v != passOn {
		t.Fatalf("verdict %d", v)
	}
	if r, _ := m.Report(); r.Known != 5000 || r.State != sms.StateDelivered || r.Delivered != 2 || r.Parts != 2 {
		t.Errorf("%+v", r)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
}

// A long message of an earlier run that the gateway itself gives up has one receipt, whose parts'
// outcomes are in the store alone, whichever part it is.
func TestOwnReceiptAfterRestart(t *testing.T) {
	t.Parallel()
	for _, ends := range [][]uint8{{0, 1}, {1}, {0}} {
		fs := vfs.NewMem()
		p := keepAgain(t, fs)
		for part := range uint8(2) {
			if len(ends) < 2 && part != ends[0] {
				if v, _ := p.part(t, part, sms.StateDelivered); v != Recorded {
					t.Fatalf("verdict %d", v)
				}
			}
		}
		p.madeReceipts(t)
		p = keepAgain(t, fs)
		for _, part := range ends {
			m := p.Matcher.node.Messages.Get()
			m.ID, m.Offset, m.Part, m.Parts = 5000+uint64(part), uint16(part), part, 2
			m.Origin, m.Notify = p.Matcher.node.Origins.Of("client", "clients"), sms.NotifyFailure
			m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, nil)
			p.forget(m, keep.Ending{State: events.Expired, Answer: sms.Answer{Code: sms.Expired, At: p.now}})
			m.Release()
		}
		all := p.madeReceipts(t)
		if len(all) != 1 || all[0].Known != 5000 || all[0].State != sms.StateExpired || all[0].Parts != 2 || int(all[0].Delivered) != 2-len(ends) && len(ends) < 2 {
			t.Errorf("parts %d end: %+v", ends, all)
		}
		p = keepAgain(t, fs)
		other := 1 - ends[0]
		if v, _ := p.part(t, other, sms.StateUndeliverable); v != Recorded {
			t.Errorf("parts %d end: the client is told more: verdict %d", ends, v)
		}
		p.madeReceipts(t)
	}
}

// losesPart ends the first part of a message of two, whose outcome is not known.
func (p *rig) losesPart() {
	m := p.Matcher.node.Messages.Get()
	m.ID, m.Part, m.Parts = 5000, 0, 2
	m.Origin, m.Notify = p.Matcher.node.Origins.Of("client", "clients"), sms.NotifyFailure
	p.forget(m, keep.Ending{State: events.Unknown, Answer: sms.Answer{Code: sms.Lost, At: p.now}})
}

// A part whose outcome is not known counts as one that waits, when the gateway itself ends it.
func TestOwnUnknownPart(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	p := keepAgain(t, fs)
	p.losesPart()
	if all := p.madeReceipts(t); len(all) != 0 {
		t.Errorf("told at once: %+v", all)
	}
	p = keepAgain(t, fs)
	p.Matcher.node.Clock.SetAhead(int64(25 * 3600e9))
	if err := p.waits.tell(); err != nil {
		t.Fatal(err)
	}
	if all := p.madeReceipts(t); len(all) != 1 || all[0].State != sms.StateUnknown {
		t.Errorf("told %+v", all)
	}
}

// What became of a part that the gateway itself has ended is in the store.
func TestOwnPartIsStored(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	p := keepAgain(t, fs)
	p.losesPart()
	p.madeReceipts(t)
	p = keepAgain(t, fs)
	if v, told := p.part(t, 1, sms.StateDelivered); v != passOn || told != sms.StateUnknown {
		t.Errorf("the other part: verdict %d, %s", v, told)
	}
	p.madeReceipts(t)
}

// The receipt of a long message has seconds in its times if that of a part has.
func TestPartsWithSeconds(t *testing.T) {
	of := &joint{by: noPart}
	for part, seconds := range []bool{false, true, false} {
		of.add(uint8(part), &sms.Report{State: sms.StateDelivered, Done: int64(part), Seconds: seconds})
		if want := part > 0; of.report.Seconds != want {
			t.Errorf("part %d: seconds: %t", part, of.report.Seconds)
		}
	}
}

// Each of 255 parts counts once.
func TestManyParts(t *testing.T) {
	t.Parallel()
	of := &joint{by: noPart}
	for range 2 {
		for part := range uint8(255) {
			of.add(part, &sms.Report{State: sms.StateDelivered})
		}
	}
	if of.nEnded != 255 || of.nTaken != 255 || of.report.Delivered != 255 {
		t.Errorf("%d parts have ended, %d are taken, %d delivered", of.nEnded, of.nTaken, of.report.Delivered)
	}
}

// Of two parts the worse state is sent, immediately if it says that the part will never be delivered.
func TestStateOfParts(t *testing.T) {
	t.Parallel()
	order := []sms.State{sms.StateDelivered, sms.StateUnknown, sms.StateSkipped, sms.StateExpired, sms.StateDeleted, sms.StateUndeliverable, sms.StateRejected}
	for i, one := range order {
		for j, other := range order {
			g := newRig(t)
			m, f := partOf(g, 0, 2, one, "001")
			_, v := g.Direct(1, m, f)
			if failed := i > 1; failed != (v == passOn) {
				t.Errorf("%s: verdict %d", one, v)
			}
			if v == passOn {
				continue
			}
			m, f = partOf(g, 1, 2, other, "002")
			_, v = g.Direct(1, m, f)
			r, _ := m.Report()
			if v != passOn || r.State != order[max(i, j)] {
				t.Errorf("%s and %s: verdict %d, %s", one, other, v, r.State)
			}
			want := []string{"001", "002"}[map[bool]int{true: 1}[j > i]]
			if max(i, j) > 0 && string(r.Err) != want {
				t.Errorf("%s and %s: error %s, want %s", one, other, r.Err, want)
			}
		}
	}
}

// The oldest of many long messages make room in memory: their outcomes are read from the store then. What came first is
// forgotten first.
func TestMostLongMessages(t *testing.T) {
	t.Parallel()
	var j Parts
	r := &sms.Report{State: sms.StateDelivered}
	for whole := range uint64(maxJoints + 2) {
		if _, v, begins := j.add(10+whole, 0, 2, r, false, false); v != Recorded || !begins {
			t.Fatalf("message %d: verdict %d, begins to wait: %v", whole, v, begins)
		}
	}
	for whole, want := range map[uint64]Verdict{10: Unread, 11: Unread, 12: passOn, 10 + maxJoints: passOn} {
		if _, v, _ := j.add(whole, 1, 2, r, false, false); v != want {
			t.Errorf("message %d: verdict %d, want %d", whole, v, want)
		}
	}
	if len(j.by) != maxJoints || len(j.order) != maxJoints {
		t.Errorf("%d are known", len(j.by))
	}
}

// partOf returns a receipt of a part, and the match of that.
func partOf(g *rig, part, parts uint8, state sms.State, err string) (*sms.Message, *Match) {
	m, v := roomtest.PartReceipt(g.Matcher.node, part, parts, state, err)
	f := &Match{}
	if err := f.Set(v.Append(nil)); err != nil {
		panic(err)
	}
	return m, f
}
