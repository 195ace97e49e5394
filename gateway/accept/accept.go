package accept

import (
	"sync/atomic"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/sms"
	"pmg/store"
)

// A Pending is a message that was accepted, between its acceptance and its commit. T is by what an Executor knows who waits
// for the answer: a PDU of a session, or a message of a request.
type Pending[T any] struct {
	keep.Accepted
	More  []keep.Accepted // that came with it; they are stored in the same commit
	From  *connector.Source
	By    T
	After int64 // it is not answered before this time
}

// Outcome returns what its sender is answered when it is stored.
func (p *Pending[T]) Outcome() Outcome {
	parts := 1
	for _, a := range p.More {
		if !sms.IsReply(a.Message) {
			parts++
		}
	}
	parts = max(parts, int(sms.PartsOf(p.Message.Context())))
	return Outcome{ID: p.Message.ID, Parts: parts, Parked: p.Aside() == store.Parked, After: p.After}
}

// An Outcome is what became of a message that came in.
type Outcome struct {
	Code   sms.Code // why it was refused
	Step   string   // of intake that has refused it
	Each   string   // why each of several recipients was refused; "": there was one
	Why    string   // what the plugin says that has refused it
	ID     uint64   // by which its sender knows it; 0: it was refused, or is a receipt that goes no further
	Parts  int      // short messages that it has become
	Parked bool     // no route leads anywhere, and an operator will decide
	After  int64    // its sender is not answered before this time
}

// Refusal returns why it was refused, for the pdu log.
func (o *Outcome) Refusal() sms.Refusal { return sms.Refusal{Code: o.Code, Step: o.Step, Each: o.Each} }

// An Executor is where messages go on. It has one method for each thing that a session and a request do differently.
type Executor[T any] interface {
	// Go runs work, which may take long, and then calls then. With gone nobody waits for an answer any more, and there
	// must be none.
	Go(by T, work func(), then func(now int64, gone bool))
	// GoInOrder does the same, and what the sender brings behind it waits until then has returned.
	GoInOrder(by T, work func(), then func(now int64, gone bool))
	// Wait makes a submission wait for room, and reports whether it may.
	Wait(now int64, by T, s *intake.Submission) bool
	// InTurn waits until no other goroutine has a receipt with an id.
	InTurn(id []byte)
	// Hold keeps the sender from leaving until Release, because an answer is due to it.
	Hold(by T)
	Release(now int64, by T)
	// Store commits messages, and calls Acceptor.Ended when that has ended.
	Store(now int64, p Pending[T])
	// Queue gives a message that was stored to its lane.
	Queue(now int64, a keep.Accepted)
	// Answer answers the sender with the outcome of its message. With Undecided there is no answer: a session ends.
	Answer(now int64, by T, o Outcome)
}

// A Matcher finds the messages that receipts are about.
type Matcher interface {
	Of(c *config.Connector) *receipts.SMSC
	Received(o *receipts.SMSC, m *sms.Message)
	Find(o *receipts.SMSC, m *sms.Message, f *receipts.Match) bool
	LookUp(o *receipts.SMSC, m *sms.Message, f *receipts.Match) (found bool, failed error)
	LoadParts(f *receipts.Match) error
	Direct(now int64, m *sms.Message, f *receipts.Match) (*connector.Share, receipts.Verdict)
}

// An Acceptor accepts messages and receipts. It is not safe for concurrent use.
type Acceptor[T any] struct {
	executor Executor[T]
	keep     *keep.Keeper
	checker  *intake.Checker
	intake   *intake.Intake
	matcher  Matcher
	counts   *receipts.Counters[atomic.Int64]
	asking   *receipts.Asking

	finding   *finding[T]           // of the receipt at hand
	searches  map[string]*search[T] // of receipts whose messages are looked for
	searchKey []byte
}

// New makes an acceptor that takes block message ids at a time.
func New[T any](k *keep.Keeper, i *intake.Checker, r *receipts.Matcher, block uint64, x Executor[T]) *Acceptor[T] {
	return &Acceptor[T]{
		executor: x, keep: k, checker: i, intake: i.NewIntake(block), matcher: r, counts: &r.Counts, asking: &r.Asking,
	}
}

// Flush counts the messages that were accepted since the last Flush.
func (a *Acceptor[T]) Flush() { a.intake.Flush() }

// Room returns the room that is left beside what was accepted.
func (a *Acceptor[T]) Room() *intake.Intake { return a.intake }

// Submit takes a submission through the steps that it has not taken yet, and accepts or refuses it.
func (a *Acceptor[T]) Submit(now int64, by T, s *intake.Submission) {
	v := a.checker.Take(now, s)
	switch {
	case v == intake.Later && s.Work != nil:
		later := *s // the next submission is another one
		a.executor.GoInOrder(by, later.Do, func(now int64, gone bool) {
			if gone {
				later.Drop()
				return
			}
			a.Submit(now, by, &later)
		})
		return
	case v == intake.Later:
		if a.executor.Wait(now, by, s) {
			return
		}
		v = a.checker.NoRoom(now, s)
	}
	switch {
	case v == intake.Refuse:
		s.Drop()
		a.executor.Answer(now, by, Outcome{Code: s.Code, Step: s.Refuser(a.checker), Why: s.Why(), After: s.After})
	case s.Message.Kind == sms.Receipt:
		a.Receipt(now, by, s.From, s.Message)
	default:
		a.accept(now, Pending[T]{Accepted: s.Accepted(), From: s.From, By: by, After: s.After}, s.Reply(), s.MustStore)
	}
}

// Accept makes messages the gateway's own that have taken their steps: they get their ids and places, are stored if the store is
// durable or they wait in no lane, answered and queued.
func (a *Acceptor[T]) Accept(now int64, p Pending[T]) { a.accept(now, p, keep.Accepted{}, false) }

// accept is Accept. A reply, unless its message is nil, is stored in the same commit. With mustStore something is stored with the
// message that must be, even if the store is in memory.
func (a *Acceptor[T]) accept(now int64, p Pending[T], reply keep.Accepted, mustStore bool) {
	var aside bool
	p.Accepted, p.More, aside = a.intake.Enter(now, p.Accepted, p.More)
	if reply.Message != nil {
		a.intake.Accept(now, reply.Message, reply.Share)
		p.More = append(p.More, reply)
	}
	if !a.keep.Durable() && !aside && !mustStore {
		a.stored(now, p)
		return
	}
	a.keep.Storing.Add(1)
	a.executor.Store(now, p)
}

// Ended goes on with a message when its commit has ended with a code, that of keep.CodeOf.
func (a *Acceptor[T]) Ended(now int64, p Pending[T], code sms.Code) {
	defer a.keep.Storing.Add(-1) // behind the answer, for which a stop waits
	if code == sms.OK {
		a.stored(now, p)
	} else {
		a.notStored(now, p, code)
	}
}

// stored answers who waits for a message, and queues the message.
func (a *Acceptor[T]) stored(now int64, p Pending[T]) {
	a.intake.Count(p.From.Connector, p.Message)
	for _, m := range p.More {
		a.intake.Count(p.From.Connector, m.Message)
	}
	a.executor.Answer(now, p.By, p.Outcome())
	a.queue(now, p.Accepted)
	for _, m := range p.More {
		a.queue(now, m)
	}
}

// queue gives a message that was stored to its lane.
func (a *Acceptor[T]) queue(now int64, m keep.Accepted) {
	if a.intake.Leaves(now, m) {
		a.executor.Queue(now, m)
	}
}

// notStored refuses a message that could not be stored. One that may have been stored all the same has no answer that is true.
func (a *Acceptor[T]) notStored(now int64, p Pending[T], code sms.Code) {
	a.intake.Undo(p.From, p.Accepted, code)
	for _, m := range p.More {
		a.intake.Undo(p.From, m, code)
	}
	a.executor.Answer(now, p.By, Outcome{Code: code, After: p.After})
}
