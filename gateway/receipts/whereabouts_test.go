package receipts

import (
	"testing"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// Which messages' ends are kept for queries.
func TestNotesEnd(t *testing.T) {
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
		m.Kind, m.Offset, m.Origin = c.kind, c.offset, p.Origins.Of(c.account, "clients")
		if got := NotesEnd(m, &keep.Ending{Operations: c.operations}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What a query is told of a message that has left, of a part's receipt too, and by the ids of the messages that it was
// joined of.
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
	p.Clock.SetAhead(ahead)
	want := func(what string, id uint64, state sms.State, failure uint8, since int64, by string) {
		t.Helper()
		v, f, ok, err := p.FateOf(id)
		if got := (Fate{state, failure, since}); !ok || err != nil || f != got || string(v.By) != by {
			t.Errorf("%s: %+v by %q, want %+v; %v, %v", what, f, v.By, got, ok, err)
		}
	}
	end := func(m *sms.Message, s events.State) {
		e := keep.Ending{State: s, Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{PeerID: []byte("msg-1"), At: p.now}}
		p.NoteEnd(p.Committer.Begin(), m, &e, ahead)
		p.Committer.End()
	}
	report := func(f store.Mapping, r sms.Report) {
		p.noteReport(p.now, &Match{Mapping: f}, &r)
	}
	for state, told := range map[events.State]sms.State{
		events.Sent: sms.StateEnroute, events.Cut: sms.StateEnroute, events.Expired: sms.StateExpired, events.Deleted: sms.StateDeleted,
		events.Rejected: sms.StateRejected, events.Unknown: sms.StateUnknown, events.Failed: sms.StateUndeliverable,
	} {
		m := p.submitted(sms.NotifyFailure)
		end(m, state)
		by := ""
		if state == events.Sent {
			by = "operator"
		}
		want(state.String(), m.ID, told, 0, p.now+ahead, by)
	}
	m := p.submitted(sms.NotifySuccess)
	m.SetSubmitted(&sms.Submitted{Joined: []sms.Joined{{ID: 71}, {ID: 72}}})
	end(m, events.Sent)
	f := store.MappingOf(m, ahead)
	report(f, sms.Report{State: sms.StateEnroute})
	if want("on its way", m.ID, sms.StateEnroute, 0, p.now+ahead, "operator"); p.HasTold(m.ID) {
		t.Error("a state that is not final was told")
	}
	report(f, sms.Report{State: sms.StateUndeliverable, NetworkError: 255, Done: 900})
	for _, id := range []uint64{m.ID, 71, 72} {
		want("undeliverable", id, sms.StateUndeliverable, 255, 900, "")
	}
	report(f, sms.Report{State: sms.StateDelivered, NetworkError: 256})
	if want("delivered", m.ID, sms.StateDelivered, 255, p.now+ahead, ""); !p.HasTold(m.ID) || p.HasTold(m.ID+1) {
		t.Error("it is not known that a receipt was made")
	}

	// Of a long message the client knows the first part's id. Messages of one submit are none.
	f = store.Mapping{ID: 9002, Offset: 2, Part: 2, Parts: 3}
	report(f, sms.Report{State: sms.StateDelivered, Done: 901})
	want("a long message", 9000, sms.StateDelivered, 0, 901, "")
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

// The messages of the last 4096 receipts are known, and no others.
func TestReported(t *testing.T) {
	t.Parallel()
	var r reported
	r.add(1)
	r.add(2)
	r.add(1)
	most := len(r.ring)
	for n := range most {
		if r.has(1) != (n < most) || r.has(2) != (n < most-1) {
			t.Fatalf("after %d more: %v, %v", n, r.has(1), r.has(2))
		}
		r.add(100 + uint64(n))
	}
	if r.has(1) || !r.has(100) || len(r.ids) != most {
		t.Errorf("%d are known of %d", len(r.ids), most)
	}
}
