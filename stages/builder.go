package stages

import (
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/flow"
	"pmg/gateway"
	"pmg/protocols"
	"pmg/sms"
)

// builder runs the sessions: it answers requests, puts messages on their way and
// pairs answers with the slots they free. Answers that are to be sent later wait
// here, by their time; submits that meet a full queue wait for room in it.
type builder struct {
	*Deps
	delayed *delayed
	logins  map[*connector.Handle][]*Job // behind a login whose outcome is open
	crowds  map[*connector.Connector]*crowd

	nextLook int64
}

func newBuilder(d *Deps) (flow.Stage[Job], error) {
	return &builder{
		Deps: d, delayed: newDelayed(),
		logins: map[*connector.Handle][]*Job{}, crowds: map[*connector.Connector]*crowd{},
	}, nil
}

func (b *builder) Work(out *flow.Out[Job], j *Job) {
	switch j.Kind {
	case Received:
		j.Handle.PDUs++
		b.received(out, j)
	case Over:
		b.over(out, j)
	case Room:
		if c := b.crowds[j.Connector]; c != nil {
			b.letIn(out, j.Connector, c)
		}
		out.Release(j)
	case LoggedIn:
		b.loggedIn(out, j)
	case Logout:
		b.logout(out, j)
	default:
		discard(out, j)
	}
}

func (b *builder) received(out *flow.Out[Job], j *Job) {
	h := j.Handle
	switch {
	case h.Over:
		discard(out, j)
	case h.Waiting:
		b.logins[h] = append(b.logins[h], j)
	default:
		b.act(out, j, h.Session.Receive(out.Now(), j.PDU))
	}
}

// act does what a session wants. j carries the PDU the action is about.
func (b *builder) act(out *flow.Out[Job], j *Job, a protocols.Action) {
	h := j.Handle
	if h.Ended && a.Kind != protocols.Answered {
		discard(out, j)
		return
	}
	switch a.Kind {
	case protocols.Send:
		b.send(out, j)
	case protocols.SendClose:
		h.Ended, j.Last, j.Reason = true, true, a.Reason
		b.send(out, j)
	case protocols.Close:
		h.Ended = true
		hangup(out, h, a.Reason)
		discard(out, j)
	case protocols.Login:
		b.login(out, j, a.Credentials)
	case protocols.Bound:
		b.bound(out, h)
		discard(out, j)
	case protocols.Message:
		b.message(out, j)
	case protocols.Answered:
		b.answered(out, j, a)
	default:
		discard(out, j)
	}
}

// send hands a PDU on to be logged and written, at once or after its time.
func (b *builder) send(out *flow.Out[Job], j *Job) {
	j.Kind = Send
	if wait := j.SendAfter - out.Now(); wait > 0 {
		b.delayed.add(j)
		out.TickIn(time.Duration(wait))
		return
	}
	out.To(toPDULogger, j)
}

func (b *builder) message(out *flow.Out[Job], j *Job) {
	h := j.Handle
	m, to, code := b.Gateway.Prepare(out.Now(), h.Connector, h.Account, h.Session, j.PDU)
	if code == sms.OK && m != nil && !b.hasRoom(to) {
		if b.wait(out, j, m, to) {
			return
		}
		m.Release()
		h.Connector.Stats.Refused.Add(1)
		m, code = nil, sms.QueueFull
	}
	if m == nil {
		h.Session.Answer(j.PDU, code, 0)
		b.send(out, j)
		return
	}
	b.accept(out, j, m, to)
}

// accept puts a message on its way and answers the PDU that carried it.
func (b *builder) accept(out *flow.Out[Job], j *Job, m *sms.Message, to *connector.Connector) {
	h := j.Handle
	j.SendAfter = b.Gateway.Accept(out.Now(), m, h.Connector, to, h.Account)
	h.Session.Answer(j.PDU, sms.OK, m.ID)
	b.send(out, j)
	mj := out.Get()
	mj.Kind, mj.Message, mj.Connector = Message, m, to
	out.To(toDispatcher, mj)
}

// answered pairs an answer with the slot of its request.
func (b *builder) answered(out *flow.Out[Job], j *Job, a protocols.Action) {
	h := j.Handle
	slot := h.Inflight.Take(a.Sequence)
	if slot == nil {
		h.Connector.Stats.Unmatched.Add(1)
		discard(out, j)
		return
	}
	h.Connector.Stats.Answer.Observe(out.Now() - slot.Sent)
	release(out, j)
	j.Kind, j.Slot, j.Code = Answered, slot, a.Code
	out.To(toDispatcher, j)
}

// bound tells the dispatcher of a session that can be given messages.
func (b *builder) bound(out *flow.Out[Job], h *connector.Handle) {
	h.Bound = true
	way := h.Session.Bound()
	if h.Connector.Config().Listens() {
		b.Gateway.Prebind.Leave(h.Remote.Addr())
		if !way.CanReceive() {
			return
		}
	}
	b.Log.Debug().Stringer("session", h).Stringer("bind", way).Msg("bound")
	j := out.Get()
	j.Kind, j.Code = Bound, sms.OK
	if !h.Connector.Config().Listens() && !way.CanSubmit() {
		j.Code = sms.BadState // logged in, but takes no messages
	}
	j.retain(h)
	out.CountRef()
	out.To(toDispatcher, j)
}

// over ends a session as far as the builder is concerned, and passes on.
func (b *builder) over(out *flow.Out[Job], j *Job) {
	h := j.Handle
	h.Over = true
	for _, waiting := range b.logins[h] {
		discard(out, waiting)
	}
	delete(b.logins, h)
	b.delayed.drop(h, func(j *Job) { discard(out, j) })
	for _, c := range b.crowds {
		c.drop(h, func(j *Job) { discard(out, j) })
	}
	if h.Connector.Config().Listens() && !h.Bound {
		b.Gateway.Prebind.Leave(h.Remote.Addr())
	}
	if h.Account != nil {
		h.Account.End()
	}
	b.logOver(h)
	h.Connector.Stats.SessionOver(out.Now()-h.Opened, h.PDUs)
	out.To(toDispatcher, j)
}

func (b *builder) logOver(h *connector.Handle) {
	e := b.Log.Info()
	if !h.Bound {
		e = b.Log.Debug()
	}
	e.Str("connector", h.Connector.Name).Int("instance", h.Instance.Number).Stringer("remote", h.Remote).
		Str("reason", h.Reason()).Msg("session over")
}

// logout begins to log out the sessions of a connector, or of all.
func (b *builder) logout(out *flow.Out[Job], j *Job) {
	for _, c := range b.Gateway.Connectors() {
		if j.Connector == nil || j.Connector == c {
			c.Links(func(l *connector.Link) { b.unbind(out, handle(l)) })
		}
	}
	discard(out, j)
}

func (b *builder) unbind(out *flow.Out[Job], h *connector.Handle) {
	if h.Over || h.Ended {
		return
	}
	j := out.Get()
	j.pdu(h.Connector)
	j.retain(h) // not over, so the reader's reference is there
	out.CountRef()
	b.act(out, j, h.Session.Unbind(out.Now(), j.PDU))
}

// A crowd is the submits that wait for room in one connector's queue.
type crowd struct{ jobs []*Job }

func (c *crowd) drop(h *connector.Handle, discard func(*Job)) {
	kept := c.jobs[:0]
	for _, j := range c.jobs {
		if j.Handle != h {
			kept = append(kept, j)
			continue
		}
		j.Message.Release() // never accepted: its client was not answered and is gone
		j.Message = nil
		discard(j)
	}
	clear(c.jobs[len(kept):])
	c.jobs = kept
}

func (b *builder) hasRoom(to *connector.Connector) bool {
	return !to.Starved.Load() && to.HasRoom()
}

// wait makes a submit wait for room in a full queue, so that its answer, being
// late, slows its client down. False: it is to be refused instead.
func (b *builder) wait(out *flow.Out[Job], j *Job, m *sms.Message, to *connector.Connector) bool {
	cfg := to.Config()
	if cfg.QueueFull == config.Refuse || cfg.QueueWait == 0 {
		return false
	}
	c := b.crowds[to]
	if c == nil {
		c = &crowd{}
		b.crowds[to] = c
	}
	if len(c.jobs) == 0 {
		b.Log.Debug().Str("connector", to.Name).Int64("queued", to.Queued.Load()).Msg("queue full; answers are delayed")
	}
	j.Message, j.Connector = m, to
	j.SendAfter = out.Now() + int64(cfg.QueueWait)
	c.jobs = append(c.jobs, j)
	to.Starved.Store(true)
	return true
}

// letIn accepts as many waiting submits as there is room for, oldest first.
func (b *builder) letIn(out *flow.Out[Job], to *connector.Connector, c *crowd) {
	n := 0
	for n < len(c.jobs) {
		j := c.jobs[n]
		late := out.Now() >= j.SendAfter
		if !late && !to.HasRoom() {
			break
		}
		n++
		m := j.Message
		j.Message, j.Connector, j.SendAfter = nil, nil, 0
		if to.HasRoom() {
			b.accept(out, j, m, to)
			continue
		}
		m.Release()
		j.Handle.Connector.Stats.Refused.Add(1)
		j.Handle.Session.Answer(j.PDU, sms.QueueFull, 0)
		b.send(out, j)
	}
	rest := copy(c.jobs, c.jobs[n:])
	clear(c.jobs[rest:])
	c.jobs = c.jobs[:rest]
	to.Starved.Store(rest > 0)
}

// login checks a client's credentials; requests behind it wait for the outcome.
func (b *builder) login(out *flow.Out[Job], j *Job, who protocols.Credentials) {
	h := j.Handle
	result, slow := b.Gateway.Login(out.Now(), h.Connector, h.Remote, who)
	if slow == nil {
		b.admit(out, j, result)
		return
	}
	h.Waiting = true
	out.Go(toBuilder, func() *Job {
		j.login = slow()
		j.Kind = LoggedIn
		return j
	})
}

func (b *builder) loggedIn(out *flow.Out[Job], j *Job) {
	h := j.Handle
	h.Waiting = false
	behind := b.logins[h]
	delete(b.logins, h)
	if h.Over {
		if a := j.login.Account; a != nil {
			a.End()
		}
		discard(out, j)
		return
	}
	b.admit(out, j, j.login)
	for _, next := range behind {
		b.received(out, next)
	}
}

func (b *builder) admit(out *flow.Out[Job], j *Job, result gateway.LoginResult) {
	h := j.Handle
	h.Account = result.Account
	j.SendAfter = result.AnswerAfter
	h.Retain(1) // act gives j's own reference away
	b.act(out, j, h.Session.Login(out.Now(), j.PDU, result.Code))
	if result.Code == sms.OK && h.Session.Bound() != 0 {
		b.bound(out, h)
	}
	releaseHandle(out, h, 1)
}

// Tick does what is due: delayed answers, and a look at every session.
func (b *builder) Tick(out *flow.Out[Job]) time.Duration {
	now := out.Now()
	for j := b.delayed.due(now); j != nil; j = b.delayed.due(now) {
		out.To(toPDULogger, j)
	}
	for to, c := range b.crowds {
		b.letIn(out, to, c)
	}
	if now >= b.nextLook {
		b.nextLook = now + int64(b.look(out))
	}
	next := b.nextLook
	if due := b.delayed.next(); due != 0 {
		next = min(next, due)
	}
	return time.Duration(next - now)
}
