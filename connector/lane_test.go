package connector

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"pmg/config"
	"pmg/sms"
)

const (
	start  = int64(1_800_000_000_000_000_000) // any time
	second = int64(1_000_000_000)
)

// options returns an out connector's configuration.
func options(t testing.TB, more string) *config.Connector {
	t.Helper()
	cfg, _, err := config.Parse(fmt.Appendf(nil, `
pdulog: {enabled: false}
connectors:
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, %s}
`, more), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	return &cfg.Connectors[0]
}

// A clerk is a policy: an answer after which a message may succeed puts it back.
type clerk struct {
	pause    int64 // after Throttled
	aside    int64 // after another temporary failure
	fail     bool  // what is not answered is given up
	draining bool
	ended    []sms.Code
	blamed   map[uint64]int // times a session ended under a message alone, by id
}

func (c *clerk) Settle(_ *Lane, m *sms.Message, a sms.Answer, alone bool) (o Outcome) {
	switch {
	case a.Code == sms.Throttled:
		return Outcome{Again: true, Pause: a.At + c.pause}
	case a.Code == sms.Lost:
		m.Losses++
		if alone {
			m.Attempts++
			c.blamed[m.ID]++
			m.NotBefore = a.At + c.aside
		}
		return Outcome{Again: !c.fail}
	case a.Code == sms.Timeout:
		m.Attempts++
		return Outcome{Again: !c.fail}
	case a.Code.Retryable():
		m.Attempts++
		m.NotBefore = a.At + c.aside
		return Outcome{Again: true}
	}
	return Outcome{}
}

func (c *clerk) Ended(_ *Lane, _ *sms.Message, a sms.Answer) { c.ended = append(c.ended, a.Code) }
func (c *clerk) Draining() bool                              { return c.draining }

// A desk is a lane with its sessions, played by the test.
type desk struct {
	*Lane
	*clerk
	t       testing.TB
	now     int64
	used    *Memory
	pool    sms.Pool
	origins map[string]*sms.Origin
	lastID  uint64
	dialed  []*Instance
	under   []*Slot // under way
}

func newDesk(t testing.TB, more string) *desk {
	d := &desk{t: t, now: start, clerk: &clerk{pause: 2 * second, aside: 5 * second, blamed: map[uint64]int{}}, used: &Memory{}, origins: map[string]*sms.Origin{}}
	d.Lane = NewLane(New(0, options(t, more), driver{}, d.used), "", d.clerk)
	d.dialed = d.Attach()
	return d
}

// share returns an account's part of the lane.
func (d *desk) share(account string) *Share {
	o := d.origins[account]
	if o == nil {
		o = &sms.Origin{Account: account, Connector: "clients", Tally: &sms.Tally{}}
		d.origins[account] = o
	}
	return d.Share(o, 100)
}

// accept makes a message an account's, as the gateway does.
func (d *desk) accept(account string, fill func(*sms.Message)) (*Share, *sms.Message) {
	s, m := d.share(account), d.pool.Get()
	d.lastID++
	m.ID, m.Origin, m.Arrived = d.lastID, s.Origin, d.now
	if fill != nil {
		fill(m)
	}
	d.used.Add(m.Size())
	if m.DeliverAt > d.now {
		m.Flags |= sms.Scheduled
		m.Origin.Tally.Scheduled.Add(1)
	} else {
		s.Add(1)
	}
	return s, m
}

// submit adds messages of an account.
func (d *desk) submit(account string, n int, fill func(*sms.Message)) {
	for range n {
		s, m := d.accept(account, fill)
		d.Push(d.now, s, m)
	}
}

// connect logs in the instance that was dialed first.
func (d *desk) connect() *Link {
	l := &Link{}
	l.Open(d.dialed[0], netip.AddrPort{}, d.now, nil)
	l.Bound, l.BoundAt, l.Lane = true, d.now, d.Lane
	l.Instance.SetLink(l)
	d.dialed = d.dialed[1:]
	d.Bound(l, true)
	return l
}

// send lets leave what may, and returns how many messages and dials that were and
// when to look again.
func (d *desk) send() (messages, dials int, again int64) {
	for {
		slot, at := d.Next(d.now)
		switch {
		case slot == nil:
			return messages, dials, at
		case slot.Link == nil:
			dials++
			d.dialed = append(d.dialed, slot.Instance)
		default:
			messages++
			d.under = append(d.under, slot)
		}
	}
}

// take takes the i-th slot that is under way.
func (d *desk) take(i int) *Slot {
	slot := d.under[i]
	d.under = slices.Delete(d.under, i, i+1)
	return slot
}

// answer answers the oldest message that is under way.
func (d *desk) answer(code sms.Code) { d.answerSlot(0, code) }

func (d *desk) answerSlot(i int, code sms.Code) {
	d.Answered(d.now, d.take(i), sms.Answer{Code: code, At: d.now})
}

// lose ends a session: its slots go, then its messages come back, then its socket.
func (d *desk) lose(l *Link) {
	d.Over(l)
	for i := 0; i < len(d.under); {
		if d.under[i].Link == l {
			d.answerSlot(i, sms.Lost)
		} else {
			i++
		}
	}
	if d.Closed(d.now, l) {
		d.dialed = append(d.dialed, l.Instance)
	}
}

func (d *desk) want(why string, messages, dials int, again int64) {
	d.t.Helper()
	if m, n, at := d.send(); m != messages || n != dials || at != again {
		d.t.Errorf("%s: %d messages leave, %d dials, again at now+%d; want %d, %d, now+%d", why, m, n, at-d.now, messages, dials, again-d.now)
	}
}

// wantEmpty checks that nothing is counted any more.
func (d *desk) wantEmpty() {
	d.t.Helper()
	d.Publish()
	for what, n := range map[string]int64{
		"queued": d.Queued.Load(), "held": d.Held.Load(), "memory": d.used.Used(), "length": d.Stats.QueueLength.Load(),
		"in flight": d.Stats.InFlight.Load(), "unknown": int64(len(d.unknown)),
	} {
		if n != 0 {
			d.t.Errorf("%s: %d when everything has ended", what, n)
		}
	}
	d.Shares(func(s *Share) {
		if n := s.Queued(); n != 0 {
			d.t.Errorf("share of %q: %d queued when everything has ended", s.Origin.Account, n)
		}
		if n := s.Origin.Tally.Scheduled.Load(); n != 0 {
			d.t.Errorf("%q: %d scheduled when everything has ended", s.Origin.Account, n)
		}
	})
}

// As many sessions are opened on demand as what waits can use, each is given its
// window, and what cannot leave waits.
func TestLaneOnDemand(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 4, window: 10, static: false")
	d.want("nothing waits", 0, 0, 0)
	d.submit("a", 11, nil)
	d.want("eleven messages", 0, 2, 0)
	d.want("that will do", 0, 0, 0)
	d.connect()
	d.want("a window", 10, 0, 0)
	d.submit("a", 30, nil)
	d.want("more wait than those under way can take", 0, 2, 0)
	d.connect()
	d.want("another window", 10, 0, 0)
	d.answer(sms.OK)
	d.want("a slot is free", 1, 0, 0)
	d.Publish()
	if q, s := d.Queued.Load(), d.Stats.Sent.Load(); q != 40 || s != 1 {
		t.Errorf("%d queued, %d sent", q, s)
	}
}

// Sessions that are kept are opened immediately, and again when they are lost;
// those opened on demand only when something is due.
func TestLaneClosed(t *testing.T) {
	t.Parallel()
	for _, static := range []bool{true, false} {
		d := newDesk(t, fmt.Sprintf("instances: 2, window: 10, static: %t", static))
		if static != (len(d.dialed) == 2) {
			t.Errorf("static %t: %d dials at the start", static, len(d.dialed))
		}
		d.submit("a", 1, nil)
		d.submit("a", 100, func(m *sms.Message) { m.DeliverAt = d.now + 3600*second })
		if d.send(); len(d.dialed) != map[bool]int{true: 2, false: 1}[static] {
			t.Errorf("static %t: %d dials for one message that is due", static, len(d.dialed))
		}
		l := d.connect()
		d.send()
		d.answer(sms.OK)
		d.Over(l)
		if dial := d.Closed(d.now, l); dial != static || l.Instance.Link() != nil {
			t.Errorf("static %t: dial %t", static, dial)
		}
		if d.Online() != 0 {
			t.Errorf("%d online", d.Online())
		}
	}
}

// F16, F19: while the gateway stops, a session that ended is connected again if
// accepted messages are left, on their way to the lane too, and not for those
// that wait for their time.
func TestLaneClosedDraining(t *testing.T) {
	t.Parallel()
	for _, static := range []bool{true, false} {
		d := newDesk(t, fmt.Sprintf("instances: 1, static: %t", static))
		d.submit("a", 1, nil)
		d.send()
		l := d.connect()
		d.send()
		d.submit("a", 1, func(m *sms.Message) { m.DeliverAt = d.now + 3600*second })
		d.draining = true
		s, m := d.accept("a", nil) // on its way
		d.answer(sms.OK)
		d.Over(l)
		if d.Closed(d.now, l) {
			d.dialed = append(d.dialed, l.Instance)
		}
		d.Push(d.now, s, m)
		d.send()
		if len(d.dialed) != 1 {
			t.Fatalf("static %t: %d dials, a message on its way here stays behind", static, len(d.dialed))
		}
		l = d.connect()
		d.send()
		d.answer(sms.OK)
		d.Over(l)
		if d.Closed(d.now, l) {
			t.Errorf("static %t: connected again for a scheduled message", static)
		}
		if _, dials, _ := d.send(); dials != 0 {
			t.Errorf("static %t: %d dials", static, dials)
		}
	}
}

// The slots of a session that is over come back with their messages, which leave
// again in their old order.
func TestLaneOver(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 2, window: 3, static: true")
	d.submit("a", 6, nil)
	first := d.connect()
	d.want("a window", 3, 0, 0)
	d.Over(first)
	for range 3 {
		d.answer(sms.Lost)
	}
	d.connect()
	var last uint64
	for range 6 {
		if d.send(); len(d.under) == 0 {
			t.Fatal("nothing leaves")
		}
		if id := d.under[0].Message.ID; id <= last {
			t.Errorf("message %d leaves behind %d", id, last)
		} else {
			last = id
		}
		d.answer(sms.OK)
	}
	if d.wantEmpty(); d.Stats.Retried.Load() != 3 || len(d.blamed) > 0 {
		t.Errorf("%d retried, %v blamed", d.Stats.Retried.Load(), d.blamed)
	}
}

// What an answer leads to.
func TestLaneAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "window: 2, static: true")
	d.fail = true
	d.connect()
	d.submit("a", 1, nil)
	d.want("sent", 1, 0, 0)
	d.answer(sms.Throttled)
	d.want("paused", 0, 0, d.now+2*second)
	d.now += 2 * second
	d.want("again after the pause", 1, 0, 0)
	d.answer(sms.TemporaryFailure)
	d.want("to be retried", 0, 0, d.now+5*second)
	d.submit("a", 1, nil)
	d.want("no other message waits for that", 1, 0, d.now+5*second)
	d.answer(sms.Timeout)
	d.now += 5 * second
	d.want("retried", 1, 0, 0)
	d.answer(sms.Rejected)
	d.want("given up", 0, 0, 0)
	d.wantEmpty()
	if !slices.Equal(d.ended, []sms.Code{sms.Timeout, sms.Rejected}) || d.Stats.Failed.Load() != 2 {
		t.Errorf("ended %v, %d failed", d.ended, d.Stats.Failed.Load())
	}
}

// The rate is kept, and a change of it too.
func TestLaneRate(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "window: 100, static: true, rate: 10")
	d.connect()
	d.submit("a", 20, nil)
	d.want("one", 1, 0, d.now+second/10)
	d.now += second / 10
	d.want("another", 1, 0, d.now+second/10)
	cfg := *d.Config()
	cfg.Rate = 0
	d.SetConfig(&cfg)
	d.want("without limit", 18, 0, 0)
}

// A lane that is removed goes when everything it was given is sent: what is
// still on its way to the queue too, and what waits for room in it.
func TestLaneLeaves(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "window: 5, static: true")
	l := d.connect()
	gone := func(why string, want bool) {
		t.Helper()
		if got := d.Publish(); got != want {
			t.Errorf("%s: gone %t, want %t", why, got, want)
		}
	}
	d.submit("a", 1, nil)
	d.send()
	d.Leave()
	gone("one is under way", false)
	s, m := d.accept("a", nil) // by the builder
	d.answer(sms.OK)
	gone("one is on its way here", false)
	d.Push(d.now, s, m)
	s.Hold(1)
	d.send()
	d.answer(sms.OK)
	gone("one waits for room", false)
	s.Hold(-1)
	gone("all is sent", true)
	gone("told before", false)
	d.Over(l)
	if d.Closed(d.now, l) {
		t.Error("dials though gone")
	}
}

// H13: shares take turns, so that a flood of urgent messages of one account does
// not keep a plain message of another waiting.
func TestLaneTurns(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "window: 1, static: true")
	d.connect()
	d.submit("flood", 1000, func(m *sms.Message) { m.Priority = 255 })
	d.submit("plain", 3, nil)
	d.submit("other", 1, nil)
	var order []string
	for range 8 {
		if m, _, _ := d.send(); m != 1 {
			t.Fatalf("%d messages leave", m)
		}
		order = append(order, d.under[0].Message.Origin.Account)
		d.submit("flood", 2, func(m *sms.Message) { m.Priority = 255 })
		d.answer(sms.OK)
	}
	if want := []string{"flood", "plain", "other", "flood", "plain", "flood", "plain", "flood"}; !slices.Equal(order, want) {
		t.Errorf("leave %q, want %q", order, want)
	}
}

// An account takes no more than its percent of what the others leave free, and
// what is full is full for all.
func TestShareRoom(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "max_queue: 100")
	a, b := d.share("a"), d.share("b")
	a.SetPercent(50)
	b.SetPercent(50)
	want := func(why string, wantA, wantB int64) {
		t.Helper()
		if a.Room() != wantA || b.Room() != wantB {
			t.Errorf("%s: room %d and %d, want %d and %d", why, a.Room(), b.Room(), wantA, wantB)
		}
	}
	want("empty", 50, 50)
	a.Add(50)
	want("a has its half", 0, 25)
	b.Add(25)
	want("b has half of the rest", -13, 0)
	b.SetPercent(100)
	want("b may take all", -13, 25)
	b.Add(25)
	want("full", -25, 0)
	a.Add(-50)
	b.Add(-50)
	want("empty again", 50, 100)
	if d.Queued.Load() != 0 {
		t.Errorf("%d queued", d.Queued.Load())
	}
}

// A lane that is up takes messages which are likely to leave soon. A connector
// that connects on demand is up until a connection failed.
func TestLaneUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "static: false")
	want := func(why string, want bool) {
		t.Helper()
		if d.Up() != want {
			t.Errorf("%s: up %t", why, d.Up())
		}
	}
	want("nothing tried", true)
	d.Stats.Failing.Store(1)
	want("failed", false)
	d.submit("a", 1, nil)
	d.send()
	l := d.connect()
	want("one is there", true)
	d.Removed.Store(true)
	want("removed", false)
	d.Removed.Store(false)
	d.LoggingOut(l)
	if d.Online() != 0 || d.Connector.Online() != 0 {
		t.Errorf("%d and %d online", d.Online(), d.Connector.Online())
	}
}

// Many sequences of everything that can happen to a lane: no message is lost,
// none is sent by two slots, or after its end, and the counters are right.
func TestLaneRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		runLane(t, seed)
	}
}

// An actor is a desk and what the test knows of its messages.
type actor struct {
	*desk
	random   *rand.Rand
	seed     uint64
	sessions []*Link
	late     []lateSlot
	ended    map[uint64]bool // by id; false: not yet
}

type lateSlot struct {
	link *Link
	id   uint64
}

func runLane(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	a := &actor{
		desk:   newDesk(t, fmt.Sprintf("instances: 3, window: %d, static: %t, rate: %d", 1+seed%4, seed%2 == 0, seed%3*100)),
		random: random, seed: seed, ended: map[uint64]bool{},
	}
	for range 1500 {
		a.now += random.Int64N(second / 5)
		a.step()
		a.leave()
		a.check()
	}
	for n := 0; len(a.under) > 0 || a.Len() > 0; n++ {
		for len(a.dialed) > 0 {
			a.sessions = append(a.sessions, a.connect())
		}
		for len(a.under) > 0 {
			a.settle(0, sms.OK)
		}
		if n%2 == 1 && len(a.sessions) > 0 { // frozen windows do not thaw by themselves
			a.end(0)
		}
		a.now += second
		a.Tick(a.now)
		a.leave()
		if n > 10_000 {
			t.Fatalf("seed %d: %d messages never leave", seed, a.Len())
		}
	}
	a.Publish()
	if n := a.Stats.Sent.Load() + a.Stats.Failed.Load() + a.Stats.Expired.Load(); n != int64(a.lastID) {
		t.Errorf("seed %d: %d messages sent, failed or expired of %d", seed, n, a.lastID)
	}
	a.wantEmpty()
}

// leave lets leave what may, and checks that it may.
func (a *actor) leave() {
	a.t.Helper()
	before := len(a.under)
	a.send()
	for i, slot := range a.under {
		m := slot.Message
		if i >= before && (a.ended[m.ID] || m.Due() > a.now || m.Expires != 0 && m.Expires < a.now) {
			a.t.Fatalf("seed %d: message %d leaves, ended %t, due in %d, expires in %d", a.seed, m.ID, a.ended[m.ID], m.Due()-a.now, m.Expires-a.now)
		}
		for _, other := range a.under[:i] {
			if i >= before && other.Message == m {
				a.t.Fatalf("seed %d: message %d leaves by two slots", a.seed, m.ID)
			}
		}
	}
}

func (a *actor) step() {
	random := a.random
	switch n := random.IntN(12); {
	case n < 3:
		a.submit(string(rune('a'+random.IntN(3))), random.IntN(6), func(m *sms.Message) {
			m.Priority = uint8(random.IntN(6))
			if random.IntN(5) == 0 {
				m.Expires = a.now + random.Int64N(3*second)
			}
			if random.IntN(6) == 0 {
				m.DeliverAt = a.now + random.Int64N(5*second)
			}
		})
	case n < 5:
		if len(a.dialed) > 0 {
			a.sessions = append(a.sessions, a.connect())
		}
	case n == 5:
		if len(a.sessions) > 0 && random.IntN(2) == 0 {
			a.end(random.IntN(len(a.sessions)))
		}
	case n == 6:
		if len(a.sessions) > 0 && random.IntN(3) == 0 {
			a.LoggingOut(a.sessions[random.IntN(len(a.sessions))])
		}
	case n == 7:
		if len(a.under) > 0 {
			a.Unsent(a.now, a.take(random.IntN(len(a.under))))
		}
	case n == 8:
		a.Tick(a.now)
	case n == 9:
		a.answerLate()
	default:
		codes := []sms.Code{sms.OK, sms.OK, sms.Throttled, sms.TemporaryFailure, sms.Timeout, sms.Rejected}
		for n := random.IntN(6); n > 0 && len(a.under) > 0; n-- {
			a.settle(random.IntN(len(a.under)), codes[random.IntN(len(codes))])
		}
	}
}

// settle answers a slot.
func (a *actor) settle(i int, code sms.Code) {
	slot := a.under[i]
	link, id := slot.Link, slot.Message.ID
	a.answerSlot(i, code)
	switch {
	case code == sms.Timeout:
		a.late = append(a.late, lateSlot{link, id})
	case code == sms.OK || !code.Retryable():
		a.ended[id] = true
	}
}

// end ends a session.
func (a *actor) end(i int) {
	l := a.sessions[i]
	a.sessions = slices.Delete(a.sessions, i, i+1)
	a.late = slices.DeleteFunc(a.late, func(s lateSlot) bool { return s.link == l })
	a.lose(l)
}

func (a *actor) answerLate() {
	if len(a.late) == 0 {
		return
	}
	i := a.random.IntN(len(a.late))
	s := a.late[i]
	a.late = slices.Delete(a.late, i, i+1)
	code := []sms.Code{sms.OK, sms.Rejected, sms.Throttled}[a.random.IntN(3)]
	a.AnsweredLate(s.link, s.id, sms.Answer{Code: code, At: a.now})
	if code != sms.Throttled {
		a.ended[s.id] = true
	}
}

// check compares what there is with what must be.
func (a *actor) check() {
	a.t.Helper()
	a.Publish()
	var waiting, scheduled int64
	a.Shares(func(s *Share) {
		waiting += int64(s.queue.Len())
		scheduled += s.Origin.Tally.Scheduled.Load()
	})
	waiting += int64(len(a.suspects.waiting))
	under := int64(len(a.under))
	if length := a.Stats.QueueLength.Load(); length != waiting || a.Stats.InFlight.Load() != under {
		a.t.Fatalf("seed %d: %d wait and %d are under way, shown are %d and %d", a.seed, waiting, under, length, a.Stats.InFlight.Load())
	}
	if queued := a.Queued.Load(); queued != waiting+under-scheduled {
		a.t.Fatalf("seed %d: %d queued, but %d wait, %d of them scheduled, and %d are under way", a.seed, queued, waiting, scheduled, under)
	}
	for _, l := range a.sessions {
		if n := windowOf(l); !l.dropped && n != l.Connector.Config().Window {
			a.t.Fatalf("seed %d: %d slots in a window of %d", a.seed, n, l.Connector.Config().Window)
		}
	}
}

// windowOf counts the slots of a session, wherever they are.
func windowOf(l *Link) int {
	n := l.used + l.unused + len(l.aside) + len(l.frozen)
	for _, slot := range l.slots {
		if slot.next != nil {
			n++
		}
	}
	return n
}
