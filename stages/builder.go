package stages

import (
	"time"

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
	delayed gateway.Delayed[*Job]
	logins  map[*connector.Handle][]*Job // behind a login whose outcome is open
	open    map[*connector.Handle]*gateway.Login
	waits   gateway.Delayed[*Job] // logins that wait for their time
	crowds  map[*connector.Connector]*gateway.Crowd[*Job]
	intake  *gateway.Intake
	answers answers

	nextLook int64
}

func newBuilder(d *Deps) (flow.Stage[Job], error) {
	return &builder{
		Deps: d, logins: map[*connector.Handle][]*Job{}, open: map[*connector.Handle]*gateway.Login{}, crowds: map[*connector.Connector]*gateway.Crowd[*Job]{},
		intake: d.Gateway.NewIntake(idBlock),
	}, nil
}

// idBlock is how many message ids are taken at once.
const idBlock = 64

// Flush counts what the batch was, before anybody else hears of it.
func (b *builder) Flush(out *flow.Out[Job]) {
	b.intake.Flush()
	b.answers.flush(out)
}

func (b *builder) Work(out *flow.Out[Job], j *Job) {
	switch j.Kind {
	case Received:
		j.Handle.PDUs++
		b.received(out, j)
	case Over:
		b.over(out, j)
	case Room:
		b.letIn(out, j.Connector)
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
		h.Ended, j.Last, j.Rare = true, true, &Rare{Reason: a.Reason}
		b.hurry(out, h)
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

// hurry sends the answers that were to be late: nothing is sent after the last
// PDU of a session, and a client that is not answered sends its message again.
func (b *builder) hurry(out *flow.Out[Job], h *connector.Handle) {
	b.delayed.Drop(func(j *Job) bool { return j.Handle == h }, func(j *Job) { out.To(toPDULogger, j) })
}

// send hands a PDU on to be logged and written, at once or after its time.
func (b *builder) send(out *flow.Out[Job], j *Job) {
	j.Kind = Send
	if wait := j.SendAfter - out.Now(); wait > 0 {
		b.delayed.Add(j.SendAfter, j)
		out.TickIn(time.Duration(wait))
		return
	}
	out.To(toPDULogger, j)
}

func (b *builder) message(out *flow.Out[Job], j *Job) {
	h := j.Handle
	m, to, code := b.Gateway.Prepare(out.Now(), h.Connector, h.Account, h.Session, j.PDU)
	if m == nil {
		h.Session.Answer(j.PDU, code, 0)
		b.send(out, j)
		return
	}
	switch {
	case !to.Starved.Load() && b.intake.HasRoom(to):
		b.accept(out, j, m, to)
	case !b.crowd(to).Wait(out.Now(), m, j):
		b.refuse(out, j, m)
	}
}

func (b *builder) crowd(to *connector.Connector) *gateway.Crowd[*Job] {
	c := b.crowds[to]
	if c == nil {
		c = gateway.NewCrowd[*Job](b.Gateway, to)
		b.crowds[to] = c
	}
	return c
}

// letIn deals with the submits that wait for room, as far as it goes.
func (b *builder) letIn(out *flow.Out[Job], to *connector.Connector) {
	b.crowd(to).LetIn(out.Now(),
		func(m *sms.Message, j *Job) {
			b.accept(out, j, m, to)
			b.intake.Flush() // the crowd looks how much room is left
		},
		func(m *sms.Message, j *Job) { b.refuse(out, j, m) })
}

// refuse answers a submit that found no room.
func (b *builder) refuse(out *flow.Out[Job], j *Job, m *sms.Message) {
	m.Release()
	j.Handle.Connector.Stats.Refused.Add(1)
	j.Handle.Session.Answer(j.PDU, sms.QueueFull, 0)
	b.send(out, j)
}

// accept puts a message on its way and answers the PDU that carried it.
func (b *builder) accept(out *flow.Out[Job], j *Job, m *sms.Message, to *connector.Connector) {
	h := j.Handle
	j.SendAfter = b.intake.Accept(out.Now(), m, h.Connector, to, h.Account)
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
	b.answers.add(out, h, out.Now()-slot.Sent)
	j.Handle, j.refs = nil, 0
	j.Kind, j.Slot, j.Code = Answered, slot, a.Code
	out.To(toDispatcher, j)
}

// answers are answers in a row of one session, which are counted at once. Each holds
// one reference, and these are given up at once.
type answers struct {
	of     *connector.Handle
	bucket int
	n, sum int64
}

func (a *answers) add(out *flow.Out[Job], h *connector.Handle, took int64) {
	if bucket := h.Connector.Stats.Answer.Bucket(took); a.of != h || a.bucket != bucket {
		a.flush(out)
		a.of, a.bucket = h, bucket
	}
	a.n++
	a.sum += took
}

func (a *answers) flush(out *flow.Out[Job]) {
	if a.n > 0 {
		a.of.Connector.Stats.Answer.Add(a.bucket, a.n, a.sum)
		releaseHandle(out, a.of, int(a.n))
	}
	*a = answers{}
}

// bound tells the dispatcher of a session that is logged in.
func (b *builder) bound(out *flow.Out[Job], h *connector.Handle) {
	j := out.Get()
	j.Kind, j.Code = Bound, sms.OK
	if !b.Gateway.Bound(&h.Link) {
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
	if l := b.open[h]; l != nil {
		l.Abandon()
		delete(b.open, h)
	}
	own := func(j *Job) bool { return j.Handle == h }
	drop := func(j *Job) { discard(out, j) }
	b.delayed.Drop(own, drop)
	b.waits.Drop(own, drop)
	for _, c := range b.crowds {
		c.Drop(own, drop)
	}
	b.Gateway.Over(out.Now(), &h.Link)
	out.To(toDispatcher, j)
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

// login checks a client's credentials; requests behind it wait for the outcome.
func (b *builder) login(out *flow.Out[Job], j *Job, who protocols.Credentials) {
	h := j.Handle
	l := b.Gateway.Login(out.Now(), h.Connector, h.Remote, who)
	j.Rare, j.Kind = &Rare{Login: l}, LoggedIn
	b.open[h], h.Waiting = l, true
	b.loggedIn(out, j)
}

// loggedIn goes on with a login, and admits the client once it is decided.
func (b *builder) loggedIn(out *flow.Out[Job], j *Job) {
	h := j.Handle
	if h.Over {
		discard(out, j)
		return
	}
	switch step, again := j.Login.Next(out.Now()); step {
	case gateway.LoginHashes:
		out.Go(toBuilder, j, j.Login.Hash)
		return
	case gateway.LoginWaits:
		b.waits.Add(again, j)
		out.TickIn(time.Duration(again - out.Now()))
		return
	}
	h.Waiting = false
	behind := b.logins[h]
	delete(b.logins, h)
	delete(b.open, h)
	b.admit(out, j, j.Login.Result)
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
	for j, ok := b.delayed.Due(now); ok; j, ok = b.delayed.Due(now) {
		out.To(toPDULogger, j)
	}
	for j, ok := b.waits.Due(now); ok; j, ok = b.waits.Due(now) {
		b.loggedIn(out, j)
	}
	for to := range b.crowds {
		b.letIn(out, to)
	}
	if now >= b.nextLook {
		b.nextLook = now + int64(b.look(out))
	}
	next := b.nextLook
	if due := b.delayed.Next(); due != 0 {
		next = min(next, due)
	}
	if due := b.waits.Next(); due != 0 {
		next = min(next, due)
	}
	return time.Duration(next - now)
}
