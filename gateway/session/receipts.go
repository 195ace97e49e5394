package session

import (
	"sync/atomic"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/sms"
)

// A finding is a receipt of an SMSC whose message is looked for.
type finding[R any] struct {
	link    *connector.Link
	request R
	message *sms.Message
	centre  *receipts.Centre
	state   sms.State // that the SMSC reports
	search  *search[R]

	receipts.Match
	found  bool
	failed error
}

// A finder brings receipts of SMSCs to the messages that they are about.
type finder[R any] struct {
	*waitRoom[R]
	finding   finding[R]            // of the receipt at hand
	searches  map[string]*search[R] // of receipts whose messages are looked for
	searchKey []byte
}

// receipt finds the message that a receipt belongs to, and gives the receipt to the client
// that has submitted the message.
func (f *finder[R]) receipt(now int64, l *connector.Link, r R, m *sms.Message) {
	d, q := f.desk, &f.finding
	*q = finding[R]{link: l, request: r, message: m, Match: receipts.Match{Record: q.Record}}
	q.centre = d.receipts.Of(l.Connector.Config())
	if report, ok := m.Report(); ok {
		q.state = report.State
	}
	d.receipts.Received(q.centre, m)
	switch {
	case m.Flags&sms.HasReport == 0: // what it says is not known
		f.notFound(now, q)
	case !f.follows(q):
		f.find(now, q)
	}
}

// find finds the message of a receipt, which does not wait for an earlier one.
func (f *finder[R]) find(now int64, q *finding[R]) {
	if f.desk.receipts.Find(q.centre, q.message, &q.Match) {
		q.found = true
		f.foundOut(now, q)
		return
	}
	copied := *q
	copied.Record = nil
	f.begins(&copied)
	f.lookUp(&copied)
}

// lookUp looks into the store, on another goroutine.
func (f *finder[R]) lookUp(q *finding[R]) {
	d := f.desk
	f.beside(q.link, q.request, func() {
		if !q.found {
			q.found, q.failed = d.receipts.LookUp(q.centre, q.message, &q.Match)
		}
		if q.found && q.Parts > 1 && q.failed == nil {
			q.failed = d.receipts.Parts.Load(&q.Match)
		}
	}, func(now int64) { // the SMSC has no answer and sends the receipt again
		q.message.Release()
		f.ends(now, q, false)
	}, func(now int64) {
		if q.failed == nil {
			f.foundOut(now, q)
			return
		}
		d.keep.LogLookup(q.failed)
		q.message.Release()
		f.answer(now, q.link, q.request, sms.SystemError, 0, 0)
		f.ends(now, q, false)
	})
}

// foundOut deals with a receipt whose message was looked for.
func (f *finder[R]) foundOut(now int64, q *finding[R]) {
	d, l, m := f.desk, q.link, q.message
	if !q.found {
		f.notFound(now, q)
		f.ends(now, q, true)
		return
	}
	share, v := d.receipts.Direct(now, m, &q.Match)
	switch v {
	case receipts.Unread:
		copied := *q
		copied.Match = receipts.Match{} // its record is that of the next receipt, too
		_ = copied.Set(q.Record)
		f.begins(&copied)
		f.lookUp(&copied)
		return
	case receipts.Dropped:
		q.taken(nil)
		m.Release()
		f.answer(now, l, q.request, sms.OK, 0, 0)
	case receipts.Noted:
		m.Release()
		r, state, failed := q.request, q.state, error(nil)
		f.beside(l, r, func() { failed = d.keep.Committer.SyncSoon() }, func(int64) {}, func(now int64) {
			if failed != nil {
				f.answer(now, l, r, sms.SystemError, 0, 0)
				return
			}
			l.Connector.Stats.Receipts.Add(state)
			f.answer(now, l, r, sms.OK, 0, 0)
		})
	default:
		f.acceptReceipt(now, q, share, &d.receipts.Counts.Matched)
	}
	f.ends(now, q, false)
}

// taken counts a receipt that is not refused, so that the SMSC does not send it again: by its
// state, and in the count if there is one.
func (q *finding[R]) taken(count *atomic.Int64) {
	q.link.Connector.Stats.Receipts.Add(q.state)
	if count != nil {
		count.Add(1)
	}
}

// acceptReceipt accepts a receipt for a share, if that has room, and counts it.
func (f *finder[R]) acceptReceipt(now int64, q *finding[R], s *connector.Share, count *atomic.Int64) {
	l := q.link
	if s != nil && !f.intake.HasRoom(keep.Accepted{Message: q.message, Share: s}) {
		f.desk.intake.LogNoRoom(now, &l.Source, s)
		for _, m := range q.More {
			m.Release()
		}
		q.message.Release()
		l.CountRefused(sms.QueueFull)
		f.tooMuch(now, l, q.request, sms.QueueFull, 0)
		return
	}
	q.taken(count)
	if s != nil {
		s.Lane.Ends.Count(q.Says)
	}
	f.desk.intake.WarnNearlyFull(s)
	p := Pending[R]{Accepted: keep.Accepted{Message: q.message, Share: s}, Link: l, Request: q.request}
	for _, m := range q.More {
		p.More = append(p.More, keep.Accepted{Message: m, Share: s})
	}
	f.accept(now, p)
}

// notFound deals with a receipt whose message is not known: it is kept as an orphan.
func (f *finder[R]) notFound(now int64, q *finding[R]) {
	q.centre.Missed.Store(true)
	f.acceptReceipt(now, q, nil, &f.desk.receipts.Counts.Unmatched)
}
