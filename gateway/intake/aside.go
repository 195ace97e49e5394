package intake

import (
	"pmg/config"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// mayPark reports whether another message of its account may be parked beside others that are about
// to be. They wait until an operator decides, and are on no lane's account.
func (d *Checker) mayPark(m *sms.Message, others *Several) bool {
	if others != nil {
		return d.table.MayPark(m.Origin, others.n)
	}
	return d.table.MayPark(m.Origin, 0)
}

// parks reports whether a message that no route leads anywhere is accepted, and put aside.
func (d *Checker) parks(m *sms.Message) bool {
	return m.Kind != sms.Receipt && d.node.Config().NoRoute == config.Park
}

// IsAside records that a message which waits in no lane was stored.
func (d *Checker) IsAside(a keep.Accepted) {
	if a.Aside() == store.Orphan {
		d.receipts.Orphans.Keep(a.Message)
	}
}
