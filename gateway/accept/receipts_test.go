package accept

import (
	"errors"
	"slices"
	"testing"

	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/receipts"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// A receipt is given to the client of its message, wherever that was found; ends here; is kept as an orphan; or is refused for
// now, and does not count then.
func TestReceipts(t *testing.T) {
	t.Parallel()
	fault := errors.New("cannot read")
	then := func(v ...receipts.Verdict) []receipts.Verdict { return v }
	for _, c := range []struct {
		why     string
		matcher matcher
		full    bool
		works   int
		code    sms.Code
		queued  int
		loaded  int
	}{
		{"among the latest", matcher{recent: true, verdicts: then(passOn)}, false, 0, sms.OK, 1, 0},
		{"in the store", matcher{known: true, verdicts: then(passOn)}, false, 1, sms.OK, 1, 0},
		{"in the store, with parts", matcher{known: true, parts: 2, verdicts: then(passOn)}, false, 1, sms.OK, 1, 1},
		{"in the store, with one", matcher{known: true, parts: 1, verdicts: then(passOn)}, false, 1, sms.OK, 1, 0},
		{"outcomes of parts are in the store", matcher{recent: true, parts: 2, verdicts: then(receipts.Unread, passOn)},
			false, 1, sms.OK, 1, 1},
		{"the store cannot be read", matcher{fault: fault}, false, 1, sms.SystemError, 0, 0},
		{"outcomes cannot be read", matcher{recent: true, parts: 2, fault: fault, verdicts: then(receipts.Unread)},
			false, 1, sms.SystemError, 0, 1},
		{"nobody has asked for it", matcher{recent: true, verdicts: then(receipts.Dropped)}, false, 0, sms.OK, 0, 0},
		{"it is noted", matcher{recent: true, verdicts: then(receipts.Recorded)}, false, 1, sms.OK, 0, 0},
		{"no room", matcher{recent: true, verdicts: then(passOn)}, true, 0, sms.QueueFull, 0, 0},
	} {
		r := newRig(t, false)
		c.matcher.share, c.matcher.smsc = r.m.share, r.m.smsc
		*r.m = c.matcher
		if c.full {
			roomtest.Occupy(r.m.share, 1_000_000)
		}
		r.receipt("r")
		for range c.works {
			if _, is := r.x.answered("r"); is || len(r.x.works) != 1 {
				t.Fatalf("%s: %d works", c.why, len(r.x.works))
			}
			r.x.work()
		}
		counted := int64(0)
		if c.code == sms.OK {
			counted = 1
		}
		o, is := r.x.answered("r")
		asExpected := is && o.Code == c.code && len(r.x.queued) == c.queued && r.m.loaded == c.loaded
		if !asExpected || r.counted() != counted || r.Searches() != 0 {
			t.Errorf("%s: answered %t, %+v, %d queued, %d read, %d count, %d searches",
				c.why, is, o, len(r.x.queued), r.m.loaded, r.counted(), r.Searches())
		}
		if !slices.Equal(r.x.ids, []string{"7"}) {
			t.Errorf("%s: it has the ids %q in turn", c.why, r.x.ids)
		}
	}
}

// Receipts of a message stay in their order while it is looked for, and are orphans in that order if it is not found. Those of a
// sender that is gone are dropped.
func TestReceiptsInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	for _, by := range []string{"first", "second", "third", "fourth"} {
		r.receipt(by)
	}
	if len(r.x.works) != 1 || r.x.held != 3 || r.Searches() != 1 {
		t.Fatalf("%d works, %d are held", len(r.x.works), r.x.held)
	}
	r.Forget(func(by string) bool {
		if by == "third" {
			r.x.held--
		}
		return by == "third"
	})
	r.x.work()
	var order []string
	for len(r.x.stores) > 0 {
		by := r.x.stores[0].By
		order = append(order, by)
		r.end()
		r.want(by, sms.OK, "")
	}
	if !r.m.smsc.Missed.Load() {
		t.Error("that the SMSC sends receipts of other messages is not noted")
	}
	if !slices.Equal(order, []string{"first", "second", "fourth"}) || r.x.held != 0 || r.Searches() != 0 || len(r.x.queued) != 0 {
		t.Errorf("%q are stored, %d held, %d searches", order, r.x.held, r.Searches())
	}
	if n := r.counts.Unmatched.Load(); n != 3 {
		t.Errorf("%d count as unmatched", n)
	}
	r.x.gone = true
	r.receipt("gone")
	r.x.work()
	if _, is := r.x.answered("gone"); is || r.Searches() != 0 {
		t.Error("who is gone is answered, or searched for")
	}
}

// When the message of a receipt was found, the receipts behind it are looked up in turn, and wait for each other. A
// receipt of another message waits for none of them, and none uses what was found for another.
func TestReceiptsOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	r.m.known, r.m.latest, r.m.verdicts = true, "8", make([]receipts.Verdict, 6)
	r.receiptOf("8", "before")
	for _, by := range []string{"first", "second", "third"} {
		r.receipt(by)
	}
	var order []string
	next := func(want int) {
		t.Helper()
		if r.Searches() != want || len(r.x.works) != want {
			t.Errorf("%d searches, %d works, want %d", r.Searches(), len(r.x.works), want)
		}
		for _, by := range []string{"first", "second", "third"} {
			if _, is := r.x.answered(by); is && !slices.Contains(order, by) {
				order = append(order, by)
			}
		}
		if len(r.x.works) > 0 {
			r.x.work()
		}
	}
	r.x.then = func() { r.receiptOf("8", "other") } // between the search and what follows from it
	next(1)
	r.x.then = nil
	r.want("other", sms.OK, "")
	next(1)
	next(1)
	next(0)
	if want := []string{"first", "second", "third"}; !slices.Equal(order, want) || r.x.held != 0 {
		t.Errorf("%q, %d are held", order, r.x.held)
	}
	if want := []string{"8", "8", "7", "7", "7"}; !slices.Equal(r.m.read, want) {
		t.Errorf("found are messages of %q, want %q", r.m.read, want)
	}
}

// A receipt that comes as a submission is one, too. One that nobody can read is an orphan immediately, and is stored as such.
func TestReceiptSubmitted(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	r.m.recent, r.m.verdicts = true, make([]receipts.Verdict, 1)
	from := &connector.Source{Connector: r.operator, Origin: r.origin}
	s := &intake.Submission{Way: intake.Reported, From: from, Room: r.Room(), Change: func(_ int64, m *sms.Message) sms.Code {
		m.SetReport(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, &sms.Report{ID: []byte("7")})
		return sms.OK
	}}
	r.Submit(1, "receipt", s)
	if r.want("receipt", sms.OK, ""); len(r.x.ids) != 1 || len(r.x.queued) != 1 {
		t.Errorf("%q in turn, %d are queued", r.x.ids, len(r.x.queued))
	}
	m := r.node.Messages.Get()
	m.Origin, m.Kind = r.origin, sms.Receipt
	m.Set(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, []byte("no receipt"))
	r.Receipt(1, "text", from, m)
	if len(r.x.works) != 0 || len(r.x.stores) != 1 || r.x.stores[0].Aside() != store.Orphan {
		t.Fatalf("%d works, %d are stored", len(r.x.works), len(r.x.stores))
	}
	r.end()
	if r.want("text", sms.OK, ""); r.counts.Unmatched.Load() != 1 || r.counts.Matched.Load() != 1 {
		t.Errorf("%d count as unmatched", r.counts.Unmatched.Load())
	}
}

// The receipts of the messages that one was joined of are stored, counted and queued with its receipt, or undone with it.
func TestReceiptsTogether(t *testing.T) {
	t.Parallel()
	r := newRig(t, true)
	for _, failed := range []bool{false, true} {
		*r.m = matcher{recent: true, verdicts: make([]receipts.Verdict, 1), share: r.m.share, smsc: r.m.smsc,
			more: []*sms.Message{r.report("7a"), r.report("7b")}}
		r.receipt("r")
		if len(r.x.stores) != 1 || len(r.x.stores[0].More) != 2 || r.m.share.Queued() < 3 {
			t.Fatalf("%d are stored, %d places are taken", len(r.x.stores), r.m.share.Queued())
		}
		r.Ended(1, r.x.stores[0], map[bool]sms.Code{true: sms.SystemError}[failed])
		r.x.stores = nil
	}
	r.want("r", sms.SystemError, "")
	accepted, places := r.operator.Stats.Accepted.Load(), r.m.share.Queued()
	if accepted != 3 || places != 3 || len(r.x.queued) != 3 {
		t.Errorf("%d count, %d places are taken, %d are queued", accepted, places, len(r.x.queued))
	}
}

// A receipt that goes no further is refused for now if what it says cannot be stored, and does not count.
func TestReceiptNotRecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t, true)
	r.keep.Batches = failing{r.keep.Batches}
	r.m.recent, r.m.verdicts = true, []receipts.Verdict{receipts.Recorded}
	r.receipt("r")
	r.x.work()
	if r.want("r", sms.Undecided, ""); r.counted() != 0 {
		t.Errorf("%d count", r.counted())
	}
}

// A failing journal stores nothing more.
type failing struct{ store.Log }

func (failing) SyncSoon() error { return errors.New("no space left") }
