package accept

import (
	"sync/atomic"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/sms"
)

// A finding is a receipt of an SMSC whose message is being searched for.
type finding[T any] struct {
	by      T
	from    *connector.Source
	message *sms.Message
	report  sms.Report // the SMSC's; its slices are parts of the message, and end when that becomes the client's receipt
	smsc    *receipts.SMSC
	search  *search[T]
	claim   *claim  // the receipt's turn; nil: there are no Turns, or the receipt waits
	ticket  *ticket // nil: the receipt does not wait
	at      int64   // time of the receipt, in the order of Turns

	match  receipts.Match
	found  bool
	failed error
}

// Receipt finds the message that a receipt is about, and accepts the receipt for the client that has submitted the message.
func (a *Acceptor[T]) Receipt(now int64, by T, from *connector.Source, m *sms.Message) {
	if a.finding == nil {
		a.finding = &finding[T]{}
	}
	q := a.finding
	*q = finding[T]{by: by, from: from, message: m, at: now, match: q.match.Emptied()}
	q.smsc = a.matcher.Of(from.Connector.Config())
	var ok bool
	if q.report, ok = m.Report(); ok {
		a.executor.InTurn(q.report.ID)
		a.matcher.Received(q.smsc, q.report.ID)
	}
	switch {
	case !ok: // the contents of the receipt are not known
		a.notFound(now, q)
	case a.turns != nil && !a.hasTurn(now, q):
	case !a.follows(q):
		a.find(q.at, q)
	}
}

// find searches for the message of a receipt that need not wait for an earlier receipt.
func (a *Acceptor[T]) find(now int64, q *finding[T]) {
	if a.matcher.Find(q.smsc, q.message, &q.report, &q.match) {
		q.found = true
		a.foundOut(now, q)
		return
	}
	copied := *q
	copied.match = receipts.Match{}
	a.begins(&copied)
	a.lookUp(&copied)
}

// lookUp searches the store for the message, on another goroutine.
func (a *Acceptor[T]) lookUp(q *finding[T]) {
	a.executor.Go(q.by, func() {
		if !q.found {
			q.found, q.failed = a.matcher.LookUp(q.smsc, q.message, &q.match)
		}
		if q.found && q.match.Mapping.Parts > 1 && q.failed == nil {
			q.failed = a.matcher.LoadParts(&q.match)
		}
	}, func(now int64, gone bool) {
		now = max(now, q.at)
		switch {
		case gone: // the SMSC gets no answer and sends the receipt again
			q.message.Release()
		case q.failed != nil:
			a.keep.LogLookup(q.failed)
			q.message.Release()
			a.executor.Answer(now, q.by, Outcome{Code: sms.SystemError})
		default:
			a.foundOut(now, q)
			return
		}
		a.passOn(now, q.claim)
		a.ends(now, q, false)
	})
}

// foundOut handles a receipt after the search for its message.
func (a *Acceptor[T]) foundOut(now int64, q *finding[T]) {
	if !q.found {
		a.notFound(now, q)
		a.ends(now, q, true)
		return
	}
	share, v := a.matcher.Direct(now, q.message, &q.match)
	switch v {
	case receipts.Unread:
		copied := *q
		copied.match = q.match.Copy() // a copy, because the record is reused for the next receipt
		a.begins(&copied)
		a.lookUp(&copied)
		return
	case receipts.Dropped:
		q.message.Release()
		q.from.Connector.Stats.Receipts.Add(q.report.State)
		a.passOn(now, q.claim)
		a.executor.Answer(now, q.by, Outcome{})
	case receipts.Recorded:
		q.message.Release()
		a.answerRecorded(now, q)
	default:
		a.acceptReceipt(now, q, share, &a.counts.Matched)
	}
	a.ends(now, q, false)
}

// answerRecorded answers a receipt that goes no further, after its content is stored, and counts it
// by its state.
func (a *Acceptor[T]) answerRecorded(now int64, q *finding[T]) {
	by, from, state := q.by, q.from.Connector, q.report.State
	a.passOn(now, q.claim)
	var failed error
	a.executor.Go(by, func() { failed = a.keep.Batches.SyncSoon() }, func(now int64, gone bool) {
		switch {
		case gone:
		case failed != nil:
			a.executor.Answer(now, by, Outcome{Code: keep.CodeOf(failed)})
		default:
			from.Stats.Receipts.Add(state)
			a.executor.Answer(now, by, Outcome{})
		}
	})
}

// acceptReceipt accepts a receipt for a share, if the share has room, and counts the receipt. If
// the share is nil, the receipt is stored as an orphan.
func (a *Acceptor[T]) acceptReceipt(now int64, q *finding[T], s *connector.Share, count *atomic.Int64) {
	p := Pending[T]{Accepted: keep.Accepted{Message: q.message, Share: s}, From: q.from, By: q.by}
	if s != nil && !a.intake.Fits(p.Accepted) {
		a.checker.LogNoRoom(now, q.from, s)
		for _, m := range q.match.More {
			m.Release()
		}
		q.message.Release()
		q.from.CountRefused(sms.QueueFull)
		a.passOn(now, q.claim)
		a.executor.Answer(now, q.by, Outcome{Code: sms.QueueFull})
		return
	}
	count.Add(1)
	if s == nil { // orphans are ordered by their ids, so they take none of a block
		q.message.ID = a.keep.IDs.Add(1)
	} else {
		s.Lane.Ends.Count(q.match.Says)
		a.checker.WarnNearlyFull(s)
	}
	if s != nil && a.asking.Asks(q.message, s) {
		a.intake.Count(q.from.Connector, q.message)
		a.asking.Ask(q.message, q.match.More, s)
		a.answerRecorded(now, q)
		return
	}
	q.from.Connector.Stats.Receipts.Add(q.report.State)
	for _, m := range q.match.More {
		p.More = append(p.More, keep.Accepted{Message: m, Share: s})
	}
	a.accept(now, p, keep.Accepted{}, false, q.claim)
}

// notFound stores a receipt whose message is not known as an orphan.
func (a *Acceptor[T]) notFound(now int64, q *finding[T]) {
	q.smsc.Missed.Store(true)
	a.acceptReceipt(now, q, nil, &a.counts.Unmatched)
}
