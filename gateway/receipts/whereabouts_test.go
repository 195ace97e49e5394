package receipts

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// Which messages' ends are kept for queries.
func TestRecordsEnd(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	for name, c := range map[string]struct {
		notify     sms.Notify
		operations bool
		kind       sms.Kind
		offset     uint16
		account    string
		want       bool
	}{
		"asks for receipts":         {sms.NotifyFailure, false, sms.Submit, 0, "client", true},
		"of the option operations":  {0, true, sms.Submit, 0, "client", true},
		"neither":                   {0, false, sms.Submit, 0, "client", false},
		"a receipt":                 {sms.NotifyFailure, true, sms.Receipt, 0, "client", false},
		"not the first of its kind": {sms.NotifyFailure, true, sms.Submit, 1, "client", false},
		"nobody's":                  {sms.NotifyFailure, true, sms.Submit, 0, "", false},
	} {
		m := p.submitted(c.notify)
		m.Kind, m.Offset, m.Origin = c.kind, c.offset, p.Matcher.node.Origins.Of(c.account, "clients")
		if got := RecordsEnd(m, &keep.Ending{Operations: c.operations}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The answer to a query of a message that has left, of a part's receipt too, and by the ids of the messages that it
// was joined of.
func TestFateOf(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if _, _, ok, err := p.FateOf(5); ok || err != nil {
		t.Errorf("without a store: %v, %v", ok, err)
	}
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	const ahead = int64(3600e9)
	p.Matcher.node.Clock.SetAhead(ahead)
	var last Fate
	want := func(what string, id uint64, state sms.State, failure uint8, since int64, by string) {
		t.Helper()
		v, f, ok, err := p.FateOf(id)
		if last = f; !ok || err != nil || f.State != state || f.Error != failure || f.Since != since || string(v.By) != by {
			t.Errorf("%s: %+v by %q; %v, %v", what, f, v.By, ok, err)
		}
	}
	end := func(m *sms.Message, s events.State) {
		e := keep.Ending{State: s, Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{PeerID: []byte("msg-1"), At: p.now}}
		p.Matcher.keep.Batches.Write(func(b *store.Batch) { p.RecordEnd(b, m, &e, ahead) })
	}
	report := func(f store.Mapping, r sms.Report) { p.recordReport(p.now, &f, &r) }
	for state, told := range map[events.State]sms.State{
		events.Sent: sms.StateEnroute, events.Cut: sms.StateEnroute, events.Expired: sms.StateExpired, events.Deleted: sms.StateDeleted,
		events.Rejected: sms.StateRejected, events.Unknown: sms.StateUnknown, events.Failed: sms.StateUndeliverable,
	} {
		m := p.submitted(sms.NotifyFailure)
		end(m, state)
		by := "operator"
		if state == events.Cut {
			by = ""
		}
		want(state.String(), m.ID, told, 0, p.now+ahead, by)
		if last.Untaken != told.Final() || last.Parts != 1 {
			t.Errorf("%s: %+v", state, last)
		}
	}
	m := p.submitted(sms.NotifySuccess)
	m.SetSubmitted(&sms.Submitted{Joined: []sms.Joined{{ID: 71}, {ID: 72}}})
	end(m, events.Sent)
	f := store.MappingOf(m, ahead)
	report(f, sms.Report{State: sms.StateEnroute})
	if want("on its way", m.ID, sms.StateEnroute, 0, p.now+ahead, "operator"); p.HasTold(m.ID) {
		t.Error("a state that is not final was told")
	}
	f.ReportedBy("operator 2")
	report(f, sms.Report{ID: []byte("4a-17"), State: sms.StateUndeliverable, Network: 3, NetworkError: 255, Done: 900})
	for _, id := range []uint64{m.ID, 71, 72} {
		want("undeliverable", id, sms.StateUndeliverable, 255, f.Arrived, "operator 2") // not before it was accepted
		if v, _, _, _ := p.FateOf(id); string(v.PeerID) != "4a-17" || last.Untaken || last.Parts != 1 || string(last.Err) != "255" || len(last.Answer) > 0 {
			t.Errorf("%+v, %+v", last, v)
		}
	}
	report(f, sms.Report{State: sms.StateDelivered, NetworkError: 256})
	if want("delivered", m.ID, sms.StateDelivered, 255, p.now+ahead, "operator 2"); !p.HasTold(m.ID) || p.HasTold(m.ID+1) {
		t.Error("it is not known that a receipt was made")
	}

	// Of a long message the client knows the first part's id. Messages of one submit are none.
	f = store.Mapping{ID: 9002, Offset: 2, Part: 2, Parts: 3}
	report(f, sms.Report{State: sms.StateUndeliverable, Untaken: true, Err: []byte("E7"), Answer: []byte("\x00\x00\x00\x08ESME_RSYSERR"), Done: 901})
	if want("a long message", 9000, sms.StateUndeliverable, 0, 901, ""); !last.Untaken || last.Parts != 3 || string(last.Err) != "E7" || string(last.Answer[4:]) != "ESME_RSYSERR" {
		t.Errorf("a long message: %+v", last)
	}
	f = store.Mapping{ID: 9102, Offset: 2, Parts: 1}
	report(f, sms.Report{State: sms.StateDelivered, Done: 901})
	for _, id := range []uint64{9100, 9102} {
		if _, _, ok, err := p.FateOf(id); ok || err != nil {
			t.Errorf("one of a message that is not whole: %v, %v", ok, err)
		}
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// What was noted before there was more than a state is read as it was, and what is cut is not read.
func TestDecodeFate(t *testing.T) {
	t.Parallel()
	v := store.Mapping{ID: 7, Account: []byte("client")}
	old := append(v.Append(nil), uint8(sms.StateExpired), 5, 0, 0, 0, 0, 0, 0, 3, 0x84)
	got, f, err := decodeFate(old)
	if err != nil || got.ID != 7 || f.State != sms.StateExpired || f.Error != 5 || f.Since != 900 || f.Untaken || f.Parts != 0 || f.Err != nil || f.Answer != nil {
		t.Errorf("%+v, %+v, %v", got, f, err)
	}
	whole := (&Fate{State: sms.StateRejected, Untaken: true, Parts: 2, Err: []byte("011"), Answer: []byte("\x00\x00\x00\x0bx")}).append(v.Append(nil))
	for n := 1; n < len(whole); n++ {
		if _, f, err := decodeFate(whole[n:]); err == nil {
			t.Errorf("without the first %d of %d octets: %+v", n, len(whole), f)
		}
	}
}

// sent is a message that the operator has taken under an id, and that has left. It returns the message's id.
func (p *rig) sent(peerID string) uint64 {
	p.t.Helper()
	m := p.submitted(sms.NotifySuccess | sms.NotifyFailure)
	a := sms.Answer{PeerID: []byte(peerID), At: p.now}
	e := keep.Ending{State: events.Sent, Lane: store.Lane{Connector: "operator"}, Answer: a}
	p.Matcher.keep.Batches.Write(func(b *store.Batch) {
		p.RecordSent(b, p.operator(), m, &e, 0)
		p.RecordEnd(b, m, &e, 0)
	})
	return m.ID
}

// reports is a receipt of the operator.
func (p *rig) reports(peerID string, s sms.State) {
	p.t.Helper()
	var f Match
	m := p.receipt("46700000001", sms.Report{ID: []byte(peerID), State: s})
	if found, err := p.LookUp(p.operator(), m, &f); !found || err != nil {
		p.t.Fatalf("%s: found %v, %v", peerID, found, err)
	}
	p.Direct(p.now, m, &f)
}

// What the sandbox goes on with after a restart: the messages taken under its ids, of which no final receipt has come. One
// that is missing never has a receipt, and one too many has two.
func TestUnreported(t *testing.T) {
	t.Parallel()
	p, s := newRig(t), &failing{Store: store.NewMemory()}
	if err := p.keep(s); err != nil {
		t.Fatal(err)
	}
	p.sent("test-1")
	two, three := p.sent("test-2"), p.sent("test-3")
	p.sent("other-4")
	p.accepted("test-5") // its end is not noted
	p.reports("test-1", sms.StateDelivered)
	p.reports("test-3", sms.StateEnroute)
	for _, c := range []struct {
		from  string
		limit int
		want  []uint64
	}{{"", 10, []uint64{two, three}}, {"test-3", 10, []uint64{three}}, {"test-2", 1, []uint64{two}}, {"test-6", 10, nil}} {
		all, err := Unreported(p.Matcher.keep, "operator", "test-", []byte(c.from), c.limit)
		var ids []uint64
		for i := range all {
			if ids = append(ids, all[i].ID); string(all[i].Account) != "client" {
				t.Errorf("from %q: %+v", c.from, all[i])
			}
		}
		if !slices.Equal(ids, c.want) || err != nil {
			t.Errorf("from %q: %d, want %d; %v", c.from, ids, c.want, err)
		}
	}
	for _, kind := range []store.Kind{store.IDsOf("operator"), store.KindEnded} {
		s.kind = kind
		if _, err := Unreported(p.Matcher.keep, "operator", "test-", nil, 10); !errors.Is(err, errFailing) {
			t.Errorf("%s cannot be read: %v", kind, err)
		}
	}
	s.kind = ""
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// The list of messages contains those that wait and those that have left, the latest first; that of a store in
// memory is empty.
func TestList(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	if _, err := List(p.Matcher.keep, 0, 0, 10, nil); !errors.Is(err, ErrNoList) {
		t.Errorf("a store in memory: %v", err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	p = keepAgain(t, vfs.NewMem())
	left, waiting := p.sent("msg-1"), p.submitted(0)
	p.Matcher.keep.Batches.Write(func(b *store.Batch) { b.Put(waiting, store.Lane{Connector: "operator"}) })
	var got []string
	last, err := List(p.Matcher.keep, 0, p.now, 10, func(k *Known) error {
		got = append(got, fmt.Sprint(k.ID, k.Record != nil, k.Left.ID, k.Fate.State, string(k.Left.PeerID)))
		return nil
	})
	want := []string{fmt.Sprint(waiting.ID, true, 0, sms.NoState, ""), fmt.Sprint(left, false, left, sms.StateEnroute, "msg-1")}
	if !slices.Equal(got, want) || last != 0 || err != nil {
		t.Errorf("%q, want %q; up to %d, %v", got, want, last, err)
	}
	if _, err := List(p.Matcher.keep, 0, p.now, 10, func(*Known) error { return errFailing }); !errors.Is(err, errFailing) {
		t.Errorf("who reads it fails: %v", err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}
