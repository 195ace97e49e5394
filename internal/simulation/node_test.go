package simulation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/keep"
	"pmg/gateway/session"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms"
	"pmg/store"
)

// A node is one process of the gateway, from its start to its end. It is an architecture
// on one goroutine.
type node struct {
	gateway.Engine // for what the simulation does not use
	w              *world
	g              *gateway.Gateway
	talks          []*conversation
	view           *view
	stop           context.CancelFunc // of recovery
	dead           bool

	touched []*connector.Lane
	again   map[*connector.Lane]int64 // when a lane is dispatched next
	storing []storing
	handles []*handle // sessions that are not over
	clients int       // number of the last client

	mu      sync.Mutex // guards what the gateway's goroutines have left for collect
	commits []commit
	held    []*held
	free    bool // none is held: the node starts, or ends
	calls   []laneCall
	ran     []hasRun

	runs     int // that were begun
	commands int // of an operator, under way
	ctx      context.Context
}

// A request is a PDU until it is answered.
type request struct {
	pdu  protocols.PDU
	link *connector.Link
	gone bool
	came *arrival // of a receipt; nil: it is none
}

// A handle is a session.
type handle struct {
	connector.Link
	node *node
	of   *conversation
	end  *end
	rest []byte
	lost bool // framing is
	over bool
}

type storing struct {
	session.Pending[*request]
	at store.Position
}

type commit struct {
	upTo store.Position
	err  error
}

type laneCall struct {
	lane *connector.Lane
	f    func(now int64)
}

// start starts a node.
func (w *world) start() {
	cfg := w.plan.cfg
	g, err := gateway.New(cfg, w.logger(), func(string, *config.Config) (protocols.Driver, error) { return smpp.New(smpp.Options{}), nil })
	if err != nil {
		panic(err)
	}
	w.lives++
	w.note("node: start %d", w.lives)
	n := &node{w: w, g: g, view: &view{disk: w.disk}, again: map[*connector.Lane]int64{}, free: true}
	w.disk.broken = false
	w.disk.replay()
	w.node = n
	w.oracle.started()
	g.Node.Pass, g.Node.Messages.Fresh = n.pass, true
	g.Node.Clock.WallClock = func() time.Time { return time.Now().Add(w.step) }
	g.Node.Clock.See(w.now()) // and nothing else: the store that is looked after comes now
	if err := g.Keep(n.view); err != nil {
		panic(err)
	}
	if w.plan.keep > 0 {
		g.Node.Memory.SetKeep(w.plan.keep)
	}
	synctest.Wait()
	n.view.gate(true)
	n.setFree(false)
	g.Keeper.Begin(n)
	for range w.conversations {
		n.talks = append(n.talks, newConversation(n))
	}
	for _, c := range g.Table.Connectors() {
		if !c.Config().Listens() {
			for _, i := range n.touch(g.Table.LaneOf(c)).Window.Attach() {
				n.dial(i)
			}
		}
	}
	n.timers()
	n.ctx, n.stop = context.WithCancel(context.Background())
	go g.Recover(n.ctx, n)
}

func (w *world) logger() zerolog.Logger {
	if w.print == nil {
		return zerolog.Nop()
	}
	return zerolog.New(logWriter{w}).Level(zerolog.InfoLevel)
}

// logged is in front of lines of the gateway's log. They are no part of the history.
const logged = "              log: "

type logWriter struct{ w *world }

func (l logWriter) Write(b []byte) (int, error) {
	l.w.print(logged + string(b[:len(b)-1]))
	return len(b), nil
}

// crash ends the process, or the machine, at this moment.
func (w *world) crash() {
	power := w.chance(0.4)
	w.note("node: crash, power cut %t", power)
	n := w.node
	n.kill(power || w.mutation == loseWrites)
	w.oracle.crashed(power || w.disk.broken)
	w.oracle.forgotten(n.view.commit == nil && !n.view.failed)
	n.end()
	w.after(w.between(10*time.Millisecond, 3*time.Second), w.start)
}

// drain stops the node as an operator does: what is under way has its answers, the sessions are
// logged out, and the process ends when the store has all of it.
func (n *node) drain() {
	n.w.note("node: drain")
	n.g.Node.Drain()
	began := n.w.now()
	var logout, close func()
	wait := func(most time.Duration, done func() bool, again, then func()) {
		if done() || n.w.now()-began > int64(most) {
			then()
		} else {
			n.after(20*time.Millisecond, again)
		}
	}
	answered := func() bool { return len(n.storing) == 0 && len(n.w.oracle.flying) == 0 }
	logout = func() {
		wait(10*time.Second, answered, logout, func() {
			n.logout(func(*connector.Link) bool { return true })
			n.after(0, close)
		})
	}
	close = func() {
		wait(15*time.Second, func() bool { return len(n.handles) == 0 }, close, n.close)
	}
	logout()
}

// close ends a process that was drained.
func (n *node) close() {
	n.w.note("node: close")
	n.finish()
	n.w.oracle.crashed(n.w.disk.broken)
	n.end()
	n.w.oracle.closed()
	n.w.after(n.w.between(10*time.Millisecond, 3*time.Second), n.w.start)
}

// end ends the process.
func (n *node) end() {
	n.mu.Lock()
	n.dead = true
	n.mu.Unlock()
	n.stop()
	for _, h := range n.handles {
		h.end.reset()
	}
	if err := n.closed(); err != nil {
		panic(err)
	}
	n.w.node = nil
}

// after plans an event that does not happen if the process ends before.
func (n *node) after(d time.Duration, do func()) { n.at(n.w.now()+int64(d), do) }

func (n *node) at(at int64, do func()) {
	n.w.at(at, func() {
		if !n.dead {
			do()
		}
	})
}

// touch records that a lane may be able to send messages.
func (n *node) touch(l *connector.Lane) *connector.Lane {
	if !l.Touched {
		l.Touched = true
		n.touched = append(n.touched, l)
	}
	return l
}

// flush does what an architecture does at the end of a batch.
func (n *node) flush() {
	for _, c := range n.talks {
		c.talk.Flush()
	}
	for len(n.touched) > 0 {
		l := n.touched[0]
		n.touched = n.touched[1:]
		l.Touched = false
		n.dispatch(l)
	}
	n.g.Keeper.Batches.WriteEnds()
	n.w.oracle.written()
	n.g.Keeper.Commit()
}

// dispatch pairs messages with slots.
func (n *node) dispatch(l *connector.Lane) {
	for {
		slot, again := l.Next(n.w.now())
		if slot == nil {
			if again != 0 && (n.again[l] <= n.w.now() || again < n.again[l]) {
				n.again[l] = again
				n.at(again, func() { n.touch(l) })
			}
			break
		}
		if slot.Outlet == nil {
			n.dial(slot.Instance)
			continue
		}
		slot.Outlet.Courier.Give(n.w.now(), slot)
	}
	l.HandOver(func(s *connector.Share, m *sms.Message) { n.touch(s.Lane).Queues.Push(n.w.now(), s, m) })
	l.Window.Quiet(n.w.now())
	if l.Publish() {
		n.logout(func(link *connector.Link) bool { return link.Connector == l.Home() })
	}
	if l.WaitingForRoom.Load() > 0 && l.Queued.Load() < int64(l.Config().MaxQueue) {
		for _, c := range n.talks {
			n.after(0, func() { c.talk.Room(n.w.now(), l) })
		}
	}
}

// Quiet implements connector.Courier.
func (h *handle) Quiet(int64) {
	n := h.node
	n.after(0, func() { h.of.talk.Quiet(n.w.now(), &h.Link) })
}

// Give implements connector.Courier: it sends a message.
func (h *handle) Give(now int64, slot *connector.Slot) {
	n, l := h.node, h.Lane
	if !h.Session.Accepting() {
		if t := n.w.oracle.byID[slot.Message.ID]; t != nil && slot.Inquiry == nil {
			t.failed++
		}
		n.touch(l).Unsent(now, slot)
		return
	}
	slot.Sequence = h.Session.NextSequence()
	p := h.Connector.Driver.NewPDU()
	copied := n.g.Convert.EncodeSlot(now, slot, p)
	slot.Sent = now
	h.Inflight.Put(slot)
	if slot.Inquiry == nil {
		n.w.oracle.forwarded(l, slot)
	}
	h.end.write(p.AppendWire(nil))
	if copied != nil {
		copied.Release()
	}
}

// Committed implements keep.Engine.
func (n *node) Committed(upTo store.Position, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.commits = append(n.commits, commit{upTo, err})
}

// Do implements gateway.Engine.
func (n *node) Do(l *connector.Lane, f func(now int64)) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dead {
		return false
	}
	n.calls = append(n.calls, laneCall{l, f})
	return true
}

// Logout implements gateway.Service.
func (n *node) Logout(match func(*connector.Link) bool) { n.after(0, func() { n.logout(match) }) }

func (n *node) logout(match func(*connector.Link) bool) {
	for _, h := range slices.Clone(n.handles) {
		if match(&h.Link) {
			h.of.talk.Unbind(n.w.now(), &h.Link)
		}
	}
}

// committed goes on with the messages of a commit that has ended.
func (n *node) committed(c commit) {
	for len(n.storing) > 0 && !n.storing[0].at.After(c.upTo) {
		s := n.storing[0]
		n.storing = n.storing[1:]
		code := keep.CodeOf(c.err)
		if n.w.mutation == ignoreErrors {
			code = sms.OK
		}
		s.By.Link.Courier.(*handle).of.talk.Stored(n.w.now(), s.Pending, code)
	}
	if n.g.GoesOn() {
		for _, l := range n.g.Table.Lanes() {
			n.touch(l)
		}
	}
}

// timers does what is due about twice a second.
func (n *node) timers() {
	now := n.w.now()
	n.g.SeeClock(now)
	for _, h := range slices.Clone(n.handles) {
		if h.over || h.HasEnded() {
			continue
		}
		r := n.New(&h.Link)
		if !h.of.talk.CheckTimers(now, &h.Link, r, true) {
			n.Drop(&h.Link, r)
		}
	}
	for _, c := range n.talks {
		c.tick()
	}
	for _, l := range n.g.Table.Lanes() {
		n.touch(l).Tick(now)
		for l.Move(now, n.moved) {
		}
	}
	n.after(500*time.Millisecond, n.timers)
}

// dial connects an instance when it has rested.
func (n *node) dial(i *connector.Instance) {
	n.after(max(i.Wait(n.w.now()), 0)+n.w.between(0, 5*time.Millisecond), func() { n.connect(i) })
}

func (n *node) connect(i *connector.Instance) {
	ours, theirs := n.w.connect()
	if !n.w.station(i.Connector.Name).accept(theirs) {
		rest := n.g.Sessions.ConnectFailed(n.w.now(), i, errors.New("connection refused"))
		n.after(rest, func() { n.rested(i) })
		return
	}
	h := n.open(i, ours, netip.AddrPort{})
	login := n.New(&h.Link)
	h.Session.Start(n.w.now(), login.pdu)
	n.g.Sessions.Connected(&h.Link)
	n.Send(n.w.now(), &h.Link, login, false, "")
}

// rested connects an instance again, unless it is not needed any more.
func (n *node) rested(i *connector.Instance) {
	c := i.Connector
	if c.IsWanted() || c.Queued() > 0 {
		n.connect(i)
	} else if n.touch(n.g.Table.LaneOf(c)).Window.Park(i) {
		n.dial(i)
	}
}

// accept begins the session of a client, if there may be one more.
func (n *node) accept(e *end) bool {
	c := n.g.Table.Connector("clients")
	n.clients++
	remote := netip.MustParseAddrPort(fmt.Sprintf("192.0.2.%d:1", 1+n.clients%200))
	i := c.Acquire()
	if i == nil {
		return false
	}
	if n.g.Node.Draining() || !n.g.Sessions.Admit(c, remote) {
		c.Return(i)
		return false
	}
	h := n.open(i, e, remote)
	h.Session.Start(n.w.now(), nil)
	n.g.Sessions.Connected(&h.Link)
	return true
}

func (n *node) open(i *connector.Instance, e *end, remote netip.AddrPort) *handle {
	h := &handle{node: n, end: e, of: n.talks[0]}
	if len(n.talks) > 1 {
		h.of = n.talks[n.w.rng.IntN(len(n.talks))]
	}
	h.Open(i, remote, n.w.now(), h)
	n.handles = append(n.handles, h)
	e.receive = func(b []byte) {
		if !n.dead {
			n.receive(h, b)
		}
	}
	e.gone = func() {
		if !n.dead {
			h.BeginClosing("the peer closed the connection")
			n.over(h)
		}
	}
	return h
}

// receive cuts octets into PDUs.
func (n *node) receive(h *handle, b []byte) {
	h.Heard.Store(n.w.now())
	h.rest = append(h.rest, b...)
	for len(h.rest) > 0 && !h.lost {
		size, err := h.Codec.Frame(h.rest)
		if h.lost = err != nil; h.lost {
			size = len(h.rest)
		}
		if size > len(h.rest) {
			break
		}
		r := n.New(&h.Link)
		_ = h.Codec.Decode(r.pdu, slices.Clone(h.rest[:size])) // the PDU keeps the error
		h.rest = h.rest[size:]
		n.w.oracle.came(h, r)
		h.of.talk.Receive(n.w.now(), &h.Link, r)
	}
	h.Partial.Store(0)
	if len(h.rest) > 0 {
		h.Partial.Store(n.w.now())
	}
}

// over ends a session.
func (n *node) over(h *handle) {
	if h.over {
		return
	}
	now, l := n.w.now(), &h.Link
	n.w.note("node: session %s over: %s", l, l.Reason())
	h.over = true
	h.end.close()
	n.handles = slices.DeleteFunc(n.handles, func(other *handle) bool { return other == h })
	h.of.talk.Over(now, l)
	if l.Lane != nil {
		n.touch(l.Lane).Window.Over(&l.Outlet)
	}
	h.Inflight.Overdue(math.MaxInt64, func(slot *connector.Slot) { n.answered(slot, sms.Answer{Code: sms.Lost, At: now}) })
	if h.Connector.Config().Listens() {
		h.Instance.SetLink(nil)
		h.Connector.Return(h.Instance)
	} else if n.touch(l.Lane).Window.Closed(now, l) {
		n.dial(h.Instance)
	}
}

// answered hands the outcome of a request to its lane.
func (n *node) answered(slot *connector.Slot, a sms.Answer) {
	if slot.Inquiry == nil {
		n.w.oracle.answered(slot, a)
	}
	n.touch(slot.Share.Lane).Answered(n.w.now(), slot, a)
}
