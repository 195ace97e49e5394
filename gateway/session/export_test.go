package session

import (
	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/sms"
)

const (
	MaxOperating   = maxOperating
	PatientRefusal = patientRefusal
	LongestRefusal = longestRefusal
)

// A Left is how much a conversation, and the desk, still has of sessions.
type Left struct{ Held, Pressed, Behind, Logins, Searches int }

func (c *Conversation[R]) Left() Left {
	return Left{int(c.desk.waitingForRoom.Load()), len(c.waitRoom.pressure), len(c.behind.of), len(c.logins.open), len(c.receipts.searches)}
}

func (c *Conversation[R]) Answer(now int64, l *connector.Link, r R, code sms.Code, id uint64, after int64) {
	c.replies.answer(now, l, r, code, id, after)
}

func (c *Conversation[R]) Refuse(now int64, l *connector.Link, m *sms.Message, r R) {
	c.waitRoom.refuse(now, l, m, r)
}

func (c *Conversation[R]) Cancel(from *connector.Connector, a keep.Accepted) {
	c.keeper.intake.Undo(from, a)
}

func (c *Conversation[R]) Accept(now int64, p Pending[R]) { c.keeper.accept(now, p) }

func (c *Conversation[R]) Receipt(now int64, l *connector.Link, r R, m *sms.Message) {
	c.receipts.receipt(now, l, r, m)
}

// FoundOut deals with a receipt that belongs to what f says.
func (c *Conversation[R]) FoundOut(now int64, l *connector.Link, r R, m *sms.Message, f *receipts.Match) {
	c.receipts.foundOut(now, &finding[R]{link: l, request: r, message: m, Match: *f, found: true})
}

func (c *Conversation[R]) DropReceipts(l *connector.Link) { c.receipts.over(l) }

// Rooms returns what intake asks for room.
func (c *Conversation[R]) Rooms() intake.Room { return &c.waitRoom }
