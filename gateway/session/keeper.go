package session

import (
	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/sms"
)

// A Pending is a message that was accepted, between its acceptance and its commit.
type Pending[R any] struct {
	keep.Accepted
	More    []keep.Accepted // that came of the same PDU; they are stored in the same commit
	Link    *connector.Link // on which it came
	Request R               // the PDU that carried it
	After   int64           // that is not answered before this time
}

// A keeper makes messages the gateway's own: they get their ids, are stored, answered and queued.
type keeper[R any] struct {
	*replies[R]
	intake *intake.Intake
}

// accept makes a message the gateway's own, and goes on when it is stored.
func (k *keeper[R]) accept(now int64, p Pending[R]) {
	var parked bool
	p.Accepted, p.More, parked = k.intake.Enter(now, p.Accepted, p.More)
	if !k.desk.keep.Durable() && !parked {
		k.stored(now, p)
		return
	}
	k.store(now, p)
}

// store has messages stored.
func (k *keeper[R]) store(now int64, p Pending[R]) {
	p.Link.Storing++
	k.desk.keep.Storing.Add(1)
	k.port.Store(now, p)
}

// ended goes on with a message when its commit has ended. With an error nothing was
// stored.
func (k *keeper[R]) ended(now int64, p Pending[R], err bool) {
	defer k.desk.keep.Storing.Add(-1) // behind the answer, for which a stop waits
	p.Link.Storing--
	if err {
		k.notStored(now, p)
	} else {
		k.stored(now, p)
	}
	if p.Link.Storing == 0 {
		k.letGo(now, p.Link)
	}
}

// stored answers the PDU that carried a message, and queues the message.
func (k *keeper[R]) stored(now int64, p Pending[R]) {
	k.intake.Count(p.Link.Connector, p.Message)
	for _, a := range p.More {
		k.intake.Count(p.Link.Connector, a.Message)
	}
	k.reply(now, p, sms.OK, p.Message.ID)
	k.queue(now, p.Accepted)
	for _, a := range p.More {
		k.queue(now, a)
	}
}

// queue gives a message that was stored to its lane.
func (k *keeper[R]) queue(now int64, a keep.Accepted) {
	if k.intake.Leaves(now, a) {
		k.port.Queue(now, a.Share, a.Message)
	}
}

// notStored refuses a message that could not be stored.
func (k *keeper[R]) notStored(now int64, p Pending[R]) {
	k.intake.Undo(p.Link.Connector, p.Accepted)
	for _, a := range p.More {
		k.intake.Undo(p.Link.Connector, a)
	}
	k.reply(now, p, sms.SystemError, 0)
}

// reply answers the PDU that carried a message, unless its session is over.
func (k *keeper[R]) reply(now int64, p Pending[R], code sms.Code, id uint64) {
	if p.Link.Phase == connector.Over {
		k.port.Drop(p.Link, p.Request)
		return
	}
	k.answer(now, p.Link, p.Request, code, id, p.After)
}
