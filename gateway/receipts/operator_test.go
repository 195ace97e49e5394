package receipts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/connector"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// operator returns the operator of the connector of that name.
func (p *rig) operator() *SMSC { return p.Of(p.Matcher.table.Connector("operator").Config()) }

// submitted returns a message of the client that asks for these receipts.
func (p *rig) submitted(n sms.Notify) *sms.Message {
	m := p.Matcher.node.Messages.Get()
	m.ID, m.Arrived, m.Notify = p.Matcher.keep.IDs.Add(1), p.now, n
	m.Origin = p.Matcher.node.Origins.Of("client", "clients")
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, nil)
	return m
}

// accepted is a message that the operator accepts by an id, and that ends so. It returns the message's id.
func (p *rig) accepted(id string) uint64 {
	p.t.Helper()
	m, a := p.submitted(sms.NotifySuccess|sms.NotifyFailure), sms.Answer{PeerID: []byte(id), At: p.now}
	defer m.Release()
	p.RecordAnswer(p.operator(), p.Matcher.table.Connector("operator").Config(), m, a.PeerID)
	p.Matcher.keep.Batches.Write(func(b *store.Batch) { p.note(b, m, &a, p.Matcher.node.Clock.Ahead()) })
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		p.t.Fatal(err)
	}
	return m.ID
}

// received records the form of the id of a receipt.
func (p *rig) received(o *SMSC, m *sms.Message) {
	if r, ok := m.Report(); ok {
		p.Received(o, r.ID)
	}
}

// find finds the message of a receipt among the latest ones.
func (p *rig) find(o *SMSC, m *sms.Message, f *Match) bool {
	r, ok := m.Report()
	return ok && p.Find(o, m, &r, f)
}

// receipt returns a receipt of the operator.
func (p *rig) receipt(from string, r sms.Report) *sms.Message {
	m := p.Matcher.node.Messages.Get()
	m.Origin = p.Matcher.node.Origins.Of("", "operator")
	m.SetReport(sms.Address{Addr: []byte(from)}, sms.Address{Addr: []byte("1234")}, &r)
	return m
}

// restart makes a Matcher forget what is in memory alone.
func (p *rig) restart() {
	p.t.Helper()
	p.SMSCs.all = nil
	p.SMSCs.unasked.Store(false)
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.SMSCs.Load(); err != nil {
		p.t.Fatal(err)
	}
}

// Which message a receipt is about, by its id, that in its text and its addresses, in memory and, after a restart,
// in the store.
func TestLookUp(t *testing.T) {
	t.Parallel()
	const number = "46700000001"
	for name, c := range map[string]struct {
		options      string
		ids          []string // in answers
		from         string
		id, text     string // in the receipt
		soon, looked int    // which of the answers' messages is found among the latest, and among all; 0: none
	}{
		"as it stands":           {"", []string{"msg-1", "msg-2"}, number, "msg-2", "", 2, 2},
		"one digit":              {"", []string{"5"}, number, "5", "", 1, 1},
		"two digits":             {"", []string{"17"}, number, "17", "", 0, 1}, // not certain, but the only reading of a message
		"two readings":           {"", []string{"17", "23"}, number, "17", "", 0, 0},
		"forms may differ":       {"", []string{"17", "1f"}, number, "17", "", 0, 0},
		"not known":              {"", []string{"msg-1"}, number, "msg-2", "", 0, 0},
		"none":                   {"", []string{"msg-1"}, number, "", "", 0, 0},
		"same":                   {"receipt_ids: same", []string{"17", "23"}, number, "17", "", 1, 1},
		"decimal":                {"receipt_ids: decimal", []string{"17", "11"}, number, "17", "", 2, 2},
		"decimal, no number":     {"receipt_ids: decimal", []string{"msg-1"}, number, "msg-1", "", 1, 1},
		"decimal, with letters":  {"receipt_ids: decimal", []string{"1f"}, number, "1f", "", 0, 0},
		"hexadecimal":            {"receipt_ids: hexadecimal", []string{"17", "23"}, number, "17", "", 2, 2},
		"in the text":            {"", []string{"msg-1"}, number, "other", "msg-1", 0, 1},
		"in the text, ambiguous": {"", []string{"17"}, number, "other", "17", 0, 0},
		"its text names none":    {"", []string{"msg-1"}, number, "msg-1", "other", 1, 1},
		"its text names another": {"", []string{"msg-1", "msg-2"}, number, "msg-1", "msg-2", 1, 1},
		"of another number":      {"", []string{"msg-1"}, "46700000002", "msg-1", "", 0, 0},
		"by the id alone":        {"receipt_match: id", []string{"msg-1"}, "46700000002", "msg-1", "", 1, 1},
	} {
		p := newRigWith(t, c.options)
		if err := p.keep(store.NewMemory()); err != nil {
			t.Fatal(err)
		}
		messages := []uint64{0}
		for _, id := range c.ids {
			messages = append(messages, p.accepted(id))
		}
		m := p.receipt(c.from, sms.Report{ID: []byte(c.id), TextID: []byte(c.text), State: sms.StateDelivered})
		p.received(p.operator(), m)
		var f Match
		if found := p.find(p.operator(), m, &f); found != (c.soon > 0) || found && f.Mapping.ID != messages[c.soon] {
			t.Errorf("%s: among the latest: %v, message %d of %d", name, found, f.Mapping.ID, messages)
		}
		for _, where := range []string{"in memory", "in the store"} {
			f = Match{}
			if found, err := p.LookUp(p.operator(), m, &f); err != nil || found != (c.looked > 0) || found && f.Mapping.ID != messages[c.looked] {
				t.Errorf("%s: %s: %v, message %d of %d, %v", name, where, found, f.Mapping.ID, messages, err)
			}
			if c.options != "" || len(c.ids) == 1 { // the store alone does not know that forms may differ
				p.restart()
			}
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// What a receipt proves of an operator's ids is known after restarts, and is stored again before it would be forgotten,
// whether its message was found in memory or in the store.
func TestFormIsKept(t *testing.T) {
	t.Parallel()
	for _, among := range []string{"the latest", "all"} {
		p := newRig(t)
		if err := p.keep(store.NewMemory()); err != nil {
			t.Fatal(err)
		}
		want := func(form string) {
			t.Helper()
			if all := p.SMSCs.Forms(); !slices.Equal(all, []IDForm{{"operator", form}}) {
				t.Errorf("%s: forms %+v, want %q", among, all, form)
			}
		}
		p.accepted("1f")
		want("")
		m, f := p.receipt("46700000001", sms.Report{ID: []byte("1f")}), Match{}
		if among == "the latest" {
			if !p.find(p.operator(), m, &f) {
				t.Fatal("the message is not found")
			}
		} else {
			p.restart()
			if found, err := p.LookUp(p.operator(), m, &f); !found || err != nil {
				t.Fatalf("the message is not found: %v", err)
			}
		}
		for range 2 {
			want("same")
			p.restart()
		}
		now := p.now
		for days := range int64(20) {
			p.Matcher.node.Clock.SetAhead(days * int64(24*time.Hour))
			p.tidyReceipts(now)
			now += tidyReceiptsEvery
		}
		p.restart()
		want("same")
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
	if all := newRigWith(t, "receipt_ids: decimal").SMSCs.Forms(); !slices.Equal(all, []IDForm{{"operator", "decimal"}}) {
		t.Errorf("forms by the option: %+v", all)
	}
}

// What answers have shown of an operator's ids is known after a restart, though nothing was concluded before.
func TestEvidenceIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ answer, receipt, want string }{
		{"%x", "%d", "decimal"},
		{"%d", "%d", "same"},
		{"%08X", "%d", "decimal"},
		{"0646700000001:%d", "0646700000001:%d", "same"}, // no numbers, which are compared as they are
	} {
		p := newRig(t)
		if err := p.keep(store.NewMemory()); err != nil {
			t.Fatal(err)
		}
		const first, n = 5000, 600
		ids := map[int]uint64{}
		for i := first; i < first+n; i++ {
			ids[i] = p.accepted(fmt.Sprintf(c.answer, i))
		}
		before := p.operator().learner.Stage()
		p.restart()
		if o := p.operator(); o.learner.Stage() != before {
			t.Errorf("%s: %+v is left of %+v", c.answer, o.learner.Stage(), before)
		}
		receipt := func(i int, f *Match) bool {
			m := p.receipt("46700000001", sms.Report{ID: fmt.Appendf(nil, c.receipt, i)})
			defer m.Release()
			p.received(p.operator(), m)
			found, err := p.LookUp(p.operator(), m, f)
			return found && err == nil
		}
		var f Match
		for i := first; i < first+16; i++ {
			receipt(i, &f) // those that come too early are orphans, and are looked for again
		}
		if all := p.SMSCs.Forms(); all[0].Form != c.want {
			t.Errorf("%s: forms %+v", c.answer, all)
		}
		wrong := 0
		for i := first; i < first+n; i++ {
			if !receipt(i, &f) || f.Mapping.ID != ids[i] {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d receipts of %d find another message or none", c.answer, wrong, n)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// The message of an answer is found by the receipt right behind that, before the message has ended: one that asks for
// receipts, and any where the operator sends receipts that nobody has asked for, or may do so.
func TestRecordAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		notify          sms.Notify
		missed, unasked bool
		want            bool
	}{
		{sms.NotifySuccess, false, false, true},
		{0, false, false, false},
		{0, true, false, true},
		{0, false, true, true},
	} {
		p := newRig(t)
		o, m := p.operator(), p.submitted(c.notify)
		o.Missed.Store(c.missed)
		o.sendsUnasked.Store(c.unasked)
		p.RecordAnswer(o, p.Matcher.table.Connector("operator").Config(), m, []byte("msg-1"))
		var f Match
		if found := p.find(o, p.receipt("46700000001", sms.Report{ID: []byte("msg-1")}), &f); found != c.want || found && f.Mapping.ID != m.ID {
			t.Errorf("%+v: found: %v, message %d", c, found, f.Mapping.ID)
		}
	}
}

// Which messages are noted by the SMSC's ids.
func TestMapsFor(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	out, in := p.Matcher.table.LaneOf(p.Matcher.table.Connector("operator")), p.Matcher.table.ClientLane("client", nil)
	for name, c := range map[string]struct {
		lane *connector.Lane
		kind sms.Kind
		code sms.Code
		id   string
		want bool
	}{
		"accepted":    {out, sms.Submit, sms.OK, "7", true},
		"refused":     {out, sms.Submit, sms.Rejected, "7", false},
		"without id":  {out, sms.Submit, sms.OK, "", false},
		"a receipt":   {out, sms.Receipt, sms.OK, "7", false},
		"of a client": {in, sms.Submit, sms.OK, "7", false},
	} {
		m := p.submitted(sms.NotifySuccess)
		m.Kind = c.kind
		o := p.MapsFor(c.lane, m, &sms.Answer{Code: c.code, PeerID: []byte(c.id)})
		if (o != nil) != c.want || c.want && o != p.operator() {
			t.Errorf("%s: %v", name, o != nil)
		}
	}
}

// An operator that has sent a receipt which nobody has asked for may do so again: what its ids stand for is noted
// of all messages, also after a restart. Where all receipts are asked for, they say nothing of it.
func TestUnaskedReceipts(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]bool{"": true, "receipts: force": false} {
		p := newRigWith(t, options)
		if err := p.keep(store.NewMemory()); err != nil {
			t.Fatal(err)
		}
		lane, m := p.Matcher.table.LaneOf(p.Matcher.table.Connector("operator")), p.submitted(0)
		found := func() bool { return p.MapsFor(lane, m, &sms.Answer{PeerID: []byte("msg-1")}) != nil }
		if found() != (options != "") {
			t.Errorf("%q: noted before a receipt comes: %v", options, found())
		}
		r, f := partOf(p, 0, 1, sms.StateDelivered, "")
		f.Mapping.Notify = 0
		if _, v := p.Direct(p.now, r, f); v != Dropped || p.Counts.Unwanted.Load() != 1 {
			t.Errorf("%q: verdict %d, %d unwanted", options, v, p.Counts.Unwanted.Load())
		}
		for range 2 {
			if got := p.operator().sendsUnasked.Load(); got != want || !found() {
				t.Errorf("%q: sends what nobody asks for: %v, noted: %v", options, got, found())
			}
			p.restart()
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// Which messages an answer that comes late is noted for.
func TestRecordOf(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	const ends = sms.NotifySuccess | sms.NotifyFailure
	for name, c := range map[string]struct {
		connector string
		kind      sms.Kind
		notify    sms.Notify
		want      bool
	}{
		"of an SMSC":  {"operator", sms.Submit, ends, true},
		"not asked":   {"operator", sms.Submit, 0, false},
		"of a client": {"clients", sms.Submit, ends, false},
		"a receipt":   {"operator", sms.Receipt, ends, false},
	} {
		m := p.submitted(c.notify)
		m.Kind = c.kind
		l := &connector.Link{Source: connector.Source{Connector: p.Matcher.table.Connector(c.connector)}}
		record := p.RecordOf(l, m)
		if (record != nil) != c.want {
			t.Errorf("%s: %x", name, record)
		}
		p.RecordLate(l, record, nil)
		p.RecordLate(l, record, []byte("late"))
		var f Match
		if found := p.find(p.operator(), p.receipt("46700000001", sms.Report{ID: []byte("late")}), &f); found != c.want || found && f.Mapping.ID != m.ID {
			t.Errorf("%s: found: %v, %d instead of %d", name, found, f.Mapping.ID, m.ID)
		}
		p.SMSCs.all = nil
	}
}

// Each form that the option takes is the one that is shown, and no other is.
func TestFormNames(t *testing.T) {
	t.Parallel()
	names := FormNames()
	for _, name := range names {
		if all := newRigWith(t, "receipt_ids: "+name).SMSCs.Forms(); !slices.Equal(all, []IDForm{{"operator", name}}) {
			t.Errorf("%s is shown as %+v", name, all)
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"decimal", "hexadecimal", "same"}) {
		t.Errorf("the forms are %q", names)
	}
}

// A receipt that belongs to no message says nothing of how its SMSC writes ids.
func TestUnknownProvesNothing(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	p.accepted("4a17")
	var f Match
	for _, id := range []string{"4a18", "4a17"} {
		m := p.receipt("46700000001", sms.Report{ID: []byte(id), State: sms.StateDelivered})
		if found := p.find(p.operator(), m, &f); found != (id == "4a17") {
			t.Fatalf("%s is found: %v", id, found)
		}
		if form := p.SMSCs.Forms()[0].Form; (form == "same") != (id == "4a17") {
			t.Errorf("after %s the form is %q", id, form)
		}
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// A text is the receipt of a message if it has the id and one of the numbers of that, whatever the options say of numbers.
func TestReceiptByText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options, answer, from, id string
		latest, ours              bool
	}{
		"of the recipient":           {"", "msg-1", "46700000001", "msg-1", true, true},
		"of another number":          {"", "msg-1", "46700000002", "msg-1", false, false},
		"of another, by id":          {"receipt_match: id", "msg-1", "46700000002", "msg-1", false, false},
		"of a name":                  {"", "msg-1", "PMG", "msg-1", false, false},
		"of no message":              {"", "msg-1", "46700000001", "msg-2", false, false},
		"a number that is not clear": {"", "17", "46700000001", "17", false, true},
		"in another form":            {"receipt_ids: decimal", "1f", "46700000001", "31", true, true},
	} {
		p := newRigWith(t, c.options)
		if err := p.keep(store.NewMemory()); err != nil {
			t.Fatal(err)
		}
		p.accepted(c.answer)
		m := p.receipt(c.from, sms.Report{ID: []byte(c.id), State: sms.StateDelivered})
		if got := p.IsOfLatest(p.operator(), m); got != c.latest {
			t.Errorf("%s: of the latest: %t", name, got)
		}
		for _, where := range []string{"in memory", "in the store"} {
			if got, err := p.IsOfOurs(p.operator(), m); got != c.ours || err != nil {
				t.Errorf("%s: %s: %t, %v", name, where, got, err)
			}
			p.restart()
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// The message of a UUID is found that was noted with its dashes, before these did not matter.
func TestOlderUUID(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	const uuid = "61ce3b96-0c94-4d9c-8c3e-00000000000a"
	id := p.accepted("msg-1")
	record, ok, err := p.Matcher.keep.Index.Lookup(store.IDsOf("operator"), []byte("msg-1"))
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	p.Matcher.keep.Batches.Write(func(b *store.Batch) {
		b.Note(store.IDsOf("operator"), []byte(uuid), record, store.DayOf(p.Matcher.node.Clock.Wall(p.now)))
	})
	if err := p.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{uuid, strings.ToUpper(uuid), strings.ReplaceAll(uuid, "-", "")} {
		var f Match
		if found, err := p.LookUp(p.operator(), p.receipt("46700000001", sms.Report{ID: []byte(text)}), &f); !found || err != nil || f.Mapping.ID != id {
			t.Errorf("%s: %t, message %d, %v", text, found, f.Mapping.ID, err)
		}
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// another is further options, and a further connector to an SMSC.
func another(options string) string {
	return "window: 5}\n  - {name: other, direction: out, address: \"127.0.0.1:1\", system_id: pmg, password: secret, " + options
}

// underWay is a session of a connector that has a request under way, which answer ends.
func (p *rig) underWay(connectorName string) (answer func()) {
	c := p.Matcher.table.Connector(connectorName)
	i := c.Acquire()
	l := &connector.Link{Source: connector.Source{Connector: c, Instance: i}}
	i.SetLink(l)
	l.Inflight.Free(1, 5)
	l.Inflight.Put(&connector.Slot{Sequence: 1})
	return func() { l.Inflight.Take(1) }
}

// A receipt whose id can be read in two ways waits while an answer of its SMSC may come, because it may be about that
// answer's message. When no answer can come any more it is matched again. Else it would go to the wrong client, or to
// none. The answers of others do not hold it up.
func TestWaitsForAnswers(t *testing.T) {
	t.Parallel()
	p := newRigWith(t, another(""))
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	p.accepted("17")
	answer := p.underWay("operator")
	p.underWay("other")
	p.makeOrphan("17", sms.StateDelivered)
	o := &p.Orphans
	testutil.Eventually(t, "it was looked at", func() bool { o.mu.Lock(); defer o.mu.Unlock(); return !o.running })
	p.LookAfter(p.now)
	if n := p.Matcher.keep.Aside(store.Orphan); n != 1 {
		t.Errorf("%d wait though an answer may come", n)
	}
	answer()
	p.LookAfter(p.now)
	testutil.Eventually(t, "it goes to its client", func() bool { return p.Counts.Adopted.Load() == 1 })
	p.EndOrphans()
	p.makeOrphan("99", sms.StateDelivered)
	p.Orphans.again = nil
	if p.LookAfter(p.now); len(p.Orphans.again) != 0 {
		t.Error("receipts that wait for no answer are looked at each second")
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// An SMSC is shown once, however many connectors lead to it.
func TestFormsOfOne(t *testing.T) {
	t.Parallel()
	for options, want := range map[string][]IDForm{"operator: operator": {{"operator", ""}}, "": {{"operator", ""}, {"other", ""}}} {
		if all := newRigWith(t, another(options)).SMSCs.Forms(); !slices.Equal(all, want) {
			t.Errorf("%q: %+v", options, all)
		}
	}
}
