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
	link     *connector.Link
	request  R
	message  *sms.Message
	operator *receipts.Operator
	state    sms.State // that the SMSC reports
	search   *search[R]

	receipts.Match
	found  bool
	failed error
}

// receipt finds the message that a receipt belongs to, and gives the receipt to the client
// that has submitted the message.
func (c *Conversation[R]) receipt(now int64, l *connector.Link, r R, m *sms.Message) {
	d, q := c.desk, &c.finding
	*q = finding[R]{link: l, request: r, message: m, Match: receipts.Match{Record: q.Record}}
	q.operator = d.receipts.Of(l.Connector.Config())
	if report, ok := m.Report(); ok {
		q.state = report.State
	}
	d.receipts.Received(q.operator, m)
	switch {
	case m.Flags&sms.HasReport == 0: // what it says is not known
		c.notFound(now, q)
	case !c.follows(q):
		c.find(now, q)
	}
}

// find finds the message of a receipt, which does not wait for an earlier one.
func (c *Conversation[R]) find(now int64, q *finding[R]) {
	if c.desk.receipts.Find(q.operator, q.message, &q.Match) {
		q.found = true
		c.foundOut(now, q)
		return
	}
	copied := *q
	copied.Record = nil
	c.begins(&copied)
	if c.desk.Store == nil { // there is nothing to wait for
		copied.found, copied.failed = c.desk.receipts.LookUp(q.operator, q.message, &copied.Match)
		c.foundOut(now, &copied)
		return
	}
	c.lookUp(&copied)
}

// lookUp looks into the store, on another goroutine.
func (c *Conversation[R]) lookUp(q *finding[R]) {
	d := c.desk
	c.beside(q.link, q.request, func() {
		if !q.found {
			q.found, q.failed = d.receipts.LookUp(q.operator, q.message, &q.Match)
		}
		if q.found && q.Parts > 1 && q.failed == nil {
			q.failed = d.receipts.Parts.Load(&q.Match)
		}
	}, func(now int64) { // the SMSC has no answer and sends the receipt again
		q.message.Release()
		c.ends(now, q, false)
	}, func(now int64) {
		if q.failed == nil {
			c.foundOut(now, q)
			return
		}
		d.LogLookup(q.failed)
		q.message.Release()
		c.answer(now, q.link, q.request, sms.SystemError, 0, 0)
		c.ends(now, q, false)
	})
}

// foundOut deals with a receipt whose message was looked for.
func (c *Conversation[R]) foundOut(now int64, q *finding[R]) {
	d, l, m := c.desk, q.link, q.message
	if !q.found {
		c.notFound(now, q)
		c.ends(now, q, true)
		return
	}
	share, v := d.receipts.Direct(now, m, &q.Match)
	if v == receipts.Noted && d.Store == nil { // there is nowhere but in memory
		v = receipts.Dropped
	}
	switch v {
	case receipts.Unread:
		copied := *q
		copied.Match = receipts.Match{} // its record is that of the next receipt, too
		_ = copied.Set(q.Record)
		c.begins(&copied)
		c.lookUp(&copied)
		return
	case receipts.Dropped:
		q.taken(nil)
		m.Release()
		c.answer(now, l, q.request, sms.OK, 0, 0)
	case receipts.Noted:
		q.taken(nil)
		m.Release()
		r, failed := q.request, error(nil)
		c.beside(l, r, func() { failed = d.Committer.SyncSoon() }, func(int64) {}, func(now int64) {
			if failed != nil {
				c.answer(now, l, r, sms.SystemError, 0, 0)
			} else {
				c.answer(now, l, r, sms.OK, 0, 0)
			}
		})
	default:
		c.acceptReceipt(now, q, share, &d.receipts.Counts.Matched)
	}
	c.ends(now, q, false)
}

// taken counts a receipt that is not refused, so that the SMSC does not send it again: by its
// state, and in the count if there is one.
func (q *finding[R]) taken(count *atomic.Int64) {
	q.link.Connector.Stats.Receipts[q.state].Add(1)
	if count != nil {
		count.Add(1)
	}
}

// acceptReceipt accepts a receipt for a share, if that has room, and counts it.
func (c *Conversation[R]) acceptReceipt(now int64, q *finding[R], s *connector.Share, count *atomic.Int64) {
	l := q.link
	if s != nil && !c.intake.HasRoom(keep.Accepted{Message: q.message, Share: s}) {
		c.desk.intake.LogNoRoom(now, &l.Source, s)
		for _, m := range q.More {
			m.Release()
		}
		q.message.Release()
		l.CountRefused()
		c.tooMuch(now, l, q.request, sms.QueueFull, 0)
		return
	}
	q.taken(count)
	c.desk.intake.WarnNearlyFull(s)
	p := Pending[R]{Accepted: keep.Accepted{Message: q.message, Share: s}, Link: l, Request: q.request}
	for _, m := range q.More {
		p.More = append(p.More, keep.Accepted{Message: m, Share: s})
	}
	c.accept(now, p)
}

// notFound deals with a receipt whose message is not known: it is kept as an orphan.
func (c *Conversation[R]) notFound(now int64, q *finding[R]) {
	d, l := c.desk, q.link
	q.operator.Missed.Store(true)
	if d.Store == nil {
		q.taken(&d.receipts.Counts.Unmatched)
		d.logUnknownReceipt(now, l)
		q.message.Release()
		c.answer(now, l, q.request, sms.OK, 0, 0)
		return
	}
	c.acceptReceipt(now, q, nil, &d.receipts.Counts.Unmatched)
}

// logUnknownReceipt logs that a receipt of an SMSC is dropped because its message is not known and there
// is no store to keep it in.
func (d *Desk) logUnknownReceipt(now int64, l *connector.Link) {
	d.intake.LogRefused(now, &l.Source, &d.Storms.Unrouted, "receipt accepted and dropped: its message is not known")
}
