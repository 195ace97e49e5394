package gateway

import (
	"net/netip"
	"testing"

	"pmg/connector"
	"pmg/events"
	"pmg/internal/testutil"
	"pmg/sms"
	"pmg/store"
)

// partOf returns a receipt of an SMSC, and what is known of the part that it is about. Parts
// count from 0.
func partOf(g *Gateway, part, parts uint8, state sms.State, err string) (*sms.Message, *match) {
	m := g.Messages.Get()
	m.Origin = g.origins.of("", "operator")
	m.SetReport(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")},
		&sms.Report{ID: []byte{'a' + part}, State: state, Err: []byte(err), Submitted: 1000 + int64(part), Done: 2000 + int64(part), Text: []byte{'x', part}})
	v := store.Mapping{ID: 5000 + uint64(part), Offset: uint16(part), Part: part, Parts: parts,
		Notify: sms.NotifySuccess | sms.NotifyFailure, Account: []byte("client"), Connector: []byte("clients"),
		Source: sms.Address{Addr: []byte("1234")}, Dest: sms.Address{Addr: []byte("46700000001")}}
	f := &match{}
	if err := f.set(v.Append(nil)); err != nil {
		panic(err)
	}
	return m, f
}

// The receipts of the parts of a long message become one for the client, whatever their
// order: the worst state, and the error of the first part that failed. One that comes twice
// makes no difference; the last may come again, because it may not have been stored.
func TestReceiptOfParts(t *testing.T) {
	t.Parallel()
	g, _, _ := start(t, "")
	step := func(part uint8, state sms.State, err string, want verdict) *sms.Message {
		t.Helper()
		m, f := partOf(g, part, 3, state, err)
		if _, v := g.direct(1, m, f); v != want {
			t.Fatalf("part %d: verdict %d, want %d", part, v, want)
		}
		return m
	}
	step(2, sms.StateDelivered, "000", noted)
	step(2, sms.StateDelivered, "000", noted)
	if m := step(0, sms.StateEnroute, "", dropped); m.Parts != 0 { // an intermediate notification, which the client has not asked for
		t.Errorf("it counts as a part: %d of %d", m.Part, m.Parts)
	}
	if m := step(0, sms.StateExpired, "011", noted); m.ID != 5000 || m.Part != 0 || !isNoted(Accepted{Message: m}) {
		t.Errorf("it would be stored as part %d of %d", m.Part, m.ID)
	}
	for range 2 {
		m := step(1, sms.StateUndeliverable, "022", passOn)
		r, _ := m.Report()
		if r.Known != 5000 || r.State != sms.StateUndeliverable || string(r.Err) != "011" || r.Parts != 3 || r.Delivered != 1 ||
			r.Submitted != 1000 || r.Done != 2002 || string(r.Text) != "x\x00" || m.Parts != 0 {
			t.Errorf("%+v", r)
		}
		if string(m.Source().Addr) != "46700000001" || string(m.Dest().Addr) != "1234" {
			t.Errorf("from %s to %s", m.Source().Addr, m.Dest().Addr)
		}
	}
	step(0, sms.StateExpired, "011", dropped)
}

// What became of the parts before a restart is read from the store.
func TestReceiptOfPartsAfterRestart(t *testing.T) {
	t.Parallel()
	g, _, _ := start(t, "")
	if err := g.Keep(store.NewMemory(), nil); err != nil {
		t.Fatal(err)
	}
	m, f := partOf(g, 0, 2, sms.StateDelivered, "000")
	if _, v := g.direct(1, m, f); v != noted {
		t.Fatalf("verdict %d", v)
	}
	g.Put(Accepted{Message: m}, nil)
	if err := g.Committer.Sync(); err != nil {
		t.Fatal(err)
	}
	if n := g.Aside(store.Orphan) + g.Aside(store.Parked); n != 0 {
		t.Errorf("%d messages are put aside", n)
	}
	g.receipts.joints.by, g.receipts.joints.order, g.lastStored = nil, nil, 6000
	m, f = partOf(g, 1, 2, sms.StateDelivered, "000")
	if _, v := g.direct(1, m, f); v != unread {
		t.Fatalf("verdict %d before the others are read", v)
	}
	if err := g.loadParts(f); err != nil {
		t.Fatal(err)
	}
	if _, v := g.direct(1, m, f); v != passOn {
		t.Fatalf("verdict %d", v)
	}
	if r, _ := m.Report(); r.Known != 5000 || r.State != sms.StateDelivered || r.Delivered != 2 || r.Parts != 2 {
		t.Errorf("%+v", r)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// Without a store the outcome of a part is in memory alone, and its receipt is answered.
func TestReceiptOfPartWithoutStore(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.link()
	m, f := partOf(p.g, 0, 2, sms.StateDelivered, "000")
	r := &request{}
	p.open++
	p.c.foundOut(p.now, &finding[*request]{link: l, request: r, message: m, match: *f, found: true})
	if len(p.storing) != 0 || r.gone != "sent" {
		t.Errorf("%d wait to be stored, and the request is %q", len(p.storing), r.gone)
	}
	m, f = partOf(p.g, 1, 2, sms.StateDelivered, "000")
	if _, v := p.g.direct(p.now, m, f); v != passOn {
		t.Errorf("verdict %d for the last part", v)
	}
}

// What a receipt belongs to is kept while the outcomes of other parts are read from the store,
// whatever receipts of the session come meanwhile.
func TestReceiptWhileReading(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	if err := p.g.Keep(store.NewMemory(), nil); err != nil {
		t.Fatal(err)
	}
	p.g.lastStored = 6000
	first, _ := partOf(p.g, 0, 2, sms.StateDelivered, "000")
	first.ID, first.Part = 5000, 0
	p.g.notePart(p.g.Committer.Begin(), first)
	p.g.Committer.End()
	if err := p.g.Committer.Sync(); err != nil {
		t.Fatal(err)
	}
	recent := p.g.receipts.of(p.g.Config(), p.operator.Config()).recent
	second, f := partOf(p.g, 1, 2, sms.StateDelivered, "000")
	recent.add([]byte("b"), f.record)
	others, f := partOf(p.g, 2, 1, sms.StateDelivered, "000")
	f.ID, f.Offset, f.Account, f.Source.Addr = 7000, 0, []byte("other"), []byte("9999")
	recent.add([]byte("c"), f.Append(nil))

	l := &connector.Link{}
	l.Open(p.operator.Acquire(), netip.AddrPort{}, p.now, nil)
	for _, m := range []*sms.Message{second, others} {
		p.open++
		p.c.receipt(p.now, l, &request{}, m)
	}
	p.check()
	for _, m := range p.queued {
		want := map[uint64]string{5000: "1234", 7000: "9999"}
		if r, _ := m.Report(); string(m.Dest().Addr) != want[r.Known] {
			t.Errorf("the receipt of message %d goes to %s", r.Known, m.Dest().Addr)
		}
	}
	if len(p.queued) != 2 {
		t.Errorf("%d receipts", len(p.queued))
	}
	if err := p.g.Close(); err != nil {
		t.Error(err)
	}
}

// A long message of an earlier run that the gateway itself gives up has one receipt, whose parts'
// outcomes are in the store alone.
func TestOwnReceiptAfterRestart(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	if err := p.g.Keep(store.NewMemory(), nil); err != nil {
		t.Fatal(err)
	}
	p.g.lastStored = 6000
	p.g.receipts.outgoing.begin(p.g, &engineNow{port: p})
	for part := range uint8(3) {
		m := p.g.Messages.Get()
		m.ID, m.Offset, m.Part, m.Parts = 5000+uint64(part), uint16(part), part, 3
		m.Origin, m.Notify = p.g.origins.of("client", "clients"), sms.NotifyFailure
		p.g.forget(m, ending{state: events.Expired, answer: sms.Answer{Code: sms.Expired, At: p.now}})
		m.Release()
	}
	lane := p.g.clientLane("client")
	p.g.Commit()
	testutil.Eventually(t, "the client is to have a receipt", func() bool { return lane.Queued.Load() == 1 })
	if err := p.g.Close(); err != nil {
		t.Error(err)
	}
	lane.Shares(func(s *connector.Share) {
		lane.EachWaiting(s, func(_ connector.Waiting, m *sms.Message) {
			if r, _ := m.Report(); r.Known != 5000 || r.State != sms.StateExpired || r.Parts != 3 || r.Delivered != 0 {
				t.Errorf("%+v", r)
			}
		})
	})
	if lane.Len() != 1 {
		t.Errorf("%d receipts", lane.Len())
	}
}
