package receipts

import (
	"pmg/gateway/credit"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/sms"
	"pmg/store"
)

// An EventLog writes the event of a refund, if there are events.
type EventLog interface {
	// AddRefund adds the event to a batch, whose lock the caller holds. The balance is that after it, at a time by the wall
	// clock.
	AddRefund(b *store.Batch, v *store.Mapping, balance sms.Money, wall int64)
}

// Refunds give back what accounts were charged for messages that were not delivered. They are safe for concurrent use.
type Refunds struct {
	node   *node.Node
	keep   *keep.Keeper
	log    EventLog
	failed *reported // messages that a receipt reports as failed and that were not charged at that time
	given  *reported // messages that were refunded or delivered
}

// HasFailed reports whether a receipt has said that a message was not delivered that has not ended for the gateway. The
// committer's lock is held.
func (r *Refunds) HasFailed(id uint64) bool { return r.failed.has(id) }

// undo gives back what an account was charged for a message that was not delivered, if its terms say so, and reports whether
// that is in the open batch. That also records the message without a price, so that another receipt gives nothing back. If the
// message has not ended for the gateway yet, HasFailed says that it is not to be charged.
func undo(d *Matcher, now int64, f *Match) (undone bool) {
	r := &d.Refunds
	if !r.mayUndo(f) {
		return false
	}
	account := string(f.Mapping.Account)
	c := &r.node.Origins.TallyOf(account).Credit
	wall := r.node.Clock.Wall(now)
	r.keep.Batches.Write(func(b *store.Batch) {
		v := f.latest()
		if v.Price == 0 {
			r.failed.add(f.Mapping.ID)
			if !r.given.has(f.Mapping.ID) { // the message may have been charged long ago, or not have ended
				forgetQuote(&f.Mapping)
			}
			return
		}
		if r.given.has(v.ID) {
			return
		}
		r.given.add(v.ID)
		credit.Undo(b, account, c, v.Price, store.DayOf(wall))
		balance, _ := c.Balance()
		r.log.AddRefund(b, &v, balance, wall)
		v.Price, undone = 0, true
		unquote(&v)
		f.Mapping.Context = v.Context
		d.recording.Lock()
		defer d.recording.Unlock()
		recordUnder(d, b, f.smsc, f.key, &v, wall, false)
	})
	return undone
}

// keepCharge records that a message was delivered, so that a later receipt that says otherwise gives nothing back.
func keepCharge(d *Matcher, now int64, f *Match) {
	if d.Refunds.mayUndo(f) {
		keepPrice(d, now, f)
	}
}

// mayUndo reports whether the terms of a message's account say that it gets its money back if the message is not delivered.
func (r *Refunds) mayUndo(f *Match) bool {
	return len(f.Mapping.Account) > 0 && f.smsc != nil && r.node.Origins.TallyOf(string(f.Mapping.Account)).Credit.Terms().Undo
}

// keepPrice records that the price of a message is not given back any more.
func keepPrice(d *Matcher, now int64, f *Match) {
	r := &d.Refunds
	r.given.add(f.Mapping.ID)
	r.keep.Batches.Write(func(b *store.Batch) {
		v := f.latest()
		if v.Price == 0 {
			return
		}
		v.Price = 0
		d.recording.Lock()
		defer d.recording.Unlock()
		recordUnder(d, b, f.smsc, f.key, &v, r.node.Clock.Wall(now), false)
	})
}

// latest returns what is known of the message of a match now: it may have ended since that was made.
func (f *Match) latest() store.Mapping {
	f.smsc.mu.Lock()
	record := append([]byte(nil), f.smsc.recent.find(f.key)...)
	f.smsc.mu.Unlock()
	if len(record) == 0 {
		record = f.Record
	}
	v, err := store.DecodeMapping(record)
	if err != nil {
		return store.Mapping{}
	}
	return v
}
