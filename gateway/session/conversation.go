package session

import (
	"slices"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/login"
	"pmg/gateway/receipts"
	"pmg/protocols"
	"pmg/sms"
)

// A Conversation is the gateway's side of its sessions: it does what their state
// machines ask for. It is the same in every architecture. R is the type in which an
// architecture keeps a PDU until it is answered. A Conversation is not safe for
// concurrent use: the pipeline has one, which belongs to the builder; the bench's
// classic has one for each connection, which the session's lock guards.
//
//	Receive ──► Session ──► Send, SendClose, Close      the peer is answered
//	                    ──► Login ──► check ──► Login   behind it PDUs wait
//	                    ──► Message ──► accept ──► stored ──► answer ──► queue
//	                    ──► Answered ──► the message's lane
type Conversation[R any] struct {
	desk       *Desk
	port       Port[R]
	intake     *intake.Intake
	delayed    connector.Delayed[R]
	logins     map[*connector.Link]*openLogin[R]
	waiting    connector.Delayed[*openLogin[R]] // logins, until the time at which their passwords are checked
	behind     map[*connector.Link][]R          // PDUs that came behind a login that is not decided yet
	pressure   map[*connector.Share]*connector.Backpressure[R]
	pressed    []*connector.Share          // that pressure has, those that have waited longest first
	held       map[*connector.Link]held[R] // what waits for the commits that are due to sessions
	finding    finding[R]                  // of the receipt at hand
	searches   map[string]*search[R]       // of receipts whose messages are looked for
	searchKey  []byte
	submission intake.Submission
	submitting R                 // the PDU of that
	answering  *config.Connector // whose operator is:
	operator   *receipts.Operator
}

// NewConversation makes a conversation that takes block message ids at a time.
func NewConversation[R any](d *Desk, port Port[R], block uint64) *Conversation[R] {
	return &Conversation[R]{
		desk: d, port: port, intake: d.intake.NewIntake(block),
		logins: map[*connector.Link]*openLogin[R]{}, behind: map[*connector.Link][]R{}, pressure: map[*connector.Share]*connector.Backpressure[R]{},
		held: map[*connector.Link]held[R]{},
	}
}

// Flush counts the messages that were accepted since the last Flush.
func (c *Conversation[R]) Flush() { c.intake.Flush() }

// Receive handles a PDU of the peer.
func (c *Conversation[R]) Receive(now int64, l *connector.Link, r R) {
	switch {
	case l.Phase == connector.Over:
		c.port.Drop(l, r)
	case l.Undecided:
		c.behind[l] = append(c.behind[l], r)
	default:
		a := l.Session.Receive(now, c.port.PDU(r))
		if !l.WasBound() && !c.begun(now, l, a) {
			a = protocols.Action{Kind: protocols.Close, Reason: "all instances are in use"}
		}
		c.do(now, l, r, a)
	}
}

// do carries out the action that a session asks for. r holds the PDU of that action.
func (c *Conversation[R]) do(now int64, l *connector.Link, r R, a protocols.Action) {
	if l.HasEnded() && a.Kind != protocols.Answered || l.Phase == connector.Draining && a.Kind == protocols.Send {
		c.port.Drop(l, r)
		return
	}
	if a.Partly {
		c.desk.takenPartly(l)
	}
	switch a.Kind {
	case protocols.Send:
		c.port.Send(now, l, r, false, "")
	case protocols.Logout:
		c.loggingOut(now, l)
		if !c.hold(l, held[R]{request: r, send: true}) {
			c.port.Send(now, l, r, false, "")
		}
	case protocols.Drain:
		l.Enter(connector.Draining)
		c.port.Drop(l, r)
		if l.Lane == nil {
			c.Quiet(now, l)
			return
		}
		c.port.LoggingOut(now, l) // Quiet follows
	case protocols.SendClose:
		c.settle(now, l)
		l.Enter(connector.Ended)
		l.Explain(a.Reason)
		c.port.LoggingOut(now, l)
		if !c.hold(l, held[R]{request: r, send: true, last: true, reason: a.Reason}) {
			c.port.Send(now, l, r, true, a.Reason)
		}
	case protocols.Close:
		l.Enter(connector.Ended)
		l.Explain(a.Reason)
		c.port.LoggingOut(now, l)
		if !c.hold(l, held[R]{reason: a.Reason}) {
			c.port.Hangup(l, a.Reason)
		}
		c.port.Drop(l, r)
	case protocols.Login:
		c.login(now, l, r, a.Credentials)
	case protocols.Bound:
		c.bound(now, l)
		c.port.Drop(l, r)
	case protocols.Message:
		if a.Messages > 0 {
			c.messages(now, l, r, a.Messages)
			return
		}
		c.message(now, l, r)
	case protocols.Operate:
		c.operate(now, l, r)
	case protocols.Alert:
		c.desk.logAlert(now, l)
		c.port.Drop(l, r)
	case protocols.Answered:
		c.answered(now, l, r, a)
	default:
		c.port.Drop(l, r)
	}
}

// settle answers every waiting request of a session before its last PDU is sent.
// Otherwise the client would send those messages again.
func (c *Conversation[R]) settle(now int64, l *connector.Link) {
	c.delayed.Take(l, func(r R) { c.port.Send(now, l, r, false, "") })
	c.takeWaiting(l, func(m *sms.Message, r R) { c.refuse(now, l, m, r) })
}

// send sends an answer, immediately or at its due time.
func (c *Conversation[R]) send(now int64, l *connector.Link, r R, after int64) {
	if after <= now {
		c.port.Send(now, l, r, false, "")
		return
	}
	c.delayed.Add(after, l, r)
	c.port.TickAt(after)
}

// message has a message take its steps, and accepts or refuses it.
func (c *Conversation[R]) message(now int64, l *connector.Link, r R) {
	s := &c.submission
	*s = intake.Submission{Way: intake.Submitted, From: &l.Source, Session: l, PDU: c.port.PDU(r), Room: c}
	if l.Account == nil {
		s.Way = intake.Delivered
	}
	c.take(now, l, r, s)
}

// take has a submission take its steps from the next one on.
func (c *Conversation[R]) take(now int64, l *connector.Link, r R, s *intake.Submission) {
	c.submitting = r
	switch v := c.desk.intake.Take(now, s); {
	case v == intake.Later && s.Work != nil:
		own := *s // the next submission is another one
		c.workFor(l, r, &own, func(now int64) { c.take(now, l, r, &own) })
	case v == intake.Later:
	case v == intake.Refuse:
		s.Drop()
		c.answerRefusal(now, l, r, s.Code, s.After)
	case s.Message.Kind == sms.Receipt:
		c.receipt(now, l, r, s.Message)
	default:
		c.accept(now, Pending[R]{Accepted: s.Accepted(), Link: l, Request: r, After: s.After})
	}
}

// workFor has the work of a submission done on another goroutine, and then calls goOn. The
// session's PDUs wait behind it, so that its messages stay in order.
func (c *Conversation[R]) workFor(l *connector.Link, r R, s *intake.Submission, goOn func(now int64)) {
	l.Undecided = true
	c.beside(l, r, func() { s.Code, s.Work = s.Work(), nil }, func(int64) { s.Drop() }, func(now int64) {
		l.Undecided = false
		goOn(now)
		c.receiveBehind(now, l)
	})
}

// beside has work for a request done on another goroutine, and then calls goOn. The session does not
// end meanwhile, because its answers come before. If it is over all the same, over is called instead, and the
// request is dropped.
func (c *Conversation[R]) beside(l *connector.Link, r R, work func(), over, goOn func(now int64)) {
	l.Storing++
	c.port.Check(l, r, work, func(now int64) {
		l.Storing--
		if l.Phase == connector.Over {
			over(now)
			c.port.Drop(l, r)
			return
		}
		goOn(now)
		if l.Storing == 0 {
			c.letGo(now, l)
		}
	})
}

// receiveBehind handles the PDUs that came behind one that is decided now.
func (c *Conversation[R]) receiveBehind(now int64, l *connector.Link) {
	behind := c.behind[l]
	delete(c.behind, l)
	for _, next := range behind {
		c.Receive(now, l, next)
	}
}

// answerRefusal answers a message that was refused.
func (c *Conversation[R]) answerRefusal(now int64, l *connector.Link, r R, code sms.Code, after int64) {
	if code == sms.Throttled || code == sms.QueueFull {
		c.tooMuch(now, l, r, code, after)
	} else {
		c.answer(now, l, r, code, 0, after)
	}
}

// admit asks the rate limit of the client's account to admit an operation, before any work is done
// for it. It returns the time before which the client must not be answered.
func (c *Conversation[R]) admit(now int64, l *connector.Link) (after int64, ok bool) {
	s := intake.Submission{From: &l.Source, Session: l}
	v := c.desk.intake.StepRate(now, &s)
	return s.After, v == intake.Pass
}

// Wait implements intake.Room: it makes a client's submit wait for room. However soon there is room, the answer is
// not sent before the time after, which the account's rate asks for. Messages from an
// SMSC do not wait, because the answers to our own requests would wait behind them.
func (c *Conversation[R]) Wait(now int64, sub *intake.Submission) bool {
	l, a := sub.Session, sub.Accepted()
	m, s := a.Message, a.Share
	if l.Account == nil || !s.HasMemory(a.Octets()) || !c.desk.mayHold(s) {
		return false
	}
	b := c.pressure[s]
	if b == nil {
		b = &connector.Backpressure[R]{}
		c.pressure[s] = b
		c.pressed = append(c.pressed, s)
	}
	if !b.Wait(now, s, m, l, c.submitting, sub.After) {
		return false
	}
	c.desk.hold(l, s, m, 1)
	if b.Len() == 1 {
		c.desk.intake.LogWaits(now, &l.Source, s)
	}
	return true
}

// Room accepts the submits that wait for room in a lane, as far as there is room.
func (c *Conversation[R]) Room(now int64, lane *connector.Lane) {
	for _, s := range slices.Clone(c.pressed) {
		if s.Lane == lane {
			c.letIn(now, s, c.pressure[s])
		}
	}
}

func (c *Conversation[R]) letIn(now int64, s *connector.Share, b *connector.Backpressure[R]) {
	b.LetIn(now, func(m *sms.Message) bool {
		return c.desk.MayStore() && c.intake.HasRoom(keep.Accepted{Message: m, Share: s})
	},
		func(l *connector.Link, m *sms.Message, r R, after int64) {
			c.desk.hold(l, s, m, -1)
			c.accept(now, Pending[R]{Accepted: keep.Accepted{Message: m, Share: s}, Link: l, Request: r, After: after})
		},
		func(l *connector.Link, m *sms.Message, r R) {
			c.desk.hold(l, s, m, -1)
			c.desk.intake.LogNoRoom(now, &l.Source, s)
			c.refuse(now, l, m, r)
		})
	c.relieve(s, b)
}

// relieve forgets a share for which no submit waits.
func (c *Conversation[R]) relieve(s *connector.Share, b *connector.Backpressure[R]) {
	if b.Len() == 0 {
		delete(c.pressure, s)
		c.pressed = slices.DeleteFunc(c.pressed, func(other *connector.Share) bool { return other == s })
	}
}

// takeWaiting removes and returns the submits of a session that wait for room.
func (c *Conversation[R]) takeWaiting(l *connector.Link, f func(*sms.Message, R)) {
	if l.Held == 0 {
		return
	}
	for _, s := range slices.Clone(c.pressed) {
		b := c.pressure[s]
		b.Take(l, func(m *sms.Message, r R) {
			c.desk.hold(l, s, m, -1)
			f(m, r)
		})
		c.relieve(s, b)
	}
}

// refuse answers a submit for which there was no room.
func (c *Conversation[R]) refuse(now int64, l *connector.Link, m *sms.Message, r R) {
	m.Release()
	l.CountRefused()
	c.answer(now, l, r, sms.QueueFull, 0, 0)
}

// answer answers a submit. The session may have ended while that waited.
func (c *Conversation[R]) answer(now int64, l *connector.Link, r R, code sms.Code, id uint64, after int64) {
	l.Session.Answer(c.port.PDU(r), code, id)
	c.port.IsAbout(r, id)
	c.send(now, l, r, after)
}

// An openLogin is a login that is not decided yet.
type openLogin[R any] struct {
	login   *login.Attempt
	request R
	hashing bool // its password is being checked, which needs the request
}

// login begins a client's login. Requests that follow it wait until it is decided.
func (c *Conversation[R]) login(now int64, l *connector.Link, r R, who protocols.Credentials) {
	l.Enter(connector.LoggingIn)
	l.Undecided = true
	c.logins[l] = &openLogin[R]{login: c.desk.logins.Begin(now, l.Connector, l.Remote, who), request: r}
	c.goOn(now, l)
}

// goOn continues a login until it is decided or has to wait.
func (c *Conversation[R]) goOn(now int64, l *connector.Link) {
	o := c.logins[l]
	switch step, again := o.login.Next(now); step {
	case login.Hashes:
		o.hashing = true
		c.port.Check(l, o.request, o.login.Hash, func(now int64) { c.checked(now, l, o.request) })
	case login.Waits:
		c.waiting.Add(again, l, o)
		c.port.TickAt(again)
	default:
		l.LoginDecided()
		l.Undecided = false
		delete(c.logins, l)
		c.admitted(now, l, o.request, o.login.Result)
		c.receiveBehind(now, l)
	}
}

// checked continues a login when its password has been checked.
func (c *Conversation[R]) checked(now int64, l *connector.Link, r R) {
	if l.Phase == connector.Over {
		c.port.Drop(l, r)
		return
	}
	c.logins[l].hashing = false
	c.goOn(now, l)
}

// abandon ends the login of a session that has ended.
func (c *Conversation[R]) abandon(l *connector.Link) {
	o := c.logins[l]
	if o == nil {
		return
	}
	delete(c.logins, l)
	c.waiting.Take(l, func(*openLogin[R]) {})
	o.login.Abandon()
	if !o.hashing { // otherwise checked releases the request
		c.port.Drop(l, o.request)
	}
}

// admitted answers a login.
func (c *Conversation[R]) admitted(now int64, l *connector.Link, r R, result login.Result) {
	if l.HasEnded() { // it was logged out while its password was being checked
		if result.Account != nil {
			result.Account.End()
		}
		c.port.Drop(l, r)
		return
	}
	result = c.desk.admit(now, l, result)
	a := l.Session.Login(now, c.port.PDU(r), result.Code)
	if a.Kind == protocols.SendClose && result.AnswerAfter > now {
		c.refuseLogin(now, l, r, a.Reason, result.AnswerAfter)
		return
	}
	c.do(now, l, r, a)
	if result.Code == sms.OK && l.Session.Bound() != 0 {
		c.bound(now, l)
	}
}

// refuseLogin answers a failed login after a delay, and then ends the session.
func (c *Conversation[R]) refuseLogin(now int64, l *connector.Link, r R, reason string, after int64) {
	l.Enter(connector.Ended)
	l.EndReason = reason
	l.Explain(reason)
	c.delayed.Add(after, l, r)
	c.port.TickAt(after)
}

// Over forgets a session that has ended.
func (c *Conversation[R]) Over(now int64, l *connector.Link) {
	l.Enter(connector.Over)
	for _, r := range c.behind[l] {
		c.port.Drop(l, r)
	}
	delete(c.behind, l)
	c.abandon(l)
	c.forget(l)
	c.dropReceipts(l)
	c.delayed.Take(l, func(r R) { c.port.Drop(l, r) })
	c.takeWaiting(l, func(m *sms.Message, r R) {
		m.Release()
		c.port.Drop(l, r)
	})
	c.desk.Over(now, l)
}

// Tick does the work that is due: it sends delayed answers, continues logins, and
// accepts or refuses submits that have waited. It returns when the next answer or login
// is due, or 0 if none waits.
func (c *Conversation[R]) Tick(now int64) (next int64) {
	for l, _, ok := c.waiting.Due(now); ok; l, _, ok = c.waiting.Due(now) {
		c.goOn(now, l)
	}
	for l, r, ok := c.delayed.Due(now); ok; l, r, ok = c.delayed.Due(now) {
		c.port.Send(now, l, r, l.EndReason != "", l.EndReason)
	}
	for _, s := range slices.Clone(c.pressed) {
		c.letIn(now, s, c.pressure[s])
	}
	return sms.Earlier(c.delayed.Next(), c.waiting.Next())
}
