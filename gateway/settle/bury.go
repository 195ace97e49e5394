package settle

import (
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// bury puts an event aside that a client's server has not accepted, instead of ending the event. It
// returns false if such events are not kept.
func (d *Settler) bury(l *connector.Lane, m *sms.Message, a sms.Answer) bool {
	if d.node.Config().Receipts.DeadLetters == 0 {
		return false
	}
	reason := "its server did not take it in time"
	if a.Code != sms.Expired {
		reason = "its webhook can never be called: " + a.Code.String()
	}
	m.NotBefore = d.node.Clock.Now() // start of the time as a dead letter
	d.keep.Batches.Write(func(b *store.Batch) {
		if d.keep.Durable() {
			d.keep.Unsettled.Add(b.Position())
		} else { // the store does not have the message yet
			b.PutOwn(m, keep.LaneName(l))
		}
		d.keep.KeepAside(b, m, keep.LaneName(l), store.Dead, reason)
	})
	d.Dead.Add(m.ID, l.Account, d.node.Clock.Wall(m.NotBefore), m.Size())
	return true
}
