package stages

import (
	"time"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/session"
	"pmg/protocols"
	"pmg/sms"
	"pmg/stages/flow"
)

// builder runs the sessions. The gateway's conversation carries out their actions, and
// reaches the other stages through the methods below. It owns the sessions
// (connector.Dialogue), logins in progress, answers that wait for their time, and submits that wait for room.
type builder struct {
	*Deps
	talk    *session.Conversation[*Job]
	out     *flow.Out[Job] // output of the current call
	answers answers

	nextCheck int64 // when the sessions' timers are next checked
}

var _ session.Port[*Job] = (*builder)(nil)

func newBuilder(d *Deps) (flow.Stage[Job], error) {
	b := &builder{Deps: d}
	b.talk = session.NewConversation(d.Gateway.Sessions, b, d.groups.number())
	return b, nil
}

// Flush counts the messages and answers of the batch before any other stage gets them.
func (b *builder) Flush(out *flow.Out[Job]) {
	b.out = out
	b.talk.Flush()
	b.answers.flush(out)
}

func (b *builder) Work(out *flow.Out[Job], j *Job) {
	b.out = out
	h := j.Handle
	switch j.Kind {
	case Received:
		b.talk.Receive(out.Now(), &h.Link, j)
	case Foreign:
		j.Kind = Received
		j.pdu(h.Connector).Reset() // a session answers an empty PDU with HandOver
		b.talk.Receive(out.Now(), &h.Link, j)
	case Over:
		b.talk.Over(out.Now(), &h.Link)
		out.To(toDispatcher, j)
	case Room:
		b.talk.Room(out.Now(), j.Lane)
		out.Release(j)
	case Quiet:
		b.talk.Quiet(out.Now(), &h.Link)
		discard(out, j)
	case Checked:
		then := j.Then
		j.extras = nil
		then(out.Now())
	case Stored:
		b.stored(j)
	case Logout:
		b.logout(j.Connector, j.Match)
		out.Release(j)
	case Rebind:
		b.logout(j.Connector, nil)
		if !j.isLast() {
			out.Release(j)
			return
		}
		j.Kind = Attach
		out.To(toDispatcher, j) // behind the beginning of the logout, which would otherwise also end new sessions
	case Barrier:
		b.Flush(out)
		if j.isLast() {
			close(j.Done)
		}
		out.Release(j)
	default:
		discard(out, j)
	}
}

// New implements session.Port.
func (b *builder) New(l *connector.Link) *Job {
	j := b.out.Get()
	j.pdu(l.Connector)
	j.retain(handleOf(l)) // the session is not over, so the reader still holds its reference to the handle
	b.out.CountRef()
	return j
}

// PDU implements session.Port.
func (b *builder) PDU(j *Job) protocols.PDU { return j.PDU }

// IsAbout implements session.Port.
func (b *builder) IsAbout(j *Job, id uint64) { j.ID = id }

// IsRefusal implements session.Port.
func (b *builder) IsRefusal(j *Job, why sms.Refusal) { j.Refusal = why }

// Send implements session.Port.
func (b *builder) Send(_ int64, l *connector.Link, j *Job, last bool, reason string) {
	j.Kind, j.Last, j.Closing = Send, last, last || l.LoggedOut
	if last {
		j.extras = &extras{Reason: reason}
	}
	b.out.To(toPDULogger, j)
}

// Drop implements session.Port.
func (b *builder) Drop(_ *connector.Link, j *Job) { discard(b.out, j) }

// Hangup implements session.Port.
func (b *builder) Hangup(l *connector.Link, reason string) { hangup(b.out, handleOf(l), reason) }

// HandOver implements session.Port.
func (b *builder) HandOver(l *connector.Link, j *Job) {
	h := handleOf(l)
	h.builder.unused = append(h.builder.unused, j.Bytes...)
	hangup(b.out, h, "the connection is handed over")
	discard(b.out, j)
}

// Check implements session.Port.
func (b *builder) Check(_ *connector.Link, j *Job, check func(), then func(now int64)) {
	j.Kind, j.extras = Checked, &extras{Then: then}
	b.out.Go(toBuilder, j, check)
}

// Store implements session.Port.
func (b *builder) Store(_ int64, p session.Pending[*Job]) {
	j := p.By.Request
	if p.More != nil {
		j.extras = &extras{More: p.More}
	}
	j.Kind, j.Message, j.Share, j.After = Store, p.Message, p.Share, p.After
	b.out.To(toPersister, j)
}

// stored continues with a message whose commit has ended.
func (b *builder) stored(j *Job) {
	l := &j.Handle.Link
	p := session.Pending[*Job]{
		Accepted: keep.Accepted{Message: j.Message, Share: j.Share}, More: j.more(),
		From: &l.Source, By: session.Sender[*Job]{Link: l, Request: j}, After: j.After,
	}
	code := j.Code
	j.Message, j.Share, j.Code = nil, nil, sms.OK
	b.talk.Stored(b.out.Now(), p, code)
}

// Queue implements session.Port.
func (b *builder) Queue(_ int64, s *connector.Share, m *sms.Message) {
	j := b.out.Get()
	j.Kind, j.Message, j.Share = Message, m, s
	b.out.To(toDispatcher, j)
}

// Answered implements session.Port.
func (b *builder) Answered(now int64, l *connector.Link, j *Job, slot *connector.Slot, code sms.Code) {
	b.answers.add(b.out, handleOf(l), int(j.refs), now-slot.Sent)
	j.Handle, j.refs = nil, 0
	j.Kind, j.Slot, j.Code = Answered, slot, code
	b.out.To(toDispatcher, j)
}

// AnsweredLate implements session.Port.
func (b *builder) AnsweredLate(_ int64, _ *connector.Link, j *Job, u connector.Unanswered, code sms.Code) {
	j.Kind, j.Code, j.extras = AnsweredLate, code, &extras{Late: u}
	b.out.To(toDispatcher, j)
}

// Unanswered implements session.Port.
func (b *builder) Unanswered(_ int64, slot *connector.Slot) {
	j := b.out.Get()
	j.Kind, j.Slot, j.Code = Answered, slot, sms.Timeout
	b.out.To(toDispatcher, j)
}

// Bound implements session.Port.
func (b *builder) Bound(_ int64, l *connector.Link, takes bool) {
	code := sms.OK
	if !takes {
		code = sms.BadState
	}
	b.tellLane(l, Bound, code)
}

// LoggingOut implements session.Port.
func (b *builder) LoggingOut(_ int64, l *connector.Link) { b.tellLane(l, LoggingOut, sms.OK) }

// tellLane sends the dispatcher a job about a session, if the session has a lane.
func (b *builder) tellLane(l *connector.Link, kind Kind, code sms.Code) {
	if l.Lane == nil {
		return
	}
	j := b.out.Get()
	j.Kind, j.Code = kind, code
	j.retain(handleOf(l))
	b.out.CountRef()
	b.out.To(toDispatcher, j)
}

// Logout implements session.Port.
func (b *builder) Logout(match func(*connector.Link) bool) {
	b.logout(nil, match)
	for group := range b.groups.number() {
		if group != b.out.Group() {
			j := b.out.Get()
			j.Kind, j.extras = Logout, &extras{Match: match}
			b.out.ToGroup(group, toBuilder, j)
		}
	}
}

// TickAt implements session.Port.
func (b *builder) TickAt(at int64) { b.out.TickIn(time.Duration(at - b.out.Now())) }

// answers are consecutive answers of one session. The builder counts them together, and releases
// their references together.
type answers struct {
	of     *handle
	bucket int
	refs   int
	n, sum int64
}

func (a *answers) add(out *flow.Out[Job], h *handle, refs int, took int64) {
	if bucket := h.Connector.Stats.Answer.Bucket(took); a.of != h || a.bucket != bucket {
		a.flush(out)
		a.of, a.bucket = h, bucket
	}
	a.refs += refs
	a.n++
	a.sum += took
}

func (a *answers) flush(out *flow.Out[Job]) {
	of := *a
	*a = answers{}
	if of.n > 0 {
		of.of.Connector.Stats.Answer.Add(of.bucket, of.n, of.sum)
		releaseHandle(out, of.of, of.refs)
	}
}

// logout begins to log out the group's sessions of the connector of. If of is nil, it logs out those
// of all connectors. If match is not nil, only sessions for which match returns true are logged
// out.
func (b *builder) logout(of *connector.Connector, match func(*connector.Link) bool) {
	for _, c := range b.Gateway.Table.Connectors() {
		if of != nil && of != c {
			continue
		}
		c.Links(func(l *connector.Link) {
			if handleOf(l).group != b.out.Group() {
				return
			}
			if match == nil || l.Phase != connector.Over && match(l) {
				b.talk.Unbind(b.out.Now(), l)
			}
		})
	}
}

// Tick does the conversation's due work, and checks the timers of every session.
func (b *builder) Tick(out *flow.Out[Job]) time.Duration {
	b.out = out
	now := out.Now()
	next := b.talk.Tick(now)
	if now >= b.nextCheck {
		b.checkTimers(now)
		b.nextCheck = now + int64(b.Gateway.Sessions.TimerInterval())
	}
	return time.Duration(sms.Earlier(next, b.nextCheck) - now)
}

// checkTimers handles the expired timers of every session of the group.
func (b *builder) checkTimers(now int64) {
	if b.out.Group() == 0 {
		b.Gateway.SeeClock(now)
	}
	var j *Job
	full := b.Full.Load()
	for _, c := range b.Gateway.Table.Connectors() {
		c.Links(func(l *connector.Link) {
			if handleOf(l).group != b.out.Group() || l.HasEnded() {
				return
			}
			if j == nil {
				j = b.New(l)
			} else {
				j.pdu(c)
				j.retain(handleOf(l))
			}
			read := !handleOf(l).gate.paused.Load() && !(full && c.Config().Role() == protocols.Server)
			if b.talk.CheckTimers(now, l, j, read) {
				j = nil
			} else {
				release(b.out, j)
			}
		})
	}
	if j != nil {
		b.out.Release(j)
	}
}
