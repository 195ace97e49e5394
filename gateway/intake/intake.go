package intake

import (
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
)

// An Intake accepts messages: each gets an id, and is counted in its lane and in the
// gateway's memory. It is not safe for concurrent use.
type Intake struct {
	checker  *Checker
	id, last uint64 // the block of ids that is in use
	block    uint64

	arrivals connector.Arrivals
	done     counted
}

// counted are accepted messages that are not counted yet.
type counted struct {
	from   *connector.Connector
	origin *sms.Origin
	n      int64

	receipts int64 // number of receipts among them
}

// NewIntake makes an Intake that takes block message ids at a time. The ids of one Intake are in
// the order of arrival. Those of several are so only with blocks of 1; otherwise an id may be lower
// than one of another Intake that came before, by mostBehind and a block of each Intake. With blocks of 1
// messages are counted immediately and not at Flush.
func (d *Checker) NewIntake(block uint64) *Intake { return &Intake{checker: d, block: block} }

// Fits reports whether the queue's share of the message's account has room for all parts of the message.
func (i *Intake) Fits(a keep.Accepted) bool {
	return i.arrivals.HasRoom(a.Share, a.Places(), a.Octets(), 0, 0)
}

// HasRoom implements Room. It reports whether a message's share has room for the message and for
// others, which are about to be accepted. While submits wait for the share, the result is false.
func (i *Intake) HasRoom(a keep.Accepted, others *Several) bool {
	if a.Share.WaitingForRoom() > 0 {
		return false
	}
	if others == nil {
		return i.Fits(a)
	}
	return i.arrivals.HasRoom(a.Share, a.Places(), a.Octets(), others.placesIn(a.Share), others.Octets)
}

// Accept gives m an id, and a place in the share s unless s is nil. The caller then calls Count or
// Cancel.
func (i *Intake) Accept(now int64, m *sms.Message, s *connector.Share) {
	i.identify(m)
	if s != nil {
		i.arrivals.Enter(s, m, now)
	}
	if i.block == 1 {
		i.Flush()
	}
}

// mostBehind is how many ids others may have taken since an Intake has taken its block. Then the
// Intake takes another block, because otherwise a message after a pause would have an id like those of long ago.
const mostBehind = 64

// InARow makes the ids of the next n messages follow each other.
func (i *Intake) InARow(n int) {
	if i.last-i.id < uint64(n) || i.checker.keep.IDs.Load()-i.last > mostBehind {
		i.take(max(i.block, uint64(n)))
	}
}

// take reserves n ids.
func (i *Intake) take(n uint64) {
	i.last = i.checker.keep.IDs.Add(n)
	i.id = i.last - n
}

// identify assigns the next id to m, unless a step has assigned one.
func (i *Intake) identify(m *sms.Message) {
	if m.ID != 0 {
		return
	}
	if i.id == i.last {
		i.take(i.block)
	}
	i.id++
	m.ID = i.id
}

// Count counts a message as accepted. from is nil for a reply of the gateway.
func (i *Intake) Count(from *connector.Connector, m *sms.Message) {
	if sms.IsReply(m) {
		return
	}
	if d := &i.done; d.from != from || d.origin != m.Origin {
		i.flushCounted()
		d.from, d.origin = from, m.Origin
	}
	i.done.n++
	if m.Kind == sms.Receipt {
		i.done.receipts++
	}
	if i.block == 1 {
		i.flushCounted()
	}
}

// Cancel frees the place of a message that was not stored.
func (i *Intake) Cancel(m *sms.Message, s *connector.Share) {
	i.Flush()
	s.Leave(m)
}

// Flush counts the accepted messages. It must be called before the messages are passed to their
// lanes.
func (i *Intake) Flush() {
	i.arrivals.Flush()
	i.flushCounted()
}

func (i *Intake) flushCounted() {
	if d := &i.done; d.n > 0 {
		d.from.Stats.Accepted.Add(d.n)
		d.origin.Tally.Accepted.Add(d.n)
		d.origin.Tally.Last.Store(i.checker.node.Clock.Now())
		if d.receipts > 0 {
			d.from.Stats.ReceiptsIn.Add(d.receipts)
		}
		d.n, d.receipts = 0, 0
	}
}
