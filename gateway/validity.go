package gateway

import (
	"cmp"

	"pmg/config"
	"pmg/sms"
)

// hasValidity reports whether an option of an account or a connector sets or limits the validity
// of messages.
func hasValidity(cfg *config.Config) bool {
	for i := range cfg.Accounts {
		if a := &cfg.Accounts[i]; a.Validity > 0 || a.MaxValidity > 0 {
			return true
		}
	}
	for i := range cfg.Connectors {
		if c := &cfg.Connectors[i]; c.Validity > 0 || c.MaxValidity > 0 {
			return true
		}
	}
	return false
}

// limitValidity sets the validity of a message that has none, and shortens one that is too long.
// It is counted from the delivery time. The account's options come before those of the connector
// that the message arrived on.
func (g *Gateway) limitValidity(now int64, m *sms.Message) {
	r := g.routes.Load()
	if !r.validity {
		return
	}
	var usual, most int64
	if c := r.connectors[m.Origin.Connector]; c != nil {
		usual, most = int64(c.Validity), int64(c.MaxValidity)
	}
	if a := r.accounts[m.Origin.Account]; a != nil {
		usual, most = cmp.Or(int64(a.Validity), usual), cmp.Or(int64(a.MaxValidity), most)
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
		m.Flags |= sms.RelativeValidity // which needs no clock of the peer's
	}
}
