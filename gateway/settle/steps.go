package settle

import (
	"pmg/events"
	"pmg/gateway/credit"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/sms"
	"pmg/store"
)

// A Step is an action at the end of a message. All steps of a message are taken once, in one batch
// of the store.
type Step struct {
	Name, Doc string

	needs func(d *Settler, m *sms.Message, e *ending) bool
	do    func(d *Settler, b *store.Batch, m *sms.Message, e *ending)
}

// Steps returns the steps in their order.
func Steps() []Step {
	return []Step{
		{"record", "deletes the message from the store", (*Settler).hasRecord, (*Settler).endRecord},
		{"price", "charges its account if an SMSC has accepted it; otherwise gives back what was reserved", hasPrice, endPrice},
		{"event", "writes its event", (*Settler).hasEvent, (*Settler).endEvent},
		{"trace", "sends its trace", (*Settler).hasTrace, (*Settler).endTrace},
		{"id", "stores the SMSC's id of it, for its receipts", (*Settler).hasID, (*Settler).endID},
		{"fate", "stores its outcome, for its client's queries", (*Settler).hasFate, (*Settler).endFate},
		{
			"receipt", "makes the receipt of a message that no SMSC has accepted; asks the hook receipt, as about those of SMSCs",
			(*Settler).hasReceipt, (*Settler).endReceipt,
		},
		{"plugins", "informs the plugins of the hook result, when all that is stored", hasResult, endResult},
	}
}

// An ending is the end of a message on its way through the steps. Endings are reused, which avoids
// an allocation for each message.
type ending struct {
	keep.Ending
	message *sms.Message
	made    receipts.Made  // receipts that the gateway has made
	maps    *receipts.SMSC // the SMSC that has accepted the message and may send receipts; nil: no receipts are expected

	settler *Settler
	write   func(*store.Batch) // runs the steps that are needed
}

func newEnding(d *Settler) *ending {
	e := &ending{settler: d}
	e.write = e.takeSteps
	return e
}

// Forget ends a message. Every message ends here, once. Forget does not wait for the commit. maps
// is the SMSC that has accepted the message and may send receipts, or nil.
func (d *Settler) Forget(m *sms.Message, end keep.Ending, maps *receipts.SMSC) {
	e := d.endings.Get().(*ending)
	e.Ending, e.message, e.maps = end, m, maps
	d.end(e)
	e.Ending, e.message, e.made, e.maps = keep.Ending{}, nil, receipts.Made{}, nil
	d.endings.Put(e)
}

func (d *Settler) end(e *ending) {
	e.made = d.Receipts.OwnReceipt(e.message, &e.Ending)
	needed := false
	for i := range d.steps {
		needed = needed || d.steps[i].needs(d, e.message, e)
	}
	if !needed {
		return
	}
	d.setCost(e)
	d.keep.Batches.Write(e.write)
}

// setCost sets what an SMSC charges for a message that it has accepted, if events show it.
func (d *Settler) setCost(e *ending) {
	m := e.message
	if e.Shorts = sms.ShortsOf(m); d.Events.Writer == nil || e.State != events.Sent || m.Kind != sms.Submit {
		return
	}
	cost, ok := d.table.Cost(e.Lane.Connector, m, e.Answer.At+d.node.Clock.Ahead())
	if !ok {
		return
	}
	if sms.PriceOf(m) == 0 { // its short messages were not recorded
		e.Shorts, _ = d.convert.Whole(nil, m)
	}
	e.Cost = cost * sms.Money(max(e.Shorts, 1))
}

func (e *ending) takeSteps(b *store.Batch) {
	if e.settler.keep.Durable() {
		e.settler.keep.Unsettled.Add(b.Position())
	}
	if e.Charge = e.settler.chargeOf(e); e.Cost != 0 && e.message.Origin != nil {
		e.message.Origin.Tally.Margin.Add(e.Charge, e.Cost)
	}
	for i := range e.settler.steps {
		if step := &e.settler.steps[i]; step.needs(e.settler, e.message, e) {
			step.do(e.settler, b, e.message, e)
		}
	}
}

// hasRecord reports whether the store has a record of a message. A store that is not durable has
// only the records of messages that are put aside.
func (d *Settler) hasRecord(_ *sms.Message, e *ending) bool {
	return d.keep.Durable() || e.Aside
}

func (d *Settler) endRecord(b *store.Batch, m *sms.Message, _ *ending) {
	size := 0
	if d.keep.Durable() {
		size = int(m.Size()) // an approximation
	}
	b.Delete(m.ID, size)
}

func hasPrice(_ *Settler, m *sms.Message, _ *ending) bool { return sms.PriceOf(m) != 0 }

// chargeOf returns the price that a message's account pays. The price is only charged if an SMSC
// has accepted the message and no receipt reports that the message failed.
func (d *Settler) chargeOf(e *ending) sms.Money {
	price := sms.PriceOf(e.message)
	if price == 0 || e.State != events.Sent || d.Receipts.Refunds.HasFailed(e.message.ID) {
		return 0
	}
	return price
}

func endPrice(d *Settler, b *store.Batch, m *sms.Message, e *ending) {
	wall := e.Answer.At + d.node.Clock.Ahead()
	if credit.Settle(b, m, e.Charge != 0, store.DayOf(wall)) {
		d.tellLow(b, m.Origin, wall)
	}
}

// A Low is a balance that has become low.
type Low struct {
	Account string
	Balance sms.Money
	At      int64 // time by the wall clock
}

// mostLow is the maximum number of low balances that wait until clients are informed.
const mostLow = 1024

// tellLow informs the operator and the client that the balance of an account has become low.
func (d *Settler) tellLow(b *store.Batch, o *sms.Origin, wall int64) {
	balance, _ := o.Tally.Credit.Balance()
	d.Events.addBalance(b, events.BalanceEvent{Account: o.Account, Balance: balance, At: wall})
	select {
	case d.Low <- Low{o.Account, balance, wall}:
	default: // no part of the gateway calls webhooks
	}
	if d.node.Repeats.First("low balance " + o.Account) {
		d.node.Log.Warn().Str("account", o.Account).Stringer("balance", balance).
			Msg("the balance of an account is low (balance.low): its messages are refused when nothing is left")
	}
}

func (d *Settler) hasEvent(*sms.Message, *ending) bool { return d.Events.Writer != nil }

func (d *Settler) endEvent(b *store.Batch, m *sms.Message, e *ending) {
	d.Events.Add(b, m, &e.Ending, d.node.Clock.Ahead())
}

func (d *Settler) hasID(_ *sms.Message, e *ending) bool { return e.maps != nil }

func (d *Settler) endID(b *store.Batch, m *sms.Message, e *ending) {
	d.Receipts.RecordSent(b, e.maps, m, &e.Ending, d.node.Clock.Ahead())
}

// hasFate reports whether the outcome of a message must be stored now. It is only stored for the
// message whose id the client knows. If an SMSC has accepted the message, a receipt may already
// have come.
func (d *Settler) hasFate(m *sms.Message, e *ending) bool {
	return receipts.RecordsEnd(m, &e.Ending) && (e.State != events.Sent || !d.Receipts.HasTold(m.KnownID()))
}

func (d *Settler) endFate(b *store.Batch, m *sms.Message, e *ending) {
	d.Receipts.RecordEnd(b, m, &e.Ending, d.node.Clock.Ahead())
}

func (d *Settler) hasReceipt(_ *sms.Message, e *ending) bool { return e.made.IsAny() }

func (d *Settler) endReceipt(b *store.Batch, _ *sms.Message, e *ending) {
	d.Receipts.SendMade(b, &e.made)
}
