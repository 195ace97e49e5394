package receipts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/sms/peerid"
	"pmg/store"
)

const day = int64(24 * time.Hour)

// operators returns the names of the SMSCs of whose ids something is stored.
func (p *rig) operators() (names []string) {
	p.t.Helper()
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.Matcher.keep.Index.Notes(store.KindForm, nil, maxForms, func(name, _ []byte) error {
		names = append(names, string(name))
		return nil
	}); err != nil {
		p.t.Fatal(err)
	}
	return names
}

// What is known of an SMSC's ids is stored when it grows, and not with each answer and receipt.
func TestStoredIfItGrows(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	comes := func(id string) {
		p.accepted(id)
		m, f := p.receipt("46700000001", sms.Report{ID: []byte(id)}), Match{}
		p.received(p.operator(), m)
		if !p.find(p.operator(), m, &f) {
			t.Errorf("%s is not among the latest", id)
		}
		if found, err := p.LookUp(p.operator(), m, &f); !found || err != nil {
			t.Errorf("%s is not found: %v", id, err)
		}
	}
	for i := range 20 {
		comes(fmt.Sprintf("a%03x", i))
	}
	stored := p.operator().storedOn
	if today := store.DayOf(p.Matcher.node.Clock.Wall(p.now)); stored != today {
		t.Errorf("what was new is stored for day %d, not %d", stored, today)
	}
	p.Matcher.node.Clock.SetAhead(2 * day)
	for i := range 5 {
		comes(fmt.Sprintf("b%03x", i))
	}
	if now := p.operator().storedOn; now != stored {
		t.Errorf("what is not new was stored again on day %d, not %d", now, stored)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// What is known of an SMSC's ids is stored again when it is some days old. Where nothing is known, or the option says it,
// nothing is stored.
func TestStoredAgain(t *testing.T) {
	t.Parallel()
	const days = 7
	for name, c := range map[string]struct {
		options string
		begins  func(p *rig)
		want    []string
	}{
		"nothing is known":      {"", func(p *rig) { p.operator() }, nil},
		"the option says it":    {"receipt_ids: same", func(p *rig) { p.accepted("1f") }, nil},
		"learnt in this run":    {"", func(p *rig) { p.accepted("1f") }, []string{"operator"}},
		"known of earlier runs": {"", func(p *rig) { p.accepted("1f"); p.restart() }, []string{"operator"}},
	} {
		p := newRigWith(t, c.options)
		if err := p.keep(store.NewMemory()); err != nil {
			t.Fatal(err)
		}
		c.begins(p)
		today := store.DayOf(p.Matcher.node.Clock.Wall(p.now))
		p.Matcher.node.Clock.SetAhead((days + 1) * day)
		if o := p.SMSCs.all["operator"]; o != nil && o.storedOn != 0 { // one of earlier runs is stored by the first look
			if p.SMSCs.renew(today+days, days); o.storedOn != today {
				t.Errorf("%s: stored again too early", name)
			}
		}
		p.SMSCs.renew(today+days+1, days)
		p.Matcher.keep.Batches.Write(func(b *store.Batch) { b.ForgetBefore(today + days + 1) })
		if got := p.operators(); !slices.Equal(got, c.want) {
			t.Errorf("%s: when the older is forgotten, stored is %q, want %q", name, got, c.want)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// What is stored of one SMSC and cannot be read does not hide what is known of the others.
func TestFormsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	p.operator().sendsUnasked.Store(true)
	p.accepted("1f")
	today := store.DayOf(p.Matcher.node.Clock.Wall(p.now))
	p.Matcher.keep.Batches.Write(func(b *store.Batch) {
		b.Note(store.KindForm, []byte("a"), nil, 1)
		b.Note(store.KindForm, []byte("z"), []byte{99}, 1)
		b.Note(store.KindForm, nil, []byte{1, 2}, 1)
		b.Note(store.KindForm, []byte("zz"), append(new(peerid.Learner).Append(nil), 0), today) // is read last
	})
	p.restart()
	if len(p.SMSCs.forms) != 2 || p.SMSCs.forgotten != 0 || p.operator().stored == (peerid.Stage{}) {
		t.Errorf("%+v was read, and that ids before day %d were forgotten", p.SMSCs.forms, p.SMSCs.forgotten)
	}
	if !p.operator().sendsUnasked.Load() || !p.SMSCs.unasked.Load() || p.SMSCs.forms["zz"].unasked {
		t.Error("it is forgotten which SMSC sends what nobody asks for")
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// The log says when it becomes certain how an SMSC writes ids, and when it is not any more; and in both cases it looks
// again for the messages of receipts that wait. Where the option says how, there is nothing to say.
func TestCertain(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{"": "1, 1", "receipt_ids: same": "0, 0"} {
		p := newRigWith(t, options)
		var log testutil.Log
		p.Matcher.node.Log = zerolog.New(&log)
		if err := p.keep(store.NewMemory()); err != nil {
			t.Fatal(err)
		}
		p.EndOrphans()
		waiting := p.makeOrphan("99", sms.StateDelivered)
		looked := func() bool {
			defer func() { p.Orphans.again = nil }()
			return slices.Contains(p.Orphans.again, waiting)
		}
		looked()
		for i := range 8 { // of eight digits each
			p.accepted(fmt.Sprint(10_000_000 + i))
			p.received(p.operator(), p.receipt("46700000001", sms.Report{ID: fmt.Append(nil, 10_000_000+i)}))
		}
		first := strings.Count(log.Take(), `"operator":"operator","receipt_ids":"same","message":"it is certain`)
		if again := looked(); again != (options == "") {
			t.Errorf("%q: the receipt is looked at when it is certain: %v", options, again)
		}
		p.accepted("1f")
		then := strings.Count(log.Take(), `"operator":"operator","message":"it is not certain any more`)
		if got := fmt.Sprintf("%d, %d", first, then); got != want {
			t.Errorf("%q: the log says so %s times, want %s", options, got, want)
		}
		if again := looked(); again != (options == "") {
			t.Errorf("%q: the receipt is looked at when it is not certain: %v", options, again)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// What does not say what it reports belongs to no message, and nothing is learnt of it.
func TestNoReport(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	p.accepted("1f")
	m, o := p.submitted(0), p.operator()
	m.Set(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, []byte("1f"))
	before := o.learner
	p.received(o, m)
	if o.learner != before {
		t.Errorf("%+v was learnt", o.learner)
	}
	var f Match
	if p.find(o, m, &f) || p.IsOfLatest(o, m) {
		t.Error("it belongs to one of the latest messages")
	}
	if found, err := p.LookUp(o, m, &f); found || err != nil {
		t.Errorf("looked up: %v, %v", found, err)
	}
	if is, err := p.IsOfOurs(o, m); is || err != nil {
		t.Errorf("of ours: %v, %v", is, err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// A late answer without an id notes nothing, nor does one whose note cannot be read. So a text without an id is no receipt.
func TestLateWithoutID(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	l := &connector.Link{Source: connector.Source{Connector: p.Matcher.table.Connector("operator")}}
	record := p.RecordOf(l, p.submitted(sms.NotifySuccess))
	p.RecordLate(l, record, nil)
	p.RecordLate(l, record[:5], []byte("late"))
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := p.Matcher.keep.Index.Notes(store.IDsOf("operator"), nil, 10, func(key, _ []byte) error {
		t.Errorf("%q is noted", key)
		return nil
	}); err != nil {
		t.Error(err)
	}
	if is, err := p.IsOfOurs(p.operator(), p.receipt("46700000001", sms.Report{})); is || err != nil {
		t.Errorf("a text without an id is a receipt: %v, %v", is, err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// A text is a receipt, too, if its SMSC leaves the addresses as they were in the message.
func TestReceiptByTextAsSent(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	p.accepted("msg-1")
	m := p.receipt("", sms.Report{ID: []byte("msg-1")})
	r, _ := m.Report()
	m.SetReport(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, &r)
	if is, err := p.IsOfOurs(p.operator(), m); !is || err != nil || !p.IsOfLatest(p.operator(), m) {
		t.Errorf("of ours: %v, %v", is, err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// An SMSC that sends what nobody has asked for leads to nothing being noted of the messages that others take.
func TestUnaskedOfAnother(t *testing.T) {
	t.Parallel()
	p := newRigWith(t, another(""))
	m := p.submitted(0)
	p.Of(p.Matcher.table.Connector("other").Config()).sendsUnasked.Store(true)
	p.SMSCs.unasked.Store(true)
	for name, want := range map[string]bool{"operator": false, "other": true} {
		lane := p.Matcher.table.LaneOf(p.Matcher.table.Connector(name))
		if o := p.MapsFor(lane, m, &sms.Answer{PeerID: []byte("msg-1")}); (o != nil) != want || want && o.Name != name {
			t.Errorf("%s: noted: %v", name, o != nil)
		}
	}
}

// A receipt does not overtake an older one of its message that still waits; those of other messages do not wait for it.
func TestNoOvertaking(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	p.EndOrphans() // nothing is looked at but below
	older := p.makeOrphan("msg-1", sms.StateEnroute)
	p.accepted("msg-1")
	p.accepted("msg-2")
	want := func(id string, want bool) {
		t.Helper()
		var f Match
		if got := p.find(p.operator(), p.receipt("46700000001", sms.Report{ID: []byte(id)}), &f); got != want {
			t.Errorf("%s: goes to its client immediately: %v", id, got)
		}
	}
	want("msg-1", false)
	want("msg-2", true)
	p.Orphans.Read(older, p.Orphans.Adopt)
	want("msg-1", true)
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// The first look after a restart forgets nothing, and still knows up to which day earlier runs have forgotten ids.
func TestTidyAfterRestart(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	var log testutil.Log
	p.Matcher.node.Log = zerolog.New(&log)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	now := p.now - p.now%day // the hours between the looks are all of one day
	looks := func() uint32 {
		p.tidyReceipts(now)
		now += tidyReceiptsEvery
		return p.SMSCs.forgotten
	}
	looks()
	before := looks()
	if want := store.DayOf(p.now - int64(p.Matcher.node.Config().Receipts.Keep)); before != want {
		t.Errorf("ids before day %d are forgotten, want %d", before, want)
	}
	p.restart()
	p.looked = 0
	p.Matcher.node.Clock.SetAhead(day)
	for _, want := range []uint32{before, before + 1} {
		if got := looks(); got != want {
			t.Errorf("after a restart ids before day %d are forgotten, want %d", got, want)
		}
	}
	if strings.Contains(log.Take(), "too old at once") {
		t.Error("the log warns of a day that has passed")
	}
	p.Matcher.node.Clock.SetAhead(4 * day)
	looks()
	if looks(); !strings.Contains(log.String(), `"days":3`) || p.SMSCs.forgotten > before+3 {
		t.Errorf("ids before day %d are forgotten, %d before; the log has %s", p.SMSCs.forgotten, before, log.String())
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}
