package intake

import (
	"pmg/config"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// mayPark reports whether the account of m may have another parked message, beside those of others, which
// are about to be parked too. Parked messages wait for a decision of an operator, and count for no lane.
func (d *Checker) mayPark(m *sms.Message, others *Several) bool {
	if others != nil {
		return d.table.MayPark(m.Origin, others.n)
	}
	return d.table.MayPark(m.Origin, 0)
}

// parks reports whether a message without a route is accepted and put aside.
func (d *Checker) parks(m *sms.Message) bool {
	return m.Kind != sms.Receipt && d.node.Config().NoRoute == config.Park
}

// IsAside records that a message was stored which waits in no lane.
func (d *Checker) IsAside(a keep.Accepted) {
	if a.Aside() == store.Orphan {
		d.receipts.Orphans.Keep(a.Message)
	}
}
