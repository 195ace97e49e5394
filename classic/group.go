package classic

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"pmg/connector"
	"pmg/gateway"
	"pmg/sms"
)

// A group is what the connections of one connector share.
type group struct {
	*connector.Connector
	engine   *Engine
	gateway  *gateway.Gateway
	log      *pduLog
	requests sync.Pool
	wake     signal       // of the keeper
	ended    atomic.Int64 // locks taken by connections that are over

	dialing     context.Context // until instances need not be connected any more
	stopDialing context.CancelFunc

	mu      lock // guards the rest
	box     *gateway.Outbox
	intake  *gateway.Intake
	crowd   *gateway.Crowd[*request]
	timer   *time.Timer // dispatches
	timerAt int64       // when; 0: it is not set
	door    door
}

func newGroup(e *Engine, c *connector.Connector) *group {
	g := &group{
		Connector: c, engine: e, gateway: e.gateway, log: newPDULog(c.PDULog, e.now), wake: newSignal(),
		box: e.gateway.NewOutbox(c), intake: e.gateway.NewIntake(1), crowd: gateway.NewCrowd[*request](e.gateway, c),
	}
	g.requests.New = func() any { return &request{pdu: c.Driver.NewPDU()} }
	g.dialing, g.stopDialing = context.WithCancel(e.ctx)
	g.door.free.L = &g.mu
	g.timer = time.AfterFunc(time.Hour, g.due)
	g.timer.Stop()
	return g
}

// conns calls f for every connection.
func (g *group) conns(f func(*conn)) { g.Links(func(l *connector.Link) { f(l.Owner.(*conn)) }) }

func (g *group) attach() {
	g.engine.run(g.keep)
	g.acceptAll()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, i := range g.box.Attach() {
		g.dial(i, sms.OK)
	}
}

func (g *group) detach() {
	g.unlisten()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.box.Leave()
	g.dispatch(g.engine.now())
}

// close ends what is left when there are no goroutines any more.
func (g *group) close() {
	g.mu.Lock()
	g.timer.Stop()
	g.mu.Unlock()
	g.log.close()
}

// An admission is what became of a submit.
type admission uint8

// The admissions.
const (
	accepted admission = iota
	waiting            // for room; the request is not its reader's any more
	full               // no room, and it does not wait
)

// submit puts m, which r carried, into the queue, or before it when it is full.
func (g *group) submit(now int64, m *sms.Message, r *request) (what admission, id uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.Starved.Load() && g.Room() > 0 {
		id = g.accept(now, m, r)
		g.dispatch(now)
		return accepted, id
	}
	if g.crowd.Wait(now, m, r) {
		r.owe()
		return waiting, 0
	}
	return full, 0
}

// accept puts m into the queue, and the time of its answer into r. The message may
// be gone when it returns, so it gives the id. The caller holds the lock.
func (g *group) accept(now int64, m *sms.Message, r *request) (id uint64) {
	r.after = g.intake.Accept(now, m, r.conn.Connector, g.Connector, r.conn.Account)
	g.intake.Flush()
	id = m.ID
	g.box.Push(now, m)
	return id
}

// answered takes a slot back whose message was answered, or never will be.
func (g *group) answered(now int64, slot *connector.Slot, code sms.Code) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.box.Answered(now, slot, code)
	g.dispatch(now)
}

// bound takes in a session that has logged in.
func (g *group) bound(now int64, c *conn, takes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.box.Bound(&c.Link, takes)
	g.dispatch(now)
}

// dispatch leaves messages to the writers of the slots that they are paired with.
// The caller holds the lock.
func (g *group) dispatch(now int64) {
	for {
		slot, again := g.box.Next(now)
		if slot == nil {
			g.dispatchAt(now, again)
			break
		}
		if slot.Link == nil {
			g.dial(slot.Instance, sms.OK)
			continue
		}
		slot.Link.Owner.(*conn).give(slot)
	}
	gone := g.box.Publish()
	if gone || g.Starved.Load() && g.Room() > 0 {
		g.wake.send()
	}
}

// dispatchAt sees to it that dispatch is called at a time; 0: at none.
func (g *group) dispatchAt(now, at int64) {
	if at != 0 && (g.timerAt == 0 || at < g.timerAt) {
		g.timerAt = at
		g.timer.Reset(time.Duration(at - now))
	}
}

func (g *group) due() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timerAt = 0
	if g.engine.ctx.Err() == nil {
		g.dispatch(g.engine.now())
	}
}

// keep looks after what happens by itself: timers, and room in a full queue.
func (g *group) keep() {
	t := time.NewTimer(g.gateway.LookEvery())
	defer t.Stop()
	for {
		select {
		case <-g.engine.ctx.Done():
			return
		case <-g.wake:
		case <-t.C:
			g.look()
			t.Reset(g.gateway.LookEvery())
		}
		g.letIn()
		if g.isGone() {
			g.logout()
		}
	}
}

func (g *group) look() {
	now := g.engine.now()
	g.conns(func(c *conn) { c.look(now) })
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dispatch(now) // a validity may have ended, the age of the queue has changed
}

// letIn accepts submits that wait for room, as far as it goes. Their answers are
// left until the lock is given back: it comes after those of sessions.
func (g *group) letIn() {
	now := g.engine.now()
	for _, a := range g.admit(now) {
		a.request.conn.answer(now, a)
	}
}

// An answer is what the request that carried a message is told.
type answer struct {
	request *request
	code    sms.Code
	id      uint64
}

func (g *group) admit(now int64) (answers []answer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.crowd.LetIn(now, func(m *sms.Message, r *request) {
		answers = append(answers, answer{r, sms.OK, g.accept(now, m, r)})
	}, func(m *sms.Message, r *request) {
		m.Release()
		r.conn.Connector.Stats.Refused.Add(1)
		answers = append(answers, answer{r, sms.QueueFull, 0})
	})
	if answers != nil {
		g.dispatch(now)
	}
	return answers
}

func (g *group) isGone() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.box.Gone()
}

// logout begins to log out every session, and connects no more.
func (g *group) logout() {
	g.stopDialing()
	g.conns((*conn).unbind)
}

func (g *group) locks() int64 {
	n := g.ended.Load() + g.mu.count() + g.log.locks()
	g.conns(func(c *conn) { n += c.locks() })
	return n
}
