package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pmg/connector"
	"pmg/protocols/testsms"
	"pmg/sms"
	"pmg/store"
)

const both = sms.NotifySuccess | sms.NotifyFailure

// The last digit of a number decides what becomes of a message, and when the client hears of it; what mobiles show says the same.
func TestEndings(t *testing.T) {
	t.Parallel()
	const delay = 2 * time.Second
	for _, c := range []struct {
		to     string
		notify sms.Notify
		state  sms.State // of the receipt; NoState: none comes
		err    string
		after  int // receipt_delays
		fate   string
		shows  bool // the mobile shows it
	}{
		{"46700000000", both, sms.StateDelivered, "", 1, "delivered", true},
		{"46700000001", sms.NotifySuccess, sms.StateDelivered, "", 1, "delivered", true},
		{"46700000001", sms.NotifyFailure, sms.NoState, "", 0, "delivered", true},
		{"46700000002", both, sms.StateUndeliverable, "027", 1, "undeliverable", false},
		{"46700000002", sms.NotifySuccess, sms.NoState, "", 0, "undeliverable", false},
		{"46700000003", sms.NotifyFailure, sms.StateExpired, "", 1, "expired", false},
		{"46700000004", both, sms.StateRejected, "", 0, "refused by the SMSC", false}, // the gateway makes the receipt
		{"46700000006", both, sms.NoState, "", 0, "no receipt", true},
		{"46700000007", both, sms.StateDelivered, "", 15, "delivered", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil, "receipt_delay: 2s")
			defer r.close()
			r.submit(c.to, "hi", c.notify)
			if n := len(r.shown); n != 1 || r.shown[0].Fate != c.fate || r.shown[0].Arrives != c.shows || r.shown[0].Mine {
				t.Fatalf("…%s: %+v is shown", c.to, r.shown)
			}
			if one := r.shown[0]; one.From != "1234" || one.To != c.to || one.Text != "hi" || one.At != r.g.Node.Clock.WallNow() || one.ID == 0 {
				t.Errorf("…%s: %+v is shown", c.to, one)
			}
			if r.pass(time.Duration(c.after)*delay - 1); c.after > 0 && len(r.got) != 0 {
				t.Errorf("…%s: the receipt comes early", c.to)
			}
			r.pass(1)
			want := 1
			if c.state == sms.NoState {
				want = 0
			}
			if c.after > 0 && len(r.got) != want {
				t.Fatalf("…%s: %d receipts", c.to, len(r.got))
			}
			if r.pass(20 * delay); len(r.got) != want {
				t.Errorf("…%s: %d receipts in the end", c.to, len(r.got))
			}
			for _, m := range r.got {
				report, _ := m.Report()
				if report.State != c.state || c.err != "" && string(report.Err) != c.err || string(m.Source().Addr) != c.to {
					t.Errorf("…%s: %+v of %s", c.to, report, m.Source().Addr)
				}
			}
		})
	}
}

// A number that ends with 5 throttles the first attempt alone, and one with 8 replies what it has got, cut to 60 characters; nobody
// can reply to a name.
func TestThrottledAndReplies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, "receipt_delay: 1s")
		r.submit("46700000005", "hi", both)
		if len(r.shown) != 0 {
			t.Errorf("%+v is shown of what comes again", r.shown)
		}
		if r.pass(time.Second + 100*time.Millisecond); len(r.shown) != 1 || len(r.got) != 1 {
			t.Errorf("shown %+v, %d receipts", r.shown, len(r.got))
		}
		r.submit("46700000008", strings.Repeat("å", 70), 0)
		if r.pass(time.Second); len(r.got) != 2 || len(r.shown) != 3 {
			t.Fatalf("%d came, %+v is shown", len(r.got), r.shown)
		}
		want := "Re: " + strings.Repeat("å", 56)
		m, one := r.got[1], r.shown[2]
		if m.Kind != sms.MO || string(m.Source().Addr) != "46700000008" || string(m.Dest().Addr) != "1234" || len(m.Text()) != 60 {
			t.Errorf("the client gets %q of %s to %s", m.Text(), m.Source().Addr, m.Dest().Addr)
		}
		if one.Text != want || !one.Mine || !one.Arrives || one.From != "46700000008" || one.To != "1234" {
			t.Errorf("%+v is shown", one)
		}
		if a := r.smsc.FromMobile("+46700000001", "1234", "hello"); a.Code != sms.OK {
			t.Errorf("%+v", a)
		}
		if r.pass(0); len(r.got) != 3 || string(r.got[2].Text()) != "hello" || string(r.got[2].Source().Addr) != "46700000001" {
			t.Errorf("%+v", r.got)
		}
		r.submit("46700000004", "no", 0)
		r.submit("46700000002", "no", both)
		r.pass(time.Second)
		sent, stats := r.operator.Stats.Sent.Load(), r.operator.Stats
		for command, want := range map[int][2]int64{testsms.Submit: {0, 5}, testsms.SubmitAnswer: {5, 0}, testsms.Deliver: {4, 0}, testsms.DeliverAnswer: {0, 4}} {
			if in, out := stats.PDUsIn[command].Load(), stats.PDUsOut[command].Load(); in != want[0] || out != want[1] {
				t.Errorf("PDUs of command %d: %d came and %d left, want %v", command, in, out, want)
			}
		}
		refused := connector.StatusKey{Command: testsms.SubmitAnswer, Received: true, Status: uint32(sms.Rejected)}
		throttled := connector.StatusKey{Command: testsms.SubmitAnswer, Received: true, Status: uint32(sms.Throttled)}
		if all := stats.Statuses(); len(all) != 2 || all[refused] != 1 || all[throttled] != 1 {
			t.Errorf("the statuses are %v", all)
		}
		r.close()
		if sent != 3 {
			t.Errorf("%d messages are counted as sent", sent)
		}
		log := r.lines()
		for words, n := range map[string]int{
			"test_submit seq=1 from=1234 to=46700000005": 1, "test_submit_resp seq=1 status=0xb(TEST_THROTTLED)": 1, "text=*2": 4,
			"test_submit_resp seq=2 status=0 message_id=test-": 1, "state=delivered": 1, "test_deliver_resp": 4,
			"message_id=test-00": 5, "< test_submit_resp": 5, "> test_submit ": 5, "< test_deliver seq=": 4, "> test_deliver_resp seq=": 4,
			"state=undeliverable error=027": 1, "seq=8 from": 1, "test_submit_resp seq=7 status=0xe(TEST_REJECTED)": 1,
			"from=46700000008 to=1234": 1, "text=*5": 1, "to=46700000008 text=*140": 1, "to=1234 text=*116": 1,
		} {
			if got := strings.Count(log, words); got != n {
				t.Errorf("%q is %d times, want %d, in the log\n%s", words, got, n, log)
			}
		}
	})
}

// An SMSC plays scripts: receipts come late, twice or out of order, nothing is taken for now, or there is no session.
func TestScripts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, "receipt_delay: 1s")
		defer r.close()
		passes := func(d time.Duration, want int, what string) {
			t.Helper()
			if r.pass(d); len(r.got) != want {
				t.Errorf("%s: %d receipts, want %d", what, len(r.got), want)
			}
		}
		play := func(s Script) {
			r.smsc.Play(s)
			r.pass(0)
		}
		play(Late)
		r.submit("46700000001", "late", both)
		passes(15*time.Second-1, 0, "late, early")
		passes(1, 1, "late")
		play(Twice)
		r.submit("46700000001", "twice", both)
		passes(time.Second, 2, "once")
		r.pass(time.Second)
		if got := r.operator.Stats.PDUsIn[testsms.Deliver].Load(); got != 3 {
			t.Errorf("%d deliveries, want 3", got)
		}
		play(Mixed)
		before := len(r.got)
		r.submit("46700000001", "first", both)
		r.submit("46700000009", "second", both)
		passes(time.Second, before+1, "out of order")
		if last := r.got[before]; string(last.Source().Addr) != "46700000009" {
			t.Errorf("the receipt of %s comes first", last.Source().Addr)
		}
		passes(2*time.Second, before+2, "out of order, both")
		play(Throttled)
		r.submit("46700000001", "throttled", both)
		passes(time.Minute, before+2, "throttled")
		play(Usual)
		passes(2*time.Second, before+3, "no longer throttled")
		play(Closed)
		r.submit("46700000001", "closed", both)
		shown := len(r.shown)
		passes(time.Minute, before+3, "closed")
		if len(r.shown) != shown || r.smsc.Script() != Closed {
			t.Error("a closed SMSC takes a message")
		}
		play(Usual)
		passes(2*time.Second, before+4, "open again")
	})
}

// A receipt that has not come when the gateway ends is made again by the next start, once, if it was asked for; a reply is not.
func TestResume(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := durable{store.NewMemory()}
		r := newRig(t, disk, "receipt_delay: 10s")
		for _, to := range []string{"46700000001", "46700000002", "46700000006", "46700000008"} {
			r.submit(to, "hi", both)
		}
		r.submit("46700000003", "hi", sms.NotifySuccess)
		r.pass(time.Second)
		r.close()
		for _, want := range []string{"46700000001 46700000002 46700000008", ""} {
			r = newRig(t, disk, "receipt_delay: 1s")
			if r.pass(900 * time.Millisecond); len(r.got) != 0 {
				t.Errorf("%d receipts come early", len(r.got))
			}
			r.pass(2 * time.Second)
			var from []string
			for _, m := range r.got {
				from = append(from, string(m.Source().Addr))
			}
			if slices.Sort(from); strings.Join(from, " ") != want {
				t.Errorf("receipts of %q, want %s", from, want)
			}
			r.close()
		}
	})
}

// Deliveries come by time, each message's receipt before its reply, each once; with too many of them there is no room.
func TestSchedule(t *testing.T) {
	t.Parallel()
	s := newSchedule()
	if d, next := s.take(100); d != nil || next != 0 {
		t.Errorf("an empty one has %+v, %d", d, next)
	}
	for _, d := range []*delivery{
		{due: 3, id: 1}, {due: 2, id: 9, reply: "x"}, {due: 2, id: 9}, {due: 2, id: 4, reply: "y"}, {due: 1, id: 9}, {due: 7, id: 1},
	} {
		s.add(d)
	}
	if d, next := s.take(1); d != nil || next != 2 {
		t.Errorf("before the first: %+v, %d", d, next)
	}
	var order []string
	for {
		d, next := s.take(3)
		if d == nil {
			if next != 0 {
				t.Errorf("one is left for %d", next)
			}
			break
		}
		if order = append(order, fmt.Sprint(d.id, d.reply)); d.id == 4 && len(order) == 1 {
			d.due = 3
			s.again(d)
		}
	}
	if got := strings.Join(order, " "); got != "4y 9 9x 1 4y" {
		t.Errorf("the order is %s", got)
	}
	select {
	case <-s.changed:
	default:
		t.Error("nobody is woken")
	}
	s.resumed()
	for i := range uint64(mostScheduled) - 3 { // three are being brought, and one is
		if !s.hasRoom() && i != uint64(mostScheduled)-4 {
			t.Fatalf("no room with %d", i)
		}
		s.add(&delivery{due: 1, id: 100 + i})
	}
	if s.hasRoom() {
		t.Error("there is always room")
	}
}

// While as many deliveries wait as may, a message waits too, and nobody is shown it; a delivery that the gateway cannot take comes
// again a second later.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, "receipt_delay: 1s")
		defer r.close()
		s := r.smsc.schedule
		s.mu.Lock()
		for i := range uint64(mostScheduled) {
			s.known[key{1<<60 + i, false, false}] = struct{}{}
		}
		s.mu.Unlock()
		r.submit("46700000001", "hi", both)
		if r.pass(time.Second); len(r.shown) != 0 || r.operator.Stats.Sent.Load() != 0 {
			t.Errorf("without room: %+v, %d sent", r.shown, r.operator.Stats.Sent.Load())
		}
		s.mu.Lock()
		clear(s.known)
		s.mu.Unlock()
		if r.pass(time.Minute); len(r.shown) != 1 || r.operator.Stats.Sent.Load() != 1 || len(r.got) != 1 {
			t.Errorf("with room: %+v, %d sent, %d receipts", r.shown, r.operator.Stats.Sent.Load(), len(r.got))
		}
		limit := r.g.Node.Memory.Limit()
		r.g.Node.Memory.SetLimit(1)
		s.add(&delivery{due: r.g.Node.Clock.Now(), id: 1, ending: testsms.EndingOf([]byte("8")), reply: "again", from: sms.Address{Addr: []byte("46700000008")}, to: sms.Address{Addr: []byte("1234")}})
		r.pass(time.Millisecond)
		r.g.Node.Memory.SetLimit(limit)
		if r.pass(998 * time.Millisecond); len(r.got) != 1 || len(r.shown) != 1 {
			t.Errorf("%d came of what was not taken, %+v", len(r.got), r.shown)
		}
		if r.pass(time.Millisecond); len(r.got) != 2 || len(r.shown) != 2 || r.shown[1].Text != "again" {
			t.Errorf("%d came a second later, %+v", len(r.got), r.shown)
		}
	})
}
