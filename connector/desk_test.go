package connector

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pmg/config"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

const (
	start  = int64(1_800_000_000_000_000_000) // an arbitrary time
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

// A clerk is a policy. It returns a message to its queue if another attempt may succeed.
type clerk struct {
	pause    int64 // after Throttled
	aside    int64 // how long a message waits after another temporary failure
	fail     bool  // a message without an answer is given up
	writes   bool  // what is sent again is on the disk as it is then, in batch 1
	draining bool
	halted   bool
	ended    []sms.Code
	endedAs  []string       // recipient, attempts, whether it was settled before, and times sent; nil: they are not noted
	doubled  []sms.Code     // answers to copies of messages that had ended
	blamed   map[uint64]int // times a session ended with only this message under way, by id

	passage func(*Slot) Passage // what was decided about a message that is about to leave; nil: nobody is asked
	parked  []string            // why messages were put aside that were held as they were to leave

	failover  *Lane                   // the lane that takes messages which were answered; nil: none
	elsewhere *Lane                   // the lane for rerouted messages; nil: they have no route
	stays     func(*sms.Message) bool // reports whether a message has no other route; nil: all have one
	asked     int                     // calls of Reroute
	moved     int                     // messages that moved because their lane was down
	holdsOver int                     // holds that have ended by their time

	tried         []uint64 // ids of messages after each attempt that did not end them
	notes, stayed []uint64 // ids of messages that were about to leave, and that have not left
	noted         uint64   // how many of the notes are safe

	disk  *disk           // nil: there is none
	onEnd func(id uint64) // called when a message has failed or expired; may be nil
}

func (c *clerk) policy() *Policy { return &Policy{c, c, c, c, c, c, c} }

func (c *clerk) IsOpen(*Lane) bool { return c.passage == nil }

func (c *clerk) Check(_ int64, s *Slot) Passage { return c.passage(s) }

func (c *clerk) Hold(_ *Lane, m *sms.Message, why string) {
	c.parked = append(c.parked, fmt.Sprint(why, ", sent ", m.Sends))
}

func (c *clerk) Settle(l *Lane, m *sms.Message, a sms.Answer, alone bool) (o Outcome) {
	if o = c.settle(l, m, a, alone); o.Again && c.writes {
		c.disk.write(m)
		o.Kept = 1
	}
	return o
}

func (c *clerk) settle(_ *Lane, m *sms.Message, a sms.Answer, alone bool) (o Outcome) {
	switch {
	case c.failover != nil:
		return Outcome{To: c.failover.Queues.Share(m.Origin, 100)}
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

func (c *clerk) Tried(_ *Lane, m *sms.Message, _ sms.Answer, _ int64) {
	c.tried = append(c.tried, m.ID)
}

func (c *clerk) Ended(_ *Lane, m *sms.Message, a sms.Answer, _ int64) {
	if c.endedAs != nil {
		c.endedAs = append(c.endedAs, fmt.Sprintf("%s %d %v %d", m.Dest().Addr, m.Attempts, m.Flags&sms.Settled != 0, m.Sends))
	}
	if a.Code == sms.OK {
		return
	}
	c.ended = append(c.ended, a.Code)
	if c.onEnd != nil {
		c.onEnd(m.ID)
	}
}

func (c *clerk) Doubled(_ *Lane, _ *sms.Message, a sms.Answer) { c.doubled = append(c.doubled, a.Code) }

func (c *clerk) Reroute(l *Lane, m *sms.Message, always bool) *Share {
	c.asked++
	if c.elsewhere == nil || !always && !c.elsewhere.Up() || c.stays != nil && c.stays(m) {
		return nil
	}
	return c.elsewhere.Queues.Share(m.Origin, 100)
}

func (c *clerk) HoldOver(*Lane)                        { c.holdsOver++ }
func (c *clerk) Moved(_ *Lane, n int, _ time.Duration) { c.moved += n }
func (c *clerk) Leaves(_ *Lane, m *sms.Message) uint64 {
	c.notes = append(c.notes, m.ID)
	return uint64(len(c.notes))
}
func (c *clerk) IsStored(token uint64) bool               { return token <= c.noted }
func (c *clerk) Stays(_ *Lane, m *sms.Message)            { c.stayed = append(c.stayed, m.ID) }
func (c *clerk) Draining() bool                           { return c.draining }
func (c *clerk) Halted(int64) bool                        { return c.halted }
func (c *clerk) Disconnected(int64, *Link, time.Duration) {}
func (c *clerk) Durable() bool                            { return c.disk != nil }
func (c *clerk) Load(l *Lane, ids []uint64)               { c.disk.asked(l, ids) }
func (c *clerk) Unreadable(_ *Lane, _ *Share, id uint64) {
	c.disk.unreadable = append(c.disk.unreadable, id)
}

// A desk is a lane whose sessions are played by the test.
type desk struct {
	*Lane
	*clerk
	Connector *Connector // the lane's home
	Stats     *Stats
	t         testing.TB
	now       int64
	used      *Memory
	pool      sms.Pool
	origins   map[string]*sms.Origin
	lastID    uint64
	dialed    []*Instance
	under     []*Slot // under way
	others    bool    // other lanes have messages of the same accounts
	hand      hand    // carries what leaves by all sessions
}

// A hand is a courier that keeps what it is given.
type hand struct {
	given  []*Slot
	quiets int
}

func (h *hand) Give(_ int64, s *Slot) { h.given = append(h.given, s) }
func (h *hand) Quiet(int64)           { h.quiets++ }

func newDesk(t testing.TB, more string) *desk {
	d := &desk{t: t, now: start, clerk: &clerk{pause: 2 * second, aside: 5 * second, blamed: map[uint64]int{}}, used: &Memory{}, origins: map[string]*sms.Origin{}}
	d.Connector = New(0, options(t, more), toy.New(), d.used)
	d.Stats = d.Connector.Stats
	d.Lane = NewLane(d.Connector, "", d.clerk.policy())
	d.dialed = d.Window.Attach()
	return d
}

// share returns an account's share of the lane.
func (d *desk) share(account string) *Share {
	o := d.origins[account]
	if o == nil {
		o = &sms.Origin{Account: account, Connector: "clients", Tally: &sms.Tally{}}
		d.origins[account] = o
	}
	return d.Queues.Share(o, 100)
}

// accept accepts a message of an account, as the gateway does.
func (d *desk) accept(account string, fill func(*sms.Message)) (*Share, *sms.Message) {
	s, m := d.share(account), d.pool.Get()
	d.lastID++
	m.ID, m.Origin, m.Arrived = d.lastID, s.Origin, d.now
	if fill != nil {
		fill(m)
	}
	s.Enter(m, d.now)
	return s, m
}

// submit adds messages of an account.
func (d *desk) submit(account string, n int, fill func(*sms.Message)) {
	for range n {
		s, m := d.accept(account, fill)
		d.Queues.Push(d.now, s, m)
	}
}

// connect logs in the instance that was dialed first.
func (d *desk) connect() *Link {
	l := &Link{}
	l.Open(d.dialed[0], netip.AddrPort{}, d.now, &d.hand)
	l.BoundAt, l.Lane = d.now, d.Lane
	l.Instance.SetLink(l)
	d.dialed = d.dialed[1:]
	d.Window.Bound(l, true)
	return l
}

// send calls Next until nothing can leave. It returns the number of messages and dials, and
// the time of the next call.
func (d *desk) send() (messages, dials int, again int64) {
	for {
		slot, at := d.Next(d.now)
		switch {
		case slot == nil:
			return messages, dials, at
		case slot.Outlet == nil:
			dials++
			d.dialed = append(d.dialed, slot.Instance)
		default:
			messages++
			d.under = append(d.under, slot)
		}
	}
}

// take removes and returns the i-th slot that is under way.
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

// lose ends a session: its slots are removed, then its messages return, then its socket is
// closed.
func (d *desk) lose(l *Link) {
	d.Window.Over(&l.Outlet)
	for i := 0; i < len(d.under); {
		if d.under[i].Link == l {
			d.answerSlot(i, sms.Lost)
		} else {
			i++
		}
	}
	if d.Window.Closed(d.now, l) {
		d.dialed = append(d.dialed, l.Instance)
	}
}

func (d *desk) want(why string, messages, dials int, again int64) {
	d.t.Helper()
	if m, n, at := d.send(); m != messages || n != dials || at != again {
		d.t.Errorf("%s: %d messages leave, %d dials, again at now+%d; want %d, %d, now+%d", why, m, n, at-d.now, messages, dials, again-d.now)
	}
}

// wantEmpty checks that all counters of current messages are 0.
func (d *desk) wantEmpty() {
	d.t.Helper()
	d.Publish()
	for what, n := range map[string]int64{
		"queued": d.Queued.Load(), "held": d.WaitingForRoom.Load(), "memory": d.used.Used(), "length": d.Stats.Queued.Load(),
		"in flight": d.Stats.InFlight.Load(), "unknown": int64(len(d.Queues.unknown)),
	} {
		if n != 0 {
			d.t.Errorf("%s: %d when everything has ended", what, n)
		}
	}
	var byAccount [3]int64
	d.Queues.Shares(func(s *Share) {
		for i, n := range []int64{s.Origin.Tally.Sent.Load(), s.Origin.Tally.Failed.Load(), s.Origin.Tally.Expired.Load()} {
			byAccount[i] += n
		}
		if n := s.Queued(); n != 0 {
			d.t.Errorf("share of %q: %d queued when everything has ended", s.Origin.Account, n)
		}
		if n := s.Origin.Tally.Scheduled.Load(); n != 0 {
			d.t.Errorf("%q: %d scheduled when everything has ended", s.Origin.Account, n)
		}
	})
	for i, n := range []int64{d.Stats.Sent.Load(), d.Stats.Failed.Load(), d.Stats.Expired.Load()} { // U8
		if byAccount[i] < n || byAccount[i] > n && !d.others {
			d.t.Errorf("sent, failed, expired %d: %d, by account %d", i, n, byAccount[i])
		}
	}
}
