package receipts

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/connector/queue"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// Which receipts the gateway makes of messages that no SMSC has accepted.
func TestOwnReceipt(t *testing.T) {
	t.Parallel()
	const ends = sms.NotifySuccess | sms.NotifyFailure
	for _, c := range []struct {
		end     events.State
		status  uint32
		notify  sms.Notify
		account string
		kind    sms.Kind
		want    sms.State // NoState: it makes none
		err     string
	}{
		{events.Sent, 0, ends, "client", sms.Submit, sms.NoState, ""},
		{events.Failed, 69, ends, "client", sms.Submit, sms.StateUndeliverable, "069"},
		{events.Failed, 999, ends, "client", sms.Submit, sms.StateUndeliverable, "999"},
		{events.Failed, 1000, ends, "client", sms.Submit, sms.StateUndeliverable, ""}, // there is room for three digits
		{events.Expired, 0, sms.NotifyFailure, "client", sms.Submit, sms.StateExpired, ""},
		{events.Deleted, 0, ends, "client", sms.Submit, sms.StateDeleted, ""},
		{events.Rejected, 0, ends, "client", sms.Submit, sms.StateRejected, ""},
		{events.Unknown, 0, ends, "client", sms.Submit, sms.StateUnknown, ""},
		{events.Expired, 0, sms.NotifySuccess | sms.NotifyProgress, "client", sms.Submit, sms.NoState, ""},
		{events.Expired, 0, ends, "client", sms.Receipt, sms.NoState, ""},
		{events.Expired, 0, ends, "", sms.MO, sms.NoState, ""},
		{events.Expired, 0, ends, "gone", sms.Submit, sms.NoState, ""},
	} {
		p := newRig(t)
		p.Matcher.node.Clock.SetAhead(1000)
		m := p.submitted(c.notify)
		m.Kind, m.Origin = c.kind, p.Matcher.node.Origins.Of(c.account, "clients")
		made := p.OwnReceipt(m, &keep.Ending{State: c.end, Answer: sms.Answer{Status: c.status, At: p.now + 5}})
		if made.IsAny() != (c.want != sms.NoState) || p.Counts.Homeless.Load() > 0 != (c.account == "gone") {
			t.Errorf("%+v: made one: %v, %d homeless", c, made.IsAny(), p.Counts.Homeless.Load())
		}
		if !made.IsAny() {
			continue
		}
		own := made.message
		r, ok := own.Report()
		if !ok || own.Kind != sms.Receipt || r.Known != m.ID || r.State != c.want || string(r.Err) != c.err || r.Submitted != p.now+1000 || r.Done != p.now+1005 {
			t.Errorf("%+v: %+v", c, r)
		}
		if own.ID == m.ID || own.ID == 0 || string(own.Source().Addr) != "46700000001" || string(own.Dest().Addr) != "1234" || made.share.Lane.Account != "client" {
			t.Errorf("%+v: message %d from %s to %s", c, own.ID, own.Source().Addr, own.Dest().Addr)
		}
		p.SendMade(nil, &made)
		if n := p.Counts.Own.Load(); n != 1 || len(p.made()) != 1 {
			t.Errorf("%+v: %d are counted, %d are sent", c, n, len(p.made()))
		}
		if ends := &made.share.Lane.Ends; ends.Told.Load() != 1 || ends.Reached.Load() != 0 {
			t.Errorf("%+v: %d ends, %d delivered", c, ends.Told.Load(), ends.Reached.Load())
		}
	}
}

// The event that an SMSC has taken a message leaves before the receipt that came with the answer, also if both had to
// wait until they were due.
func TestTakenComesFirst(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	m := p.submitted(sms.NotifySent | sms.NotifySuccess)
	m.SetNative(sms.WithContext, (&sms.Context{Reference: "order 7"}).Append(nil))
	made := p.OwnReceipt(m, &keep.Ending{State: events.Sent, Answer: sms.Answer{At: p.now, PeerID: []byte("1")}})
	if !made.IsAny() {
		t.Fatal("none is made")
	}
	taken := made.message
	told, _ := taken.Report()
	if told.Known != m.ID || told.State != sms.StateEnroute || !told.Taken || told.Untaken || string(told.ID) != "1" ||
		len(told.Context) == 0 || string(taken.Dest().Addr) != "1234" {
		t.Errorf("the client is told %+v at %s", told, taken.Dest().Addr)
	}
	receipt := p.receipt("46700000001", sms.Report{State: sms.StateDelivered})
	_, f := partOf(p, 0, 1, sms.StateDelivered, "")
	r, _ := receipt.Report()
	receipt.ID = taken.ID - 1
	p.address(p.now-int64(50*time.Millisecond), receipt, &f.Mapping, &r, m.ID) // what the answer brought was settled later
	var q queue.Queue
	q.Init()
	q.Push(receipt, p.now)
	q.Push(taken, p.now)
	if first, _ := q.Pop(p.now + int64(time.Hour)); first != taken {
		t.Error("the receipt leaves first")
	}
}

// A message that was joined has a receipt for each of the client's messages that asks for one, with an id of its own.
func TestOwnReceiptsOfJoined(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	m := p.submitted(sms.NotifyFailure)
	m.SetSubmitted(&sms.Submitted{Joined: []sms.Joined{{ID: 71, Notify: sms.NotifyFailure}, {ID: 72, Notify: sms.NotifySuccess}, {ID: 73, Notify: sms.NotifyFailure}}})
	made := p.OwnReceipt(m, &keep.Ending{State: events.Expired})
	p.SendMade(nil, &made)
	ids, known := map[uint64]bool{0: true, m.ID: true}, map[uint64]bool{}
	for _, o := range p.made() {
		r, _ := o.Message.Report()
		if ids[o.Message.ID] || r.State != sms.StateExpired {
			t.Errorf("message %d about %d: %s", o.Message.ID, r.Known, r.State)
		}
		ids[o.Message.ID], known[r.Known] = true, true
	}
	if len(known) != 2 || !known[71] || !known[73] || p.Counts.Own.Load() != 2 {
		t.Errorf("receipts of %v, %d are counted", known, p.Counts.Own.Load())
	}
}

// The server of a client hears that an SMSC has taken a message when the client has had the answer to its request.
func TestOwnReceiptTaken(t *testing.T) {
	t.Parallel()
	ms := int64(time.Millisecond)
	for ago, want := range map[int64]int64{0: 200, 150: 50, 200: 0, 5000: 0} { // of the message's arrival; after the answer
		p := newRig(t)
		m := p.submitted(sms.NotifySent)
		m.Arrived = p.now - ago*ms
		m.SetNative(sms.WithContext, (&sms.Context{Reference: "parcel 7"}).Append(nil))
		made := p.OwnReceipt(m, &keep.Ending{State: events.Sent, Answer: sms.Answer{At: p.now}})
		if !made.IsAny() {
			t.Fatal("nothing is made")
		}
		if got := max(0, made.message.NotBefore-p.now) / ms; got != want {
			t.Errorf("%d ms after its arrival: told %d ms later, want %d", ago, got, want)
		}
	}
}

// A receipt that the gateway has made is its client's when it is stored, if the store is durable.
func TestOwnReceiptIsStoredFirst(t *testing.T) {
	t.Parallel()
	disk, err := store.Open("data", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []store.Store{store.NewMemory(), disk} {
		p := newRig(t)
		if err := p.keep(s); err != nil {
			t.Fatal(err)
		}
		made := p.OwnReceipt(p.submitted(sms.NotifyFailure), &keep.Ending{State: events.Expired})
		var want store.Position
		p.Matcher.keep.Batches.Write(func(b *store.Batch) {
			if p.SendMade(b, &made); s.Durable() {
				want = b.Position()
			}
		})
		if all := p.made(); len(all) != 1 || all[0].After != want {
			t.Errorf("%d are made, the first waits for position %d, want %d", len(all), all[0].After, want)
		}
		if err := p.Matcher.keep.Batches.Sync(); err != nil {
			t.Fatal(err)
		}
		var e store.Entry
		if ok, err := s.Get(made.message.ID, &e); ok != s.Durable() || err != nil {
			t.Errorf("it is stored: %v, %v", ok, err)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}
