package session_test

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/roomtest"
	"pmg/gateway/session"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

// A request is what the port keeps of a PDU.
type request struct {
	toy.PDU
	gone string // how it was released, which happens once
	last bool
}

// A port is an architecture without sockets. Its lanes run immediately.
type port struct {
	t        *testing.T
	g        *gateway.Gateway
	c        *session.Conversation[*request]
	clients  *connector.Connector
	operator *connector.Connector
	now      int64
	from     string // that clients connect from; "": 192.0.2.1
	open     int    // requests that were not released yet
	order    []*request
	checks   []func()
	hung     map[*connector.Link]string
	bound    map[*connector.Link]int
	leaving  map[*connector.Link]int
	queued   []*sms.Message
	late     []connector.Unanswered
	codes    []sms.Code                  // of the late answers
	storing  []session.Pending[*request] // messages that wait for their commit
	commits  chan<- error                // that have ended; nil: none is waited for

	elsewhere bool // the sessions that are to be logged out belong to other conversations
}

func newPort(t *testing.T, options string) *port {
	g, clients, operator := start(t, options)
	return portOf(t, g, clients, operator)
}

func portOf(t *testing.T, g *gateway.Gateway, clients, operator *connector.Connector) *port {
	p := &port{
		t: t, g: g, clients: clients, operator: operator, now: now,
		hung: map[*connector.Link]string{}, bound: map[*connector.Link]int{}, leaving: map[*connector.Link]int{},
	}
	p.g.Node.Clock.EngineClock = func() int64 { return p.now }
	p.c = session.NewConversation[*request](p.g.Sessions, p, 1)
	t.Cleanup(func() {
		if p.open != 0 {
			t.Errorf("%d requests were not released", p.open)
		}
	})
	return p
}

func (p *port) gone(r *request, how string) {
	p.t.Helper()
	if r.gone != "" {
		p.t.Errorf("a request was released twice: %s, %s", r.gone, how)
	}
	p.open--
	r.gone = how
}

func (p *port) New(*connector.Link) *request       { p.open++; return &request{} }
func (p *port) PDU(r *request) protocols.PDU       { return &r.PDU }
func (p *port) Drop(_ *connector.Link, r *request) { p.gone(r, "dropped") }
func (p *port) TickAt(int64)                       {}
func (p *port) IsAbout(*request, uint64)           {}
func (p *port) IsRefusal(*request, sms.Refusal)    {}
func (p *port) Unanswered(int64, *connector.Slot)  {}

func (p *port) Send(_ int64, _ *connector.Link, r *request, last bool, _ string) {
	p.gone(r, "sent")
	r.last = last
	p.order = append(p.order, r)
}

func (p *port) HandOver(*connector.Link, *request)      {}
func (p *port) Hangup(l *connector.Link, reason string) { p.hung[l] = reason }

func (p *port) Check(l *connector.Link, r *request, check func(), then func(int64)) {
	p.checks = append(p.checks, func() { check(); then(p.now) })
}

func (p *port) Store(_ int64, m session.Pending[*request]) { p.storing = append(p.storing, m) }

func (p *port) Queue(_ int64, _ *connector.Share, m *sms.Message) { p.queued = append(p.queued, m) }

func (p *port) Answered(_ int64, _ *connector.Link, r *request, _ *connector.Slot, _ sms.Code) {
	p.gone(r, "answered")
}

func (p *port) AnsweredLate(_ int64, _ *connector.Link, r *request, u connector.Unanswered, code sms.Code) {
	p.gone(r, "answered late")
	p.late, p.codes = append(p.late, u), append(p.codes, code)
}

// Logout logs out of sessions, or later if they are those of another conversation.
func (p *port) Logout(match func(*connector.Link) bool) {
	if p.elsewhere {
		p.checks = append(p.checks, func() { p.logout(match) })
		return
	}
	p.logout(match)
}

func (p *port) logout(match func(*connector.Link) bool) {
	p.clients.Links(func(l *connector.Link) {
		if match(l) {
			p.c.Unbind(p.now, l)
		}
	})
}

func (p *port) Bound(_ int64, l *connector.Link, _ bool) { p.bound[l]++ }
func (p *port) LoggingOut(_ int64, l *connector.Link)    { p.leaving[l]++ }

// link begins a client's session.
func (p *port) link() *connector.Link {
	l := &connector.Link{}
	l.Open(p.clients.Acquire(), netip.MustParseAddrPort(cmp.Or(p.from, "192.0.2.1:1")), p.now, nil)
	l.Instance.SetLink(l)
	p.g.Logins.Prebind.Enter(0, l.Remote.Addr(), false)
	return l
}

// receive plays a PDU of the peer.
func (p *port) receive(l *connector.Link, kind protocols.ActionKind, fill func(*request)) *request {
	p.open++
	r := &request{PDU: toy.PDU{Action: protocols.Action{Kind: kind}}}
	if fill != nil {
		fill(r)
	}
	p.c.Receive(p.now, l, r)
	p.c.Flush()
	return r
}

func (p *port) submit(l *connector.Link) *request { return p.receive(l, protocols.Message, nil) }

// login plays a client's login.
func (p *port) login(l *connector.Link, id, password string) *request {
	return p.receive(l, protocols.Login, func(r *request) {
		r.Action.Credentials = protocols.Credentials{SystemID: []byte(id), Password: []byte(password), Bind: protocols.Transceiver}
	})
}

// client returns a session that has logged in.
func (p *port) client() *connector.Link {
	p.t.Helper()
	l := p.link()
	if r := p.login(l, "client", "secret"); r.gone != "sent" || r.Code != sms.OK || p.bound[l] != 1 {
		p.t.Fatalf("login: %+v", r)
	}
	return l
}

// want checks how a request was released and answered.
func (p *port) want(why string, r *request, gone string, code sms.Code) {
	p.t.Helper()
	if r.gone != gone || gone == "sent" && (!r.Answered || r.Code != code) {
		p.t.Errorf("%s: %q, answered %t with %s; want %q, %s", why, r.gone, r.Answered, r.Code, gone, code)
	}
}

// fill takes all room in the queue.
func (p *port) fill() (s *connector.Share, free func(int64)) {
	s = p.g.Table.Share(p.g.Table.LaneOf(p.operator), p.g.Node.Origins.Of("client", "clients"))
	s.SetPercent(100)
	roomtest.Occupy(s, int64(p.operator.Config().MaxQueue))
	return s, func(n int64) { roomtest.Occupy(s, -n); p.c.Room(p.now, s.Lane); p.c.Flush() }
}

// wantFree checks that nothing is counted as waiting.
func (p *port) wantFree() {
	p.t.Helper()
	if n := p.c.Left(); n != (session.Left{}) || p.g.Node.Memory.Used() != 0 || p.c.Tick(p.now+3600*second) != 0 {
		p.t.Errorf("%+v are left, %d octets", n, p.g.Node.Memory.Used())
	}
}

// A submit is answered with the message's id, counted and queued.
func TestSubmit(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.client()
	r := p.submit(l)
	p.want("submit", r, "sent", sms.OK)
	lane := p.g.Table.LaneOf(p.operator)
	if len(p.queued) != 1 || r.ID != p.queued[0].ID || lane.Queued.Load() != 1 || p.g.Node.Memory.Used() != p.queued[0].Size() || p.clients.Stats.Accepted.Load() != 1 {
		t.Errorf("%d queued, %d counted, %d octets", len(p.queued), lane.Queued.Load(), p.g.Node.Memory.Used())
	}
	p.c.Over(p.now, l)
	p.want("after the end", p.submit(l), "dropped", 0)
}

// Submits wait for room, are accepted in order, and are refused when they have waited too
// long.
func TestSubmitWaits(t *testing.T) {
	t.Parallel()
	p := newPort(t, "max_queue: 10, queue_wait: 2s")
	l := p.client()
	s, free := p.fill()
	a, b, c := p.submit(l), p.submit(l), p.submit(l)
	if a.gone+b.gone+c.gone != "" || s.WaitingForRoom() != 3 || l.WaitingForRoom != 3 {
		t.Fatalf("%d are held", s.WaitingForRoom())
	}
	free(1)
	p.want("there is room for one", a, "sent", sms.OK)
	p.want("and not for another", b, "", 0)
	p.now += 2 * second
	p.c.Tick(p.now)
	p.want("too long", b, "sent", sms.QueueFull)
	p.want("too long", c, "sent", sms.QueueFull)
	if s.WaitingForRoom() != 0 || l.WaitingForRoom != 0 || p.g.Node.Memory.Used() != p.queued[0].Size() || p.clients.Stats.Refused.Load() != 2 {
		t.Errorf("%d are held, %d octets", s.WaitingForRoom(), p.g.Node.Memory.Used())
	}
}

// F10: waiting requests are answered before the last PDU of a session, whichever side
// logs out.
func TestSettled(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"we log out", "the session logs out", "the peer logs out", "the peer logs out, and its requests come back"} {
		p := newPort(t, "max_queue: 10")
		l := p.client()
		_, _ = p.fill()
		held := p.submit(l)
		p.open++
		delayed := &request{}
		p.c.Answer(p.now, l, delayed, sms.OK, 1, p.now+second)
		p.order = nil
		switch who {
		case "we log out":
			p.c.Unbind(p.now, l)
			p.c.Unbind(p.now, l) // again, by an operator
			if len(p.order) != 0 {
				t.Error("we log out before it is known that nothing is under way")
			}
			p.c.Quiet(p.now, l)
		case "the session logs out":
			p.receive(l, protocols.Logout, nil)
		case "the peer logs out":
			p.receive(l, protocols.SendClose, nil)
		default:
			p.receive(l, protocols.Drain, nil)
			p.c.Quiet(p.now, l)
		}
		p.want(who, held, "sent", sms.QueueFull)
		p.want(who, delayed, "sent", sms.OK)
		last := who[:3] == "the" && who != "the session logs out"
		if n := len(p.order); n != 3 || p.order[0] != delayed || p.order[1] != held || p.order[2].last != last || p.leaving[l] == 0 {
			t.Errorf("%s: %d PDUs are sent, %d times no more messages", who, n, p.leaving[l])
		}
		p.c.Over(p.now, l)
		p.wantFree()
	}
}

// A session may end while a login waits, is being checked, or was refused; while a submit
// waits and answers are delayed; and while PDUs wait behind a login.
func TestOver(t *testing.T) {
	t.Parallel()
	p := newPort(t, "max_queue: 10")
	l := p.client()
	_, _ = p.fill()
	p.want("waits", p.submit(l), "", 0)
	p.c.Over(p.now, l)
	p.wantFree()

	l = p.link()
	refused := p.login(l, "client", "wrong")
	p.want("refused later", refused, "", 0)
	p.want("nothing is done for it any more", p.submit(l), "dropped", 0)
	p.c.Unbind(p.now, l)
	waits := p.link()
	login, behind := p.login(waits, "client", "wrong"), p.submit(waits)
	p.want("waits for its time", login, "", 0)
	p.want("waits behind a login", behind, "", 0)
	p.c.Over(p.now, waits)
	p.want("the login", login, "dropped", 0)
	p.want("behind it", behind, "dropped", 0)
	p.now += 2 * second
	p.c.Tick(p.now)
	if p.want("refused", refused, "sent", sms.BindFailed); !refused.last {
		t.Error("the session does not end with the refusal")
	}
	p.c.Over(p.now, l)
	p.wantFree()
}

// startHashed makes a gateway with an account whose password is hashed.
func startHashed(t *testing.T) (*gateway.Gateway, *connector.Connector) {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	g := startWith(t, fmt.Sprintf(`
pdulog: {enabled: false}
accounts: {system_id: hashed, password: %q}
connectors: {name: clients, direction: in, address: "127.0.0.1:0"}
`, hash))
	return g, g.Table.Connector("clients")
}

// F2: a session may end while its password is being checked. It is not bound then.
func TestOverWhileHashing(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"over", "logged out", "no"} {
		g, clients := startHashed(t)
		p := portOf(t, g, clients, nil)
		l := p.link()
		login := p.login(l, "hashed", "secret")
		if len(p.checks) != 1 {
			t.Fatal("the password is not checked")
		}
		behind := p.receive(l, protocols.Send, nil)
		gone := "dropped"
		switch end {
		case "over":
			p.c.Over(p.now, l)
		case "logged out":
			p.c.Unbind(p.now, l)
		default:
			gone = "sent"
		}
		p.checks[0]()
		if login.gone != gone || behind.gone != gone || (p.bound[l] == 1) != (end == "no") {
			t.Errorf("%s: the login is %s, the PDU behind it %s, bound %d", end, login.gone, behind.gone, p.bound[l])
		}
		if end != "over" {
			p.c.Over(p.now, l)
		}
		p.wantFree()
	}
}

// F24, H14: messages from an SMSC do not wait for room, because the answers to our
// own requests would wait behind them.
func TestMODoesNotWait(t *testing.T) {
	t.Parallel()
	mo := func(routes string) (*port, *connector.Link, func() *request) {
		g := startWith(t, strings.Replace(roomtest.Operator("max_queue: 10"), "routes: [{to: operator}]", routes, 1))
		p := portOf(t, g, g.Table.Connector("clients"), g.Table.Connector("operator"))
		l := &connector.Link{}
		l.Open(p.operator.Acquire(), netip.AddrPort{}, p.now, nil)
		l.Origin = p.g.Node.Origins.Of("", "operator")
		return p, l, func() *request { return p.receive(l, protocols.Message, func(r *request) { r.Kind = sms.MO }) }
	}
	p, _, comes := mo("routes: [{to: operator}]")
	p.want("no route leads anywhere", comes(), "sent", sms.Rejected)

	p, l, comes := mo("routes: [{to: {account: client}}]")
	p.want("there is room", comes(), "sent", sms.OK)
	s := p.g.Table.Share(p.g.Table.AccountLane(p.g.Node.Config(), "client"), l.Origin)
	roomtest.Occupy(s, 1_000_000)
	p.want("no room", comes(), "sent", sms.QueueFull)
}

// F25: while the gateway stops, a submit is answered with queue full, which clients treat
// as temporary.
func TestSubmitDraining(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.client()
	p.g.Node.Drain()
	p.want("draining", p.submit(l), "sent", sms.QueueFull)
}

// F16: scheduled messages have limits of their own: how many an account may have,
// and how far ahead. They take no place in the queue.
func TestScheduled(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.client()
	at := func(d time.Duration) *request {
		return p.receive(l, protocols.Message, func(r *request) { r.DeliverAt = p.now + int64(d) })
	}
	p.want("past the horizon", at(time.Hour+1), "sent", sms.BadSchedule)
	p.want("at it", at(time.Hour), "sent", sms.OK)
	p.want("in the past", at(-time.Hour), "sent", sms.OK)
	p.want("second", at(time.Minute), "sent", sms.OK)
	p.want("third", at(time.Minute), "sent", sms.QueueFull)
	p.want("not scheduled", p.submit(l), "sent", sms.OK)
	if n := p.g.Pending(); n != 2 || p.g.Scheduled() != 2 || l.Origin.Tally.Scheduled.Load() != 2 {
		t.Errorf("%d take a place, %d are scheduled", n, l.Origin.Tally.Scheduled.Load())
	}
}

// F6: beyond the memory that messages may take, submits are refused and do not wait.
func TestMemoryFull(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.client()
	p.g.Node.Memory.SetLimit(500)
	p.want("the first", p.submit(l), "sent", sms.OK)
	p.want("full", p.submit(l), "sent", sms.QueueFull)
	if l.WaitingForRoom != 0 {
		t.Error("a submit waits for memory")
	}
	p.g.Table.Share(p.g.Table.LaneOf(p.operator), l.Origin).Use(-p.queued[0].Size())
	p.want("free again", p.submit(l), "sent", sms.OK)
}

// F7: no account has more than its part of the submits that may wait.
func TestHeldBound(t *testing.T) {
	t.Parallel()
	p := newPort(t, "max_queue: 10")
	cfg := *p.g.Node.Config()
	cfg.Limits.MaxJobs = 16
	p.g.Node.SetConfig(&cfg)
	l := p.client()
	s, _ := p.fill()
	var codes []string
	for range 4 {
		r := p.submit(l)
		codes = append(codes, fmt.Sprint(r.gone, r.Code))
	}
	if s.WaitingForRoom() != 2 || fmt.Sprint(codes) != "[ok ok sentqueue_full sentqueue_full]" {
		t.Errorf("%d held, %q", s.WaitingForRoom(), codes)
	}
	p.c.Over(p.now, l)
	p.wantFree()
}

// An answer finds its request, even if that was given up (F18). An answer without a
// request is counted.
func TestAnswers(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := &connector.Link{}
	l.Open(p.operator.Acquire(), netip.AddrPort{}, p.now, nil)
	for n := range uint32(2) {
		slot := &connector.Slot{Sequence: n + 1, Message: &sms.Message{ID: uint64(n) + 100}}
		l.Inflight.Free(slot.Sequence, 10)
		l.Inflight.Put(slot)
	}
	answer := func(n uint32) *request {
		return p.receive(l, protocols.Answered, func(r *request) { r.Action.Sequence = n })
	}
	l.GiveUp(l.Inflight.Take(2), nil)
	l.Enter(connector.Ended) // answers to our own requests count until the end
	p.want("answered", answer(1), "answered", 0)
	p.want("late", answer(2), "answered late", 0)
	p.want("late twice", answer(2), "dropped", 0)
	p.want("unknown", answer(7), "dropped", 0)
	if len(p.late) != 1 || p.late[0].ID != 101 || p.operator.Stats.Unmatched.Load() != 2 {
		t.Errorf("late %v, %d unmatched", p.late, p.operator.Stats.Unmatched.Load())
	}
}

// A late answer to a request of another kind accepts nothing, as one in time.
func TestLateAnswerOfAnotherKind(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := &connector.Link{}
	l.Open(p.operator.Acquire(), netip.AddrPort{}, p.now, nil)
	for n := range uint32(4) { // two messages and two operations, of which the first are answered as the others
		slot := &connector.Slot{Sequence: n, Message: &sms.Message{ID: uint64(n) + 100}}
		if n >= 2 {
			slot.Inquiry = &connector.Inquiry{}
		}
		l.GiveUp(slot, nil)
		p.receive(l, protocols.Answered, func(r *request) { r.Action.Sequence, r.Action.Asked = n, n == 0 || n == 3 })
	}
	if want := []sms.Code{sms.TemporaryFailure, sms.OK, sms.TemporaryFailure, sms.OK}; !slices.Equal(p.codes, want) {
		t.Errorf("got %v, want %v", p.codes, want)
	}
}

// A client whose login is refused may leave before it has its answer, or before the gateway
// has ended the session. The log says why it was over all the same.
func TestRefusedLoginIsTheReason(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.link()
	r := p.login(l, "client", "wrong")
	l.BeginClosing("the peer closed the connection")
	if l.Reason() != "login refused" {
		t.Errorf("it is over because %s", l.Reason())
	}
	p.c.Over(p.now, l)
	if r.gone != "dropped" {
		t.Errorf("the login was %s", r.gone)
	}
}
