package session

import (
	"pmg/connector"
	"pmg/gateway/accept"
	"pmg/gateway/login"
	"pmg/protocols"
	"pmg/sms"
)

// A Conversation is the gateway's side of its sessions: it does what their state
// machines ask for. It is the same in every architecture. R is the type in which an
// architecture keeps a PDU until it is answered. A Conversation is not safe for
// concurrent use. A gateway may have several, each on a goroutine of its own: a session belongs to one of them for its life.
// What all share is Sessions, and what is safe for concurrent use.
//
//	Receive ──► Session ──► Send, SendClose, Close      the peer is answered
//	                    ──► Login ──► check ──► Login   behind it PDUs wait
//	                    ──► Message ──► accept ──► stored ──► answer ──► queue
//	                    ──► Answered ──► the message's lane
//
// Each of its parts holds the others that it needs: replies, the room in which submits wait, the entrance (whose
// executor the gateway's Acceptor calls), answers and logins. What is left here is the life of sessions, and what
// clients ask about their messages.
type Conversation[R any] struct {
	sessions *Sessions
	port     Port[R]
	replies  replies[R]
	waitRoom waitRoom[R]
	behind   backlog[R]
	entrance entrance[R]
	answers  pairer[R]
	logins   logins[R]
}

// The numbers of message ids that a conversation takes together. Those of several conversations are less in the order of arrival
// the more each takes.
const (
	blockOfOne  = 64
	blockOfMany = 8
)

// NewConversation makes a conversation, one of n of the gateway.
func NewConversation[R any](d *Sessions, port Port[R], n int) *Conversation[R] {
	c := &Conversation[R]{sessions: d, port: port}
	block, turns := uint64(blockOfOne), (*accept.Turns)(nil)
	if n > 1 {
		block, turns = blockOfMany, d.turns
	}
	c.replies = replies[R]{
		sessions: d, port: port, behind: &c.behind, postponed: map[*connector.Link]sessionEnd[R]{},
	}
	c.waitRoom = waitRoom[R]{
		sessions: d, port: port, replies: &c.replies, pressure: map[*connector.Share]*connector.Backpressure[R]{},
	}
	c.behind = backlog[R]{of: map[*connector.Link][]R{}, receive: c.Receive}
	x := &executor[R]{port: port, replies: &c.replies, room: &c.waitRoom, behind: &c.behind}
	c.entrance = entrance[R]{
		sessions: d, port: port, room: &c.waitRoom, executor: x,
		acceptor: accept.New(d.keep, d.intake, d.receipts, block, turns, x),
	}
	c.answers = pairer[R]{sessions: d, port: port, replies: &c.replies, room: &c.waitRoom}
	c.logins = logins[R]{
		sessions: d, port: port, behind: &c.behind, open: map[*connector.Link]*openLogin[R]{}, decided: c.admitted,
	}
	return c
}

// Flush counts the messages that were accepted since the last Flush.
func (c *Conversation[R]) Flush() { c.entrance.acceptor.Flush() }

// Receive handles a PDU of the peer.
func (c *Conversation[R]) Receive(now int64, l *connector.Link, r R) {
	switch {
	case l.Phase == connector.Over:
		c.port.Drop(l, r)
	case l.Hosted.HandsOver:
		c.port.HandOver(l, r)
	case l.Undecided || l.Hosted.Answering:
		c.behind.add(l, r)
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
		c.sessions.takenPartly(l)
	}
	switch a.Kind {
	case protocols.Send:
		c.port.Send(now, l, r, false, "")
	case protocols.Logout:
		c.loggingOut(now, l)
		if !c.replies.postpone(l, sessionEnd[R]{request: r, send: true}) {
			c.port.Send(now, l, r, false, "")
		}
	case protocols.Drain:
		l.Enter(connector.Draining)
		c.port.Drop(l, r)
		if l.Lane == nil {
			c.Quiet(now, l)
			return
		}
		c.port.LoggingOut(now, l) // the lane calls Quiet later
	case protocols.SendClose:
		c.waitRoom.settle(now, l)
		l.Enter(connector.Ended)
		l.Explain(a.Reason)
		c.port.LoggingOut(now, l)
		if !c.replies.postpone(l, sessionEnd[R]{request: r, send: true, last: true, reason: a.Reason}) {
			c.port.Send(now, l, r, true, a.Reason)
		}
	case protocols.Close:
		c.replies.close(now, l, r, a.Reason)
	case protocols.Login:
		c.logins.begin(now, l, r, a.Credentials)
	case protocols.Bound:
		c.bound(now, l)
		c.port.Drop(l, r)
	case protocols.HandOver:
		c.handOver(now, l, r)
	case protocols.Message:
		c.message(now, l, r, a.Messages)
	case protocols.Operate:
		c.operate(now, l, r)
	case protocols.Alert:
		c.sessions.logAlert(now, l)
		c.port.Drop(l, r)
	case protocols.Answered:
		c.answers.answered(now, l, r, a)
	default:
		c.port.Drop(l, r)
	}
}

// message accepts the message of a PDU, or those to its recipients if they are several.
func (c *Conversation[R]) message(now int64, l *connector.Link, r R, recipients int) {
	if l.Hosted.By != nil {
		if !c.sessions.stillIn(now, l, c.port.PDU(r)) {
			c.handOver(now, l, r)
			return
		}
		l.Hosted.Answering = true
		l.Hosted.By.Work()
	}
	if recipients > 0 {
		c.entrance.messages(now, l, r, recipients)
		return
	}
	c.entrance.message(now, l, r)
}

// admitted answers a login.
func (c *Conversation[R]) admitted(now int64, l *connector.Link, r R, result login.Result) {
	if l.HasEnded() { // the session was logged out while its password was being checked
		if result.Account != nil && l.Hosted.By == nil {
			result.Account.End(l.Remote.Addr())
		}
		c.port.Drop(l, r)
		return
	}
	var replaced *connector.Link
	if result.Exceeds() {
		replaced, result = c.sessions.replaceable(now, l, result)
	}
	result = c.sessions.admit(now, l, result)
	switch {
	case replaced == nil:
	case result.Code == sms.OK:
		c.replace(now, replaced, l.Remote)
	default:
		replaced.Place.Leave()
	}
	a := l.Session.Login(now, c.port.PDU(r), result.Code)
	if a.Kind == protocols.Message { // the login was part of it
		c.bound(now, l)
		c.do(now, l, r, a)
		return
	}
	if a.Kind == protocols.SendClose && result.AnswerAfter > now {
		c.refuseLogin(now, l, r, a.Reason, result.AnswerAfter)
		return
	}
	c.do(now, l, r, a)
	if result.Code == sms.OK && l.Session.Bound() != 0 {
		c.bound(now, l)
	}
}

// handOver ends a session whose connection is handed over.
func (c *Conversation[R]) handOver(now int64, l *connector.Link, r R) {
	l.Hosted.HandsOver = true
	l.Enter(connector.Ended)
	c.port.LoggingOut(now, l)
	c.port.HandOver(l, r)
}

// refuseLogin answers a failed login after a delay, and then ends the session.
func (c *Conversation[R]) refuseLogin(now int64, l *connector.Link, r R, reason string, after int64) {
	l.Enter(connector.Ended)
	l.EndReason = reason
	l.Explain(reason)
	c.replies.delayed.Add(after, l, r)
	c.port.TickAt(after)
}

// Stored goes on with a message whose commit has ended. code is the result of the commit, from keep.CodeOf.
func (c *Conversation[R]) Stored(now int64, p Pending[R], code sms.Code) {
	c.entrance.ended(now, p, code)
}

// Room accepts the submits that wait for room in a lane, as far as there is room.
func (c *Conversation[R]) Room(now int64, lane *connector.Lane) { c.entrance.roomIn(now, lane) }

// Over forgets a session that has ended.
func (c *Conversation[R]) Over(now int64, l *connector.Link) {
	l.Enter(connector.Over)
	for _, r := range c.behind.take(l) {
		c.port.Drop(l, r)
	}
	c.logins.over(l)
	c.replies.over(l)
	c.entrance.over(l)
	c.waitRoom.over(l)
	c.sessions.Over(now, l)
}

// Tick does the work that is due: it sends delayed answers, continues logins, and
// accepts or refuses submits that have waited. It returns when the next answer or login
// is due, or 0 if none waits. With several conversations, Tick is called when what was queued
// before has reached the goroutine that dispatches.
func (c *Conversation[R]) Tick(now int64) (next int64) {
	c.logins.tick(now)
	c.replies.tick(now)
	c.entrance.tick(now)
	return sms.Earlier(c.replies.delayed.Next(), c.logins.waiting.Next())
}
