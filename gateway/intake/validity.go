package intake

import (
	"cmp"

	"pmg/sms"
)

// limitValidity sets the validity of a message that has none, and shortens one that is too long.
// The validity is counted from the delivery time. The account's options take precedence over those
// of the connector on which the message arrived.
func (d *Checker) limitValidity(now int64, m *sms.Message) {
	if !d.table.HasLimits() {
		return
	}
	var usual, most int64
	if c := d.table.Incoming(m.Origin.Connector); c != nil {
		usual, most = int64(c.Lifetime.Usual), int64(c.Lifetime.Most)
	}
	if a := d.table.Account(m.Origin.Account); a != nil {
		usual, most = cmp.Or(int64(a.Lifetime.Usual), usual), cmp.Or(int64(a.Lifetime.Most), most)
	}
	from, expires := max(now, m.DeliverAt), m.Expires
	if expires == 0 && usual > 0 {
		expires = from + usual
	}
	if most > 0 && (expires == 0 || expires > from+most) {
		expires = from + most
	}
	if expires != m.Expires {
		m.Expires = expires
		m.Flags |= sms.RelativeValidity // a relative validity does not depend on the peer's clock
	}
}
