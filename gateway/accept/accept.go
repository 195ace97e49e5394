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

// A Pending is an accepted message between its acceptance and its commit. T is the type by which an
// Executor knows the waiting sender: a PDU of a session, or a message of a request.
type Pending[T any] struct {
	keep.Accepted
	More  []keep.Accepted // further messages of the same PDU or request, stored in the same commit
	From  *connector.Source
	By    T
	After int64 // the sender is not answered before this time
}

// Outcome returns the outcome with which the sender is answered after the commit.
func (p *Pending[T]) Outcome() Outcome {
	parts := 1
	for _, a := range p.More {
		if !sms.IsReply(a.Message) {
			parts++
		}
	}
	parts = max(parts, int(sms.PartsOf(p.Message.Context())))
	return Outcome{
		ID: p.Message.ID, Parts: parts, Quote: sms.QuoteOf(p.Message.Context()), Parked: p.Aside() == store.Parked,
		After: p.After,
	}
}

// An Outcome is the result for a message that came in.
type Outcome struct {
	Code   sms.Code  // OK, or the reason of the refusal
	Step   string    // the step of intake that has refused the message
	Each   string    // the reasons for each of several recipients; "": there was one recipient
	Why    string    // the text of the plugin that has refused the message
	ID     uint64    // the id by which the sender knows the message; 0: it was refused, or is a receipt that goes no further
	Parts  int       // number of short messages that the message became
	Quote  sms.Quote // what the sender pays for the message
	Parked bool      // no route leads to a lane, and an operator decides
	After  int64     // the sender is not answered before this time
}

// Refusal returns the reason of a refusal, for the pdu log.
func (o *Outcome) Refusal() sms.Refusal { return sms.Refusal{Code: o.Code, Step: o.Step, Each: o.Each} }

// An Executor continues the work on messages. It has one method for each operation that sessions
// and requests do differently.
type Executor[T any] interface {
	// Go runs work, which may take long, and then calls then. If gone is true, the sender does not wait
	// any more and must not be answered.
	Go(by T, work func(), then func(now int64, gone bool))
	// GoInOrder runs work as Go does. Later messages of the sender wait until then has returned.
	GoInOrder(by T, work func(), then func(now int64, gone bool))
	// Wait makes a submission wait for room. It returns false if the submission may not wait.
	Wait(now int64, by T, s *intake.Submission) bool
	// InTurn waits until no other goroutine handles a receipt with this id.
	InTurn(id []byte)
	// Hold keeps the sender's session until Release is called, because an answer to the sender is due.
	Hold(by T)
	Release(now int64, by T)
	// Store commits messages, and calls Acceptor.Ended after the commit.
	Store(now int64, p Pending[T])
	// Queue gives a stored message to its lane.
	Queue(now int64, a keep.Accepted)
	// TickAt asks for a call of Acceptor.Tick at the given time. Without Turns it is not called.
	TickAt(at int64)
	// Answer answers the sender with the outcome of its message. If the code is Undecided, the sender
	// is not answered, and a session ends.
	Answer(now int64, by T, o Outcome)
}

// A Matcher finds the messages to which receipts belong.
type Matcher interface {
	Of(c *config.Connector) *receipts.SMSC
	Received(o *receipts.SMSC, id []byte)
	Find(o *receipts.SMSC, m *sms.Message, r *sms.Report, f *receipts.Match) bool
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

	finding   *finding[T]           // the search for the present receipt
	searches  map[string]*search[T] // the receipts whose messages are being searched for
	searchKey []byte

	turns   *Turns // nil: no other Acceptor handles receipts at the same time
	member  uint32
	waiting []*finding[T]     // receipts that wait for their turn, in the order in which they came
	storing map[uint64]*claim // turns of receipts that wait for their commit, by the receipt's id
	passing []*claim          // turns that end at the next Tick
}

// New makes an acceptor that takes block message ids at a time. turns is nil if no other acceptor handles receipts at the same
// time.
func New[T any](
	k *keep.Keeper, i *intake.Checker, r *receipts.Matcher, block uint64, turns *Turns, x Executor[T],
) *Acceptor[T] {
	a := &Acceptor[T]{
		executor: x, keep: k, checker: i, intake: i.NewIntake(block), matcher: r, counts: &r.Counts, asking: &r.Asking,
	}
	if turns != nil {
		a.turns, a.member, a.storing = turns, turns.join(), map[uint64]*claim{}
	}
	return a
}

// Flush updates the counters with the messages that were accepted since the last Flush.
func (a *Acceptor[T]) Flush() { a.intake.Flush() }

// Room returns the Intake, which knows the room that is left.
func (a *Acceptor[T]) Room() *intake.Intake { return a.intake }

// Submit runs the remaining steps of a submission, and accepts or refuses it.
func (a *Acceptor[T]) Submit(now int64, by T, s *intake.Submission) {
	v := a.checker.Take(now, s)
	switch {
	case v == intake.Later && s.Work != nil:
		later := *s // a copy, because the caller reuses s for the next submission
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
		a.accept(now, Pending[T]{Accepted: s.Accepted(), From: s.From, By: by, After: s.After}, s.Reply(), s.MustStore, nil)
	}
}

// Accept accepts messages that have passed all steps. The messages get ids and places. They are
// stored if the store is durable or they wait in no lane. Then they are answered and queued.
func (a *Acceptor[T]) Accept(now int64, p Pending[T]) { a.accept(now, p, keep.Accepted{}, false, nil) }

// accept implements Accept. If reply has a message, it is stored in the same commit. mustStore says
// that the commit is needed even if the store is in memory. has is the turn of a receipt, or nil.
func (a *Acceptor[T]) accept(now int64, p Pending[T], reply keep.Accepted, mustStore bool, has *claim) {
	var aside bool
	p.Accepted, p.More, aside = a.intake.Enter(now, p.Accepted, p.More)
	if reply.Message != nil {
		a.intake.Accept(now, reply.Message, reply.Share)
		p.More = append(p.More, reply)
	}
	if !a.keep.Durable() && !aside && !mustStore {
		a.stored(now, p)
		a.passOn(now, has)
		return
	}
	a.keep.Storing.Add(1)
	if has != nil {
		a.storing[p.Message.ID] = has
	}
	a.executor.Store(now, p)
}

// Ended continues with a message after its commit. code is the result of keep.CodeOf.
func (a *Acceptor[T]) Ended(now int64, p Pending[T], code sms.Code) {
	defer a.keep.Storing.Add(-1) // after the answer, because a stopping gateway waits for the answer
	has := a.turnOf(p.Message.ID)
	if code == sms.OK {
		a.stored(now, p)
	} else {
		a.notStored(now, p, code)
	}
	a.passOn(now, has)
}

// stored answers the sender of a stored message, and queues the message.
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

// queue gives a stored message to its lane.
func (a *Acceptor[T]) queue(now int64, m keep.Accepted) {
	if a.intake.Leaves(now, m) {
		a.executor.Queue(now, m)
	}
}

// notStored refuses a message that could not be stored. If the message may have been stored
// nevertheless, the sender is not answered, because no answer is certainly true.
func (a *Acceptor[T]) notStored(now int64, p Pending[T], code sms.Code) {
	a.intake.Undo(p.From, p.Accepted, code)
	for _, m := range p.More {
		a.intake.Undo(p.From, m, code)
	}
	a.executor.Answer(now, p.By, Outcome{Code: code, After: p.After})
}
