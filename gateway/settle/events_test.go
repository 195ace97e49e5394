package settle

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
)

// Each way in which a message ends has its event, once, with all that an operator needs for bills and complaints: whose
// it was, when it came, left and ended, the answer, the number of attempts, and the receipt. Nothing of its text is in
// it. With each kind of store.
func TestEvents(t *testing.T) {
	t.Parallel()
	const (
		accepted = " accepted_at=2027-01-15T09:00:00.000000Z"
		base     = "kind=submit account=client connector=clients to_connector=operator source=1234 " +
			"destination=46700000001 parts=1" + accepted
	)
	at := func(sent, ended string) string {
		return fmt.Sprintf(" sent_at=2027-01-15T09:00:%s.000000Z ended_at=2027-01-15T09:00:%s.000000Z sends=1", sent, ended)
	}
	answer := func(code sms.Code, status uint32) sms.Answer {
		return sms.Answer{Code: code, Status: status, At: now + 2*second}
	}
	taken := sms.Answer{PeerID: []byte("17"), At: now + 2*second}
	stores(t, func(t *testing.T, s store.Store) {
		r := newRig(t, "", s)
		r.withEvents()
		want := map[string]string{}
		end := func(what string, a sms.Answer, sent int64, as func(m *sms.Message)) {
			m := r.submitted(uint64(100+len(want)), 0)
			as(m)
			want[sms.FormatID(m.ID)] = what
			r.Ended(r.lane, m, a, sent)
			m.Release()
		}
		same := func(*sms.Message) {}
		const ok = " state=sent reason=ok status=0 status_name=STATUS_0"
		end(base+ok+" smsc_id=17 attempts=1"+at("01", "02"), taken, now+second, same)
		end(base+" state=rejected reason=bad_destination status=11 status_name=STATUS_11 attempts=1"+at("01", "02"),
			answer(sms.BadDestination, 11), now+second, same)
		end(base+" state=expired reason=expired attempts=2 sends=2 ended_at=2027-01-15T09:00:02.000000Z", answer(sms.Expired, 0), 0,
			func(m *sms.Message) { m.Attempts, m.Sends = 2, 2 })
		end(base+" state=deleted attempts=0 sends=0", sms.Answer{Code: sms.Deleted}, 0, func(m *sms.Message) { m.Sends = 0 })
		end(base+" state=unknown reason=lost attempts=1"+at("01", "02"), answer(sms.Lost, 0), now+second,
			func(m *sms.Message) { m.Attempts = 1 })
		end(strings.ReplaceAll(base, "parts=1", "parts=3")+ok+" part=3 client_id=0000000000000068 smsc_id=17 attempts=1"+at("01", "02"),
			taken, now+second, func(m *sms.Message) { m.ID, m.Offset, m.Part, m.Parts = 106, 2, 2, 3 })
		end(base+ok+" network=24001 smsc_id=17 attempts=1"+at("01", "02"), taken, now+second,
			func(m *sms.Message) { m.ID = 109; m.Network, _ = sms.ReadNetwork("24001") })
		end("kind=receipt connector=operator to_connector=operator source=46700000001 destination=1234 parts=1"+accepted+
			" about=0000000000000005 delivery=delivered error=011"+ok+" attempts=1"+at("01", "02"),
			sms.Answer{At: now + 2*second}, now+second, func(m *sms.Message) {
				m.Kind, m.Flags, m.ID, m.Origin = sms.Receipt, sms.HasReport, 108, r.node.Origins.Of("", "operator")
				from, to := sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}
				m.SetReport(from, to, &sms.Report{Known: 5, State: sms.StateDelivered, Err: []byte("011")})
			})
		counts := r.lane.Home().Stats.Networks.Counts()
		if len(counts) != 1 || counts[0].Sent != 1 || counts[0].Network.String() != "24001" {
			t.Errorf("by network: %+v", counts)
		}
		r.close()
		got := r.events()
		for id, fields := range want {
			e, n := got[id], 2 // the number and the id
			for field := range strings.FieldsSeq(fields) {
				name, value, _ := strings.Cut(field, "=")
				if n++; fmt.Sprint(e[name]) != value {
					t.Errorf("%s: %s is %v", id, field, e[name])
				}
			}
			if len(e) != n {
				t.Errorf("%s: %v, want %s", id, e, fields)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d events of %d messages", len(got), len(want))
		}
	})
}

// The number of attempts in events and receipts: an answer ends an attempt, once, and those before at other targets
// count too.
func TestAttemptsOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attempts, earlier uint8
		flags             sms.Flags
		code              sms.Code
		sent              int64
		want              uint8
	}{
		{0, 0, 0, sms.OK, 1, 1},
		{2, 3, 0, sms.OK, 1, 6},
		{2, 0, 0, sms.BadDestination, 1, 3},
		{2, 0, sms.Settled, sms.OK, 1, 2}, // the answer came late: its attempt was counted as one without an answer
		{2, 0, 0, sms.Timeout, 1, 2},
		{2, 0, 0, sms.Expired, 1, 2},
		{2, 0, 0, sms.OK, 0, 2},
		{255, 0, 0, sms.OK, 1, 255},
		{200, 200, 0, sms.Expired, 0, 255},
	} {
		m := &sms.Message{Attempts: c.attempts, Earlier: c.earlier, Flags: c.flags}
		if got := AttemptsOf(m, c.code, c.sent); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A gated store commits nothing while its lock is held.
type gated struct {
	store.Store
	sync.Mutex
}

func (g *gated) Commit(b *store.Batch) error {
	g.Lock()
	defer g.Unlock()
	return g.Store.Commit(b)
}

// While too many events wait no message leaves, so that none is lost, and the operator is warned. When the lanes go on,
// that is reported once. Without events, or with few, nothing of this is so.
func TestEventsFull(t *testing.T) {
	t.Parallel()
	disk := &gated{Store: store.NewMemory()}
	r := newRig(t, "", disk)
	if r.CheckEvents(); r.Halted(now) || r.Writer() != nil {
		t.Error("halted without events")
	}
	r.withEvents()
	if r.CheckEvents(); r.Halted(now) || r.Events.GoesOn() || r.log.String() != "" || r.Writer() == nil {
		t.Error("halted, or going on, with no event")
	}
	m := r.submitted(1, 0)
	disk.Lock()
	for range 1 << 16 { // none of them is committed
		r.Forget(m, keep.Ending{State: events.Sent}, nil)
	}
	if !r.Halted(now) || r.Events.GoesOn() {
		t.Error("not halted, or going on, with too many events")
	}
	r.CheckEvents()
	r.CheckEvents()
	const full = `"waiting":65536,"message":"no message is sent, because too many events wait`
	if s := r.log.Take(); strings.Count(s, "\n") != 1 || !strings.Contains(s, full) {
		t.Errorf("the log has %s", s)
	}
	disk.Unlock()
	r.keep.Commit()
	testutil.Eventually(t, "messages leave again", r.Events.GoesOn)
	if r.Halted(now) || r.Events.GoesOn() {
		t.Error("halted, or going on twice")
	}
	r.close()
}

// What is in a file is dropped from the store, and nothing else: events that were written twice, or never, would be billed
// twice, or never.
func TestEventsDropped(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s store.Store) {
		r := newRig(t, "", s)
		r.withEvents()
		m := r.submitted(1, 0)
		for range 5 {
			r.Forget(m, keep.Ending{State: events.Sent}, nil)
		}
		r.sync()
		testutil.Eventually(t, "they are written", func() bool { return r.Writer().Written() == 5 })
		if err := r.Writer().Close(); err != nil {
			t.Fatal(err)
		}
		r.sync()
		last, err := s.Events(0, 10, func(n uint64, line []byte) error { return fmt.Errorf("%d: %s", n, line) })
		if last != 0 || err != nil {
			t.Errorf("the store has events that are in a file: %v", err)
		}
		r.close()
	})
}

// An uncommitted is a store that takes nothing.
type uncommitted struct{ store.Store }

func (uncommitted) Commit(*store.Batch) error { return errors.New("it takes nothing") }

// A gateway whose last events could not be stored says so when it stops, and one whose directory cannot be opened when it
// starts.
func TestEventsFail(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", uncommitted{store.NewMemory()})
	r.withEvents()
	r.Forget(r.submitted(1, 0), keep.Ending{State: events.Sent}, nil)
	if err := r.CloseEvents(); err == nil || !strings.Contains(err.Error(), "cannot write 1 events") {
		t.Errorf("it stops without its event: %v", err)
	}
	_ = r.keep.Close() // it takes nothing
	r = newRig(t, "", uncommitted{store.NewMemory()})
	r.withEvents()
	r.keep.SetAside(r.submitted(1, 0), store.Lane{}, store.Parked, "")
	if err := r.CloseEvents(); err == nil || !strings.Contains(err.Error(), "it takes nothing") {
		t.Errorf("it stops though the store takes nothing: %v", err)
	}
	_ = r.keep.Close()
	r = newRig(t, "", store.NewMemory())
	cfg := *r.node.Config()
	cfg.Events.Dir = "/dev/null/events"
	r.node.SetConfig(&cfg)
	if r.OpenEvents() == nil {
		t.Error("a file is a directory")
	}
	_ = r.keep.Close()
}

// An event allocates nothing of its own, whether events are written or not.
func TestForgetAllocates(t *testing.T) {
	for _, with := range []bool{false, true} {
		s := roomtest.NewDisk()
		close(s.Permits)
		r := newRig(t, "", noEvents{s})
		m := r.node.Messages.Get()
		m.Set(sms.Address{Addr: []byte("1")}, sms.Address{Addr: []byte("2")}, []byte("text"))
		if with {
			r.withEvents()
		}
		e := keep.Ending{Lane: store.Lane{Connector: "operator"}, Answer: sms.Answer{At: 1, PeerID: []byte("17")}, Sent: 1}
		for range 100_000 { // makes the batch grow
			r.Forget(m, e, nil)
		}
		if n := testing.AllocsPerRun(1000, func() { r.Forget(m, e, nil) }); n != 0 {
			t.Errorf("events %v: %v allocations", with, n)
		}
		_ = r.CloseEvents() // the disk has no events to write
		_ = r.keep.Close()
	}
}

// A noEvents has none.
type noEvents struct{ store.Store }

func (noEvents) Events(after uint64, _ int, _ func(uint64, []byte) error) (uint64, error) {
	return after, nil
}

// The next owner of a cluster, whose directory has no events, goes on with the numbers of the one before it, all of whose events
// are in files. The last of them is there once more.
func TestEventsOfTheNextOwner(t *testing.T) {
	t.Parallel()
	files := vfs.NewMem()
	id := uint64(0)
	own := func(node string) map[string]map[string]any {
		s, err := store.Open("store", store.Options{FS: files})
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, "", s)
		cfg := *r.node.Config()
		cfg.Cluster.Node = node
		r.node.SetConfig(&cfg)
		r.withEvents()
		for range 3 {
			id++
			m := r.submitted(id, 0)
			r.Ended(r.lane, m, sms.Answer{PeerID: []byte("17"), At: now + 2*second}, now+second)
			m.Release()
		}
		r.sync()
		testutil.Eventually(t, "all events are in files", func() bool { return r.Events.Writer.Waiting() == 0 })
		r.close()
		return r.events()
	}
	first, second := own("a"), own("b")
	for at, all := range map[uint64]map[string]map[string]any{1: first, 3: second} {
		for n := at; n < at+uint64(len(all)); n++ {
			if e := all[sms.FormatID(n)]; e == nil || e["number"] != float64(n) {
				t.Errorf("event %d: %v", n, e)
			}
		}
	}
	if len(first) != 3 || len(second) != 4 {
		t.Errorf("%d and %d events", len(first), len(second))
	}
}
