package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/gateway/request"
	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// A rig is a worker on the lane of an SMSC, and the messages that it was given.
type rig struct {
	*apitest.Site
	lane   *connector.Lane
	group  *Group
	worker *Worker
	log    testutil.Log
	given  chan []*connector.Slot
	goesOn chan struct{} // a goroutine that has brought its work waits for it
}

func newRig(t *testing.T, most, batch int) *rig {
	t.Helper()
	r := &rig{
		group: NewGroup(t.Context()), given: make(chan []*connector.Slot, 100), goesOn: make(chan struct{}, 100),
		Site: apitest.New(t, `
accounts: [{system_id: shop, password: secret}]
connectors:
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0"}
  - {name: smsc, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, retry: {temporary: [1ms, repeat], lost: [1ms, repeat]}}
routes: [{to: smsc}]
`),
	}
	r.lane = r.Gateway.Table.LaneOf(r.Gateway.Table.Connector("smsc"))
	r.worker = New(r, r.lane, Options{
		Group: r.group, Most: most, Batch: func() int { return batch }, Log: zerolog.New(&r.log),
		Work: func(slots []*connector.Slot) {
			r.given <- slots
			select {
			case <-r.goesOn:
			case <-r.group.Done():
			}
		},
	})
	t.Cleanup(r.group.Close)
	return r
}

// open opens the lane for so many messages at a time.
func (r *rig) open(window int) { r.onLane(func() { r.worker.Open(r.worker, window) }) }

// onLane runs f where the lane is dispatched for, and waits until the lane was dispatched.
func (r *rig) onLane(f func()) {
	done := make(chan struct{})
	r.Do(r.lane, func(int64) { f() })
	r.Do(r.lane, func(int64) {})
	r.Do(r.lane, func(int64) { close(done) })
	<-done
}

// submit submits messages, whose texts are numbers from 0.
func (r *rig) submit(t *testing.T, n int) {
	t.Helper()
	g := r.Gateway
	from := &connector.Source{
		Connector: g.Table.Connector("api"), Account: g.Logins.Accounts().Account("shop"), Origin: g.Node.Origins.Of("shop", "api"),
	}
	for i := range n {
		order := httpsms.Order{From: "1234", To: "+46700000001", Text: fmt.Append(nil, i)}
		if a := g.Requests.Submit(t.Context(), from, []request.Item{{Fill: order.Fill}})[0]; a.Code != sms.OK {
			t.Fatalf("%+v", a)
		}
	}
}

// wants checks the texts of the next piece of work, whose slots it returns.
func (r *rig) wants(t *testing.T, texts ...string) []*connector.Slot {
	t.Helper()
	slots := testutil.Receive(t, "work", r.given)
	var got []string
	for _, s := range slots {
		got = append(got, string(s.Message.Text()))
	}
	if strings.Join(got, " ") != strings.Join(texts, " ") {
		t.Errorf("work is %q, want %q", got, texts)
	}
	return slots
}

// answers ends a piece of work.
func (r *rig) answers(slots []*connector.Slot, code sms.Code) {
	for _, s := range slots {
		r.worker.Report(Answer{Slot: s, Answer: sms.Answer{Code: code}})
	}
	r.goesOn <- struct{}{}
}

// Messages are taken by as many goroutines as there may be, so many together, and no more than the window.
func TestWorker(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2, 2)
	r.submit(t, 8)
	r.onLane(func() {
		if r.worker.IsOpen() {
			t.Error("it is open")
		}
	})
	if r.worker.Len() != 0 {
		t.Error("the lane gives messages before it is open")
	}
	r.open(6)
	var all [][]*connector.Slot
	for range 2 { // a goroutine may take the first message alone, before the second is given
		all = append(all, testutil.Receive(t, "work", r.given))
	}
	r.onLane(func() {})
	if n := len(all[0]) + len(all[1]) + r.worker.Len(); n != 6 || len(r.given) != 0 {
		t.Fatalf("%d messages were given, want 6; a third goroutine has %d pieces of work", n, len(r.given))
	}
	var texts string
	for left := 8; left > 0; {
		if len(all) == 0 {
			all = append(all, testutil.Receive(t, "work", r.given))
		}
		if len(all[0]) > 2 {
			t.Errorf("%d messages together", len(all[0]))
		}
		for _, s := range all[0] {
			texts += string(s.Message.Text())
		}
		left -= len(all[0])
		r.answers(all[0], sms.OK)
		all = all[1:]
	}
	if len(texts) != 8 {
		t.Errorf("messages are %s", texts)
	}
	r.Settled()
	testutil.Eventually(t, "no goroutine works", func() bool { r.worker.mu.Lock(); defer r.worker.mu.Unlock(); return r.worker.working == 0 })
}

// A lane that is shut gives no more. What it has given is answered, and the rest goes when it is open again.
func TestShut(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, 1)
	r.submit(t, 3)
	r.open(1)
	slots := r.wants(t, "0")
	r.onLane(func() {
		if r.worker.Shut(); r.worker.IsOpen() {
			t.Error("it is open")
		}
	})
	r.answers(slots, sms.OK)
	if r.onLane(func() {}); r.worker.Len() != 0 || len(r.given) != 0 {
		t.Error("it gives more")
	}
	r.open(1)
	r.open(1) // with other options
	if n := r.Gateway.Table.Connector("smsc").Online(); n != 1 {
		t.Errorf("%d ways are open, want 1", n)
	}
	for _, text := range []string{"1", "2"} {
		r.answers(r.wants(t, text), sms.OK)
	}
	r.Settled()
}

// A message that was not sent comes again, and one that was refused for now too. The time until an answer is observed, not that
// until there is none, nor where nobody knows when it began.
func TestReport(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, 1)
	r.submit(t, 1)
	r.open(1)
	observed := &r.Gateway.Table.Connector("smsc").Stats.Answer
	slots := r.wants(t, "0")
	r.worker.Report(Answer{Slot: slots[0], Unsent: true})
	r.goesOn <- struct{}{}
	for _, c := range []struct {
		code  sms.Code
		id    string
		knows bool // when it was sent
		sum   int64
	}{{sms.TemporaryFailure, "", false, 0}, {sms.Timeout, "", true, 0}, {sms.TemporaryFailure, "", true, 1}, {sms.Timeout, "x", true, 2}, {sms.OK, "x", true, 3}} {
		s := r.wants(t, "0")[0]
		if c.knows {
			s.Sent = r.Gateway.Node.Clock.Now()
		}
		a := sms.Answer{Code: c.code}
		if c.id != "" {
			a.PeerID = []byte(c.id)
		}
		r.worker.Report(Answer{Slot: s, Answer: a})
		r.onLane(func() {})
		n := int64(0)
		for i := range observed.Buckets {
			n += observed.Buckets[i].Load()
		}
		if n != c.sum {
			t.Errorf("%v %q: %d times are observed, want %d", c.code, c.id, n, c.sum)
		}
		r.goesOn <- struct{}{}
	}
	r.Settled()
}

// While a lane rests, it gives nothing.
func TestPause(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, 1)
	until := make(chan int64, 1)
	r.worker.Pause(1<<40, func(at int64) { until <- at })
	r.worker.Pause(1, nil) // a shorter one ends none
	if at, now := testutil.Receive(t, "its end", until), r.Gateway.Node.Clock.Now(); at < now || at > now+1<<40 {
		t.Errorf("it rests until %d, at %d", at, now)
	}
	r.submit(t, 1)
	r.open(1)
	if r.onLane(func() {}); r.worker.Len()+len(r.given) != 0 {
		t.Error("it gives a message")
	}
}

// When the group ends, so does what is under way. Nothing begins any more, and what was given stays.
func TestGroup(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, 1)
	r.submit(t, 2)
	r.open(2)
	r.wants(t, "0")
	r.onLane(func() {})
	r.group.Close()
	if r.group.Go(func() { t.Error("it begins") }) {
		t.Error("a goroutine begins in a group that has ended")
	}
	if r.worker.Len() != 1 || len(r.given) != 0 {
		t.Errorf("%d messages are left, %d were taken", r.worker.Len(), len(r.given))
	}
	r.group.Close()

	ctx, cancel := context.WithCancel(t.Context())
	g := NewGroup(ctx)
	defer g.Close()
	ended := make(chan struct{})
	g.Go(func() { defer close(ended); <-g.Done() })
	cancel()
	testutil.Receive(t, "its end", ended)
	if g.Go(func() {}) {
		t.Error("a goroutine begins though the context has ended")
	}
}

// Close waits for what is under way.
func TestGroupWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, ended := NewGroup(t.Context()), false
		g.Go(func() {
			<-g.Done()
			time.Sleep(time.Second)
			ended = true
		})
		if g.Close(); !ended {
			t.Error("a goroutine goes on")
		}
	})
}

// What a lane gives is taken in its order, as much as is wanted.
func TestSupply(t *testing.T) {
	t.Parallel()
	came := 0
	s := NewSupply(nil, nil, func() { came++ })
	for i := range 3 {
		s.Give(0, &connector.Slot{Sequence: uint32(i)})
	}
	two := s.Take(2)
	if came != 3 || len(two) != 2 || two[0].Sequence != 0 || two[1].Sequence != 1 || s.Len() != 1 {
		t.Errorf("%d came, %d were taken, %d are left", came, len(two), s.Len())
	}
	s.Give(0, &connector.Slot{Sequence: 3})
	if rest := s.Take(9); len(rest) != 2 || rest[0].Sequence != 2 || rest[1].Sequence != 3 || s.Len() != 0 || len(s.Take(1)) != 0 {
		t.Errorf("%d are the rest, %d are left", len(rest), s.Len())
	}
}

// A fault at a message is logged with its id, and goes no further.
func TestGuard(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, 1)
	m := &sms.Message{ID: 7}
	if !r.worker.Guard(m, "a call failed", func() {}) || r.log.String() != "" {
		t.Error(r.log.String())
	}
	if r.worker.Guard(m, "a call failed", func() { panic("fault") }) {
		t.Error("it returned")
	}
	for _, want := range []string{`"level":"error"`, `"id":"` + sms.FormatID(7) + `"`, `"panic":"fault"`, `"message":"a call failed"`, `"stack":`} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("%s has no %s", r.log.String(), want)
		}
	}
}
