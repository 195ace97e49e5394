package session_test

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/queue"
	"pmg/gateway"
	"pmg/gateway/keep"
	"pmg/gateway/session"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
	"pmg/store"
)

// A crowd is an architecture with several conversations, each on a goroutine of its own, and one dispatcher.
type crowd struct {
	gateway.Engine
	t        *testing.T
	g        *gateway.Gateway
	clients  *connector.Connector
	operator *connector.Connector
	groups   []*group
	ahead    atomic.Int64 // of the clock
	done     sync.WaitGroup
	quit     chan struct{}

	mu         sync.Mutex
	dispatched []dispatched // in the order in which the dispatcher got them
}

// A dispatched is a message that the dispatcher has got.
type dispatched struct {
	text    string
	known   uint64 // of a receipt
	state   sms.State
	arrived int64
	id      uint64
}

// A durable is a store in memory that counts as one on a disk.
type durable struct{ store.Store }

func (durable) Durable() bool { return true }
func (durable) Tidy()         {}

// newCrowd makes a gateway with n conversations. With a disk, messages are stored before they are answered.
func newCrowd(t *testing.T, n int, disk bool, options string) *crowd {
	g, clients, operator := start(t, options)
	w := &crowd{t: t, g: g, clients: clients, operator: operator, quit: make(chan struct{})}
	began := time.Now()
	g.Node.Clock.EngineClock = func() int64 { return now + int64(time.Since(began)) + w.ahead.Load() }
	if disk {
		if err := g.Keep(durable{store.NewMemory()}); err != nil {
			t.Fatal(err)
		}
	}
	g.Keeper.Begin(w)
	g.Keeper.Outgoing.Begin(w.Do)
	for range n {
		p := &group{crowd: w, wake: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
		p.c = session.NewConversation[*call](g.Sessions, p, n)
		w.groups = append(w.groups, p)
	}
	for _, p := range w.groups {
		w.done.Go(p.run)
	}
	t.Cleanup(w.end)
	return w
}

// end ends the conversations, and checks that nothing is left.
func (w *crowd) end() {
	w.settle()
	for i, p := range w.groups {
		var left session.Left
		w.on(p, func(int64) { left = p.c.Left() })
		if left != (session.Left{}) {
			w.t.Errorf("conversation %d has left %+v", i, left)
		}
	}
	close(w.quit)
	w.done.Wait()
	if n := w.g.Node.Memory.Used(); n != 0 {
		w.t.Errorf("%d octets are left", n)
	}
	if err := w.g.Close(); err != nil {
		w.t.Error(err)
	}
}

// settle returns when each conversation has nothing left to do.
func (w *crowd) settle() {
	for busy := true; busy; {
		busy = w.g.Keeper.Storing.Load() > 0
		for _, p := range w.groups {
			w.on(p, func(int64) { n := p.c.Left(); busy = busy || n.Turns+n.Searches+n.Held+n.Logins > 0 })
		}
		time.Sleep(time.Millisecond)
	}
	_ = w.g.Keeper.Batches.Sync()
}

// on runs f where the PDUs of a group are received, and returns when its batch has been passed on.
func (w *crowd) on(p *group, f func(now int64)) {
	ran := make(chan struct{})
	p.post(func(now int64) { f(now); close(ran) })
	<-ran
}

// Committed implements keep.Engine.
func (w *crowd) Committed(upTo store.Position, err error) {
	for _, p := range w.groups {
		p.post(func(now int64) { p.committed(now, upTo, err) })
	}
}

// Do implements keep.Engine.
func (w *crowd) Do(l *connector.Lane, f func(now int64)) bool {
	w.mu.Lock()
	at := w.g.Node.Clock.Now()
	f(at)
	l.Queues.Shares(func(s *connector.Share) {
		var all []queue.Waiting
		l.Queues.EachWaiting(s, func(m queue.Waiting, _ *sms.Message) { all = append(all, m) })
		for _, one := range all {
			if m, found := l.Queues.Remove(at, s, one); found {
				w.leave(m)
				m.Release()
			}
		}
	})
	w.mu.Unlock()
	w.room(l)
	return true
}

// Logout implements gateway.Service.
func (w *crowd) Logout(match func(*connector.Link) bool) {
	for _, p := range w.groups {
		p.post(func(now int64) { p.logout(now, match) })
	}
}

// dispatch takes messages, which have left then.
func (w *crowd) dispatch(all []queued) {
	w.mu.Lock()
	for _, q := range all {
		w.leave(q.m)
		q.share.Leave(q.m)
		q.m.Release()
	}
	w.mu.Unlock()
	for _, q := range all {
		w.room(q.share.Lane)
	}
}

// leave notes a message that the dispatcher has. The caller holds the lock.
func (w *crowd) leave(m *sms.Message) {
	one := dispatched{text: string(m.Text()), arrived: m.Arrived, id: m.ID}
	if r, ok := m.Report(); ok {
		one.known, one.state = r.Known, r.State
	}
	w.dispatched = append(w.dispatched, one)
}

// room says that there is room in a lane.
func (w *crowd) room(l *connector.Lane) {
	if l.WaitingForRoom.Load() == 0 {
		return
	}
	for _, p := range w.groups {
		p.post(func(now int64) { p.c.Room(now, l) })
	}
}

// taken returns what the dispatcher has got.
func (w *crowd) taken() []dispatched {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]dispatched(nil), w.dispatched...)
}

// A group is a conversation on its goroutine. Only post may be called by others.
type group struct {
	crowd   *crowd
	c       *session.Conversation[*call]
	wake    chan struct{}
	timer   *time.Timer
	tickAt  int64
	now     int64
	queued  []queued
	storing []stored
	links   []*connector.Link

	mu    sync.Mutex
	inbox []func(now int64)
}

// A call is a PDU until it is released, when over is closed.
type call struct {
	toy.PDU
	how  string
	over chan struct{}
}

type queued struct {
	share *connector.Share
	m     *sms.Message
}

type stored struct {
	session.Pending[*call]
	at store.Position
}

func newCall(kind protocols.ActionKind) *call {
	return &call{PDU: toy.PDU{Action: protocols.Action{Kind: kind}}, over: make(chan struct{})}
}

func (p *group) post(f func(now int64)) {
	p.mu.Lock()
	p.inbox = append(p.inbox, f)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *group) run() {
	for {
		select {
		case <-p.wake:
		case <-p.timer.C:
		case <-p.crowd.quit:
			return
		}
		p.batch()
	}
}

// batch does what the stages do with a batch.
func (p *group) batch() {
	p.mu.Lock()
	all := p.inbox
	p.inbox = nil
	p.mu.Unlock()
	if p.now = p.crowd.g.Node.Clock.Now(); p.tickAt != 0 && p.now >= p.tickAt {
		p.tickAt = 0
		if next := p.c.Tick(p.now); next != 0 {
			p.TickAt(next)
		}
	}
	for _, f := range all {
		f(p.now)
	}
	p.c.Flush()
	p.crowd.g.Keeper.Commit()
	out := p.queued
	p.queued = nil
	p.crowd.dispatch(out)
}

func (p *group) committed(now int64, upTo store.Position, err error) {
	for len(p.storing) > 0 && !p.storing[0].at.After(upTo) {
		s := p.storing[0]
		p.storing = p.storing[1:]
		p.c.Stored(now, s.Pending, keep.CodeOf(err))
	}
}

func (p *group) logout(now int64, match func(*connector.Link) bool) {
	for _, l := range p.links {
		if l.Phase != connector.Over && match(l) {
			p.c.Unbind(now, l)
		}
	}
}

func (p *group) release(r *call, how string) {
	if r.how != "" {
		p.crowd.t.Errorf("a request was released twice: %s, %s", r.how, how)
		return
	}
	r.how = how
	close(r.over)
}

func (p *group) New(*connector.Link) *call                                  { return newCall(protocols.None) }
func (p *group) PDU(r *call) protocols.PDU                                  { return &r.PDU }
func (p *group) Drop(_ *connector.Link, r *call)                            { p.release(r, "dropped") }
func (p *group) HandOver(*connector.Link, *call)                            {}
func (p *group) Hangup(*connector.Link, string)                             {}
func (p *group) IsAbout(*call, uint64)                                      {}
func (p *group) IsRefusal(*call, sms.Refusal)                               {}
func (p *group) Unanswered(int64, *connector.Slot)                          {}
func (p *group) Bound(int64, *connector.Link, bool)                         {}
func (p *group) LoggingOut(int64, *connector.Link)                          {}
func (p *group) Send(_ int64, _ *connector.Link, r *call, _ bool, _ string) { p.release(r, "sent") }

func (p *group) Answered(_ int64, _ *connector.Link, r *call, _ *connector.Slot, _ sms.Code) {
	p.release(r, "answered")
}

func (p *group) AnsweredLate(_ int64, _ *connector.Link, r *call, _ connector.Unanswered, _ sms.Code) {
	p.release(r, "answered")
}

func (p *group) Check(_ *connector.Link, _ *call, check func(), then func(now int64)) {
	go func() {
		check()
		p.post(then)
	}()
}

func (p *group) Store(_ int64, m session.Pending[*call]) {
	p.storing = append(p.storing, stored{m, p.crowd.g.Keeper.Put(m.Accepted, m.More)})
}

func (p *group) Queue(_ int64, s *connector.Share, m *sms.Message) {
	p.queued = append(p.queued, queued{s, m})
}

func (p *group) Logout(match func(*connector.Link) bool) {
	p.logout(p.now, match)
	for _, other := range p.crowd.groups {
		if other != p {
			other.post(func(now int64) { other.logout(now, match) })
		}
	}
}

func (p *group) TickAt(at int64) {
	if p.tickAt == 0 || at < p.tickAt {
		p.tickAt = at
		p.timer.Reset(time.Duration(at - p.crowd.g.Node.Clock.Now()))
	}
}

// login logs in a session, and returns the answer's code.
func (p *group) login(account, from string) (l *connector.Link, code sms.Code) {
	l = &connector.Link{}
	l.Open(p.crowd.clients.Acquire(), netip.MustParseAddrPort(from), p.crowd.g.Node.Clock.Now(), nil)
	r := newCall(protocols.Login)
	r.Action.Credentials = protocols.Credentials{SystemID: []byte(account), Password: []byte("secret"), Bind: protocols.Transceiver}
	p.post(func(now int64) {
		p.links = append(p.links, l)
		l.Instance.SetLink(l)
		p.crowd.g.Logins.Prebind.Enter(now, l.Remote.Addr(), false)
		p.c.Receive(now, l, r)
	})
	<-r.over
	return l, r.Code
}

// submit submits a text.
func (p *group) submit(l *connector.Link, fill func(*call)) *call {
	r := newCall(protocols.Message)
	fill(r)
	p.post(func(now int64) { p.c.Receive(now, l, r) })
	return r
}

// smsc begins a session of the SMSC.
func (p *group) smsc() *connector.Link {
	l := &connector.Link{Source: connector.Source{Origin: p.crowd.g.Node.Origins.Of("", "operator")}}
	l.Open(&connector.Instance{Connector: p.crowd.operator}, netip.AddrPort{}, now, nil)
	return l
}

// configure puts a changed account "client" in force.
func (w *crowd) configure(change func(*config.Account)) {
	w.t.Helper()
	cfg := *w.g.Node.Config()
	cfg.Accounts = append([]config.Account(nil), cfg.Accounts...)
	change(&cfg.Accounts[0])
	if _, err := w.g.Reload(&cfg, w); err != nil {
		w.t.Fatal(err)
	}
}
