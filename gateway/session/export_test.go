package session

import (
	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/sms"
)

const (
	MaxOperating   = maxOperating
	PatientRefusal = patientRefusal
	LongestRefusal = longestRefusal
)

// A Left is how much a conversation, and Sessions, still has of sessions.
type Left struct{ Held, Pressed, Behind, Logins, Searches, Turns int }

func (c *Conversation[R]) Left() Left {
	return Left{
		int(c.sessions.waitingForRoom.Load()), len(c.waitRoom.pressure), len(c.behind.of), len(c.logins.open), c.entrance.acceptor.Searches(),
		c.entrance.acceptor.Turns(),
	}
}

func (c *Conversation[R]) Answer(now int64, l *connector.Link, r R, code sms.Code, id uint64, after int64) {
	c.replies.answer(now, l, r, code, id, after)
}

func (c *Conversation[R]) Accept(now int64, p Pending[R]) {
	c.entrance.acceptor.Accept(now, p)
}

func (c *Conversation[R]) Receipt(now int64, l *connector.Link, r R, m *sms.Message) {
	c.entrance.acceptor.Receipt(now, Sender[R]{l, r}, &l.Source, m)
}

func (c *Conversation[R]) DropReceipts(l *connector.Link) { c.entrance.over(l) }

// RoomLeft returns the room that is left.
func (c *Conversation[R]) RoomLeft() *intake.Intake { return c.entrance.acceptor.Room() }
