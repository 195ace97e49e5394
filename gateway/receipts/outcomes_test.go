package receipts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// A receipt that says ACCEPTD of a long message is followed by the end of that, also after a restart, whatever the part
// said that led to it: an SMSC's DELIVRD, or that its outcome is not known.
func TestEndAfterAcceptedParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		last func(p *rig) // leads to ACCEPTD
		want sms.State
	}{
		"delivered": {func(p *rig) {
			if v, told := p.part(t, 1, sms.StateDelivered); v != passOn || told != sms.StateAccepted {
				t.Errorf("the last part: verdict %d, %s", v, told)
			}
		}, sms.StateDelivered},
		"lost": {func(p *rig) {
			m := p.submitted(sms.NotifyFailure | sms.NotifySuccess)
			m.ID, m.Offset, m.Part, m.Parts = 5001, 1, 1, 2
			p.forget(m, keep.Ending{State: events.Unknown, Answer: sms.Answer{Code: sms.Lost, At: p.now}})
		}, sms.StateUnknown},
	} {
		fs := vfs.NewMem()
		p := keepAgain(t, fs)
		p.part(t, 0, sms.StateAccepted)
		c.last(p)
		p.madeReceipts(t)
		p = keepAgain(t, fs)
		if v, told := p.part(t, 0, sms.StateDelivered); v != passOn || told != c.want {
			t.Errorf("%s: the first part after a restart: verdict %d, %s", name, v, told)
		}
		p.madeReceipts(t)
	}
}

// A given is a receipt of a part.
type given struct {
	part  uint8
	state sms.State
}

// The receipt of a long message has the id and the text of the first part, or those of the one that came first while the
// first part has none, the first of the times at which parts were submitted, and the last at which they were done.
func TestReportOfParts(t *testing.T) {
	t.Parallel()
	const delivered, failed = sms.StateDelivered, sms.StateUndeliverable
	for name, c := range map[string]struct {
		receipts []given // of these the last leads to the client's
		want     string
	}{
		"the first is last":     {[]given{{2, delivered}, {1, delivered}, {0, delivered}}, "a 0 1000 2002"},
		"the first is first":    {[]given{{0, delivered}, {2, failed}}, "a 0 1000 2002"},
		"one alone":             {[]given{{1, failed}}, "b 1 1001 2001"},
		"the first has none":    {[]given{{2, delivered}, {1, failed}}, "c 2 1001 2002"},
		"it comes again":        {[]given{{0, delivered}, {0, failed}, {1, failed}}, "a 0 1000 2001"},
		"ACCEPTD behind an end": {[]given{{0, delivered}, {0, sms.StateAccepted}, {1, failed}}, "a 0 1000 2001"},
	} {
		var all []step
		for _, g := range c.receipts {
			all = append(all, step{g.part, g.state, "", Recorded, 0})
		}
		last := &all[len(all)-1]
		last.want, last.told = passOn, last.state
		r := steps(t, newRig(t), all...)
		if got := fmt.Sprintf("%s %d %d %d", r.ID, r.Text[1], r.Submitted, r.Done); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	of := &joint{by: noPart}
	for part, submitted := range []int64{0, 7, 0, 5, 6} { // 0: that receipt does not say it
		of.add(uint8(part), &sms.Report{State: delivered, Submitted: submitted})
	}
	if of.report.Submitted != 5 {
		t.Errorf("submitted at %d", of.report.Submitted)
	}
}

// Of a long message of an earlier run, what an SMSC takes of it now does not hide what is stored of its parts.
func TestTakenAfterRestart(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	p := keepAgain(t, fs)
	p.part(t, 1, sms.StateDelivered)
	p.madeReceipts(t)
	p = keepAgain(t, fs)
	m := p.submitted(sms.NotifySent)
	m.ID, m.Parts = 5000, 2
	if made := p.OwnReceipt(m, &keep.Ending{State: events.Sent, Answer: sms.Answer{At: p.now}}); !made.IsAny() {
		t.Error("the client is not informed that it was sent")
	}
	if v, told := p.part(t, 0, sms.StateDelivered); v != passOn || told != sms.StateDelivered {
		t.Errorf("the first part: verdict %d, %s", v, told)
	}
	p.madeReceipts(t)
}

// A client hears once that its long message was sent: when its first part was.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	for part, want := range []bool{true, false, false} {
		p := newRig(t)
		made := p.OwnReceipt(p.longPart(uint8(part)), &keep.Ending{State: events.Sent, Answer: sms.Answer{At: p.now}})
		if made.IsAny() != want {
			t.Errorf("of part %d one is made: %v", part, made.IsAny())
		}
	}
}

// A reluctant is a store that cannot read notes of a kind after some readings.
type reluctant struct {
	failing
	readings int
}

func (s *reluctant) Lookup(kind store.Kind, key []byte) ([]byte, bool, error) {
	if kind == s.kind && s.readings > 0 {
		s.readings--
		return s.Store.Lookup(kind, key)
	}
	return s.failing.Lookup(kind, key)
}

// Outcomes of a long message that were read in part do not count: they are all read when that is possible.
func TestOutcomesReadInPart(t *testing.T) {
	t.Parallel()
	p, s := newRig(t), &reluctant{failing: failing{Store: store.NewMemory()}}
	if err := p.keep(s); err != nil {
		t.Fatal(err)
	}
	p.part(t, 1, sms.StateDelivered)
	p.Parts.by, p.Parts.order, p.Matcher.keep.LastStored = nil, nil, 6000
	_, f := partOf(p, 0, 2, sms.StateDelivered, "")
	for n := range 3 {
		s.kind, s.readings = store.KindPart, n
		if err := p.Parts.Load(f); !errors.Is(err, errFailing) || len(p.Parts.by) != 0 {
			t.Errorf("after %d readings: %v, %d are known", n, err, len(p.Parts.by))
		}
	}
	s.kind = ""
	if v, told := p.part(t, 0, sms.StateDelivered); v != passOn || told != sms.StateDelivered {
		t.Errorf("the first part: verdict %d, %s", v, told)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// A protocol is a driver that has names of statuses.
type protocol struct{ protocols.Driver }

func (protocol) StatusName(status uint32) string { return fmt.Sprint("STATUS_", status) }

// Why a message has ended, for its client's server and for queries: the SMSC's status by its name, or the gateway's reason.
func TestAnswerOfEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		peer   protocols.Driver
		status uint32
		want   string
	}{
		"an SMSC's":         {protocol{}, 11, "\x00\x00\x00\x0bSTATUS_11"},
		"the gateway's":     {protocol{}, 0, "\x00\x00\x00\x00" + sms.Rejected.String()},
		"of one that left":  {nil, 11, "\x00\x00\x00\x0b" + sms.Rejected.String()},
		"without a context": {protocol{}, 11, ""},
	} {
		p := newRig(t)
		if err := p.keep(store.NewMemory()); err != nil {
			t.Fatal(err)
		}
		m := p.submitted(sms.NotifyFailure)
		if c.want != "" {
			m.SetNative(sms.WithContext, (&sms.Context{Reference: "order 7"}).Append(nil))
		}
		a := sms.Answer{Code: sms.Rejected, Status: c.status, At: p.now}
		e := &keep.Ending{State: events.Rejected, Peer: c.peer, Answer: a}
		made := p.OwnReceipt(m, e)
		if r, _ := made.message.Report(); string(r.Answer) != c.want {
			t.Errorf("%s: the receipt has %q", name, r.Answer)
		}
		p.Matcher.keep.Batches.Write(func(b *store.Batch) { p.RecordEnd(b, m, e, 0) })
		_, f, ok, err := p.FateOf(m.ID)
		if !ok || err != nil || string(f.Answer) != c.want || string(f.Err) != string(errOf(c.status)) {
			t.Errorf("%s: a query has %+v; %v, %v", name, f, ok, err)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// What was noted of a message and cannot be read is an error, which names the message: no query finds out nothing.
func TestDamagedFate(t *testing.T) {
	t.Parallel()
	p := keepAgain(t, vfs.NewMem())
	id := p.sent("msg-1")
	key := []byte{0, 0, 0, 0, 0, 0, 0, byte(id)}
	today := store.DayOf(p.Matcher.node.Clock.Wall(p.now))
	p.Matcher.keep.Batches.Write(func(b *store.Batch) { b.Note(store.KindEnded, key, []byte("cut"), today) })
	if _, _, _, err := p.FateOf(id); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), sms.FormatID(id)) {
		t.Errorf("a query: %v", err)
	}
	_, err := List(p.Matcher.keep, 0, p.now, 10, func(*Known) error { return nil })
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), sms.FormatID(id)) {
		t.Errorf("the list: %v", err)
	}
	if all, err := Unreported(p.Matcher.keep, "operator", "", nil, 10); !errors.Is(err, store.ErrDamaged) || len(all) != 0 {
		t.Errorf("those without a receipt: %d, %v", len(all), err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// What becomes of a receipt, and what it says for its client: only what is stored of it is waited for.
func TestDirect(t *testing.T) {
	t.Parallel()
	const accepted, delivered, failed = sms.StateAccepted, sms.StateDelivered, sms.StateUndeliverable
	for name, c := range map[string]struct {
		notify   sms.Notify
		parts    uint8
		receipts []given // of these the last
		want     Verdict
		says     sms.State
		unwanted int64
	}{
		"wanted":                  {sms.NotifySuccess, 1, []given{{0, delivered}}, passOn, delivered, 0},
		"not wanted":              {sms.NotifyFailure, 1, []given{{0, delivered}}, Recorded, delivered, 1},
		"not wanted, and no end":  {sms.NotifyFailure, 1, []given{{0, accepted}}, Dropped, accepted, 1},
		"on its way, not wanted":  {sms.NotifyFailure, 1, []given{{0, sms.StateEnroute}}, Dropped, sms.StateEnroute, 1},
		"on its way":              {sms.NotifyProgress, 1, []given{{0, sms.StateEnroute}}, passOn, sms.StateEnroute, 0},
		"of one part of two":      {sms.NotifySuccess, 2, []given{{0, delivered}}, Recorded, sms.NoState, 0},
		"of both":                 {sms.NotifySuccess, 2, []given{{1, delivered}, {0, delivered}}, passOn, delivered, 0},
		"of both, not wanted":     {sms.NotifyFailure, 2, []given{{1, delivered}, {0, delivered}}, Recorded, delivered, 1},
		"of both, no end":         {sms.NotifyFailure, 2, []given{{1, accepted}, {0, accepted}}, Recorded, accepted, 1},
		"of one that fails":       {sms.NotifyFailure, 2, []given{{1, failed}}, passOn, failed, 0},
		"on its way, of two":      {sms.NotifyFailure, 2, []given{{0, sms.StateEnroute}}, Dropped, sms.StateEnroute, 1},
		"behind one that failed":  {sms.NotifyFailure, 2, []given{{1, failed}, {0, failed}}, Recorded, sms.NoState, 0},
		"nothing was asked for":   {0, 1, []given{{0, delivered}}, Dropped, sms.NoState, 1},
		"nothing, of one of two":  {0, 2, []given{{1, delivered}}, Dropped, sms.NoState, 1},
		"one that is not a state": {sms.NotifyFailure, 1, []given{{0, sms.NoState}}, passOn, sms.NoState, 0},
	} {
		p := newRig(t)
		var v Verdict
		var f *Match
		for _, g := range c.receipts {
			var m *sms.Message
			m, f = partOf(p, g.part, c.parts, g.state, "")
			f.Mapping.Notify = c.notify
			_, v = p.Direct(p.now, m, f)
		}
		if v != c.want || f.Says != c.says || p.Counts.Unwanted.Load() != c.unwanted {
			t.Errorf("%s: verdict %d, says %s, %d are not wanted", name, v, f.Says, p.Counts.Unwanted.Load())
		}
	}
}

// A message is named by the SMSCs' ids that begin so, and by no others.
func TestUnreportedOfOthers(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	if err := p.keep(store.NewMemory()); err != nil {
		t.Fatal(err)
	}
	one, two := p.sent("test-1"), p.sent("Test-2")
	all, err := Unreported(p.Matcher.keep, "operator", "", nil, 10)
	var ids []uint64
	for i := range all {
		ids = append(ids, all[i].ID)
	}
	if slices.Sort(ids); !slices.Equal(ids, []uint64{one, two}) || err != nil {
		t.Errorf("%d, want %d; %v", ids, []uint64{one, two}, err)
	}
	if all, err := Unreported(p.Matcher.keep, "other", "", nil, 10); len(all) != 0 || err != nil {
		t.Errorf("of another SMSC: %d, %v", len(all), err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}
