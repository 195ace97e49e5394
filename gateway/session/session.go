package session

import (
	"pmg/connector"
	"pmg/gateway/login"
	"pmg/gateway/node"
	"pmg/protocols"
	"pmg/sms"
)

// admit counts a client that has logged in, or an SMSC that has connected, unless the
// connector has as many sessions as it may.
func (d *Sessions) admit(now int64, l *connector.Link, result login.Result) login.Result {
	if result.Code != sms.OK {
		return result
	}
	if !l.Connector.BindClient() {
		switch {
		case l.Hosted.By != nil:
		case result.Account != nil:
			result.Account.Want(now)
			result.Account.End(l.Remote.Addr())
		default:
			l.Connector.Wanted.Store(now)
		}
		d.NoInstance(l.Connector)
		return login.Result{Code: sms.BindFailed}
	}
	if l.Hosted.By != nil && !l.Hosted.By.LogIn(result.Account.SystemID) {
		l.Connector.UnbindClient()
		return login.Result{Code: sms.Throttled}
	}
	l.Place.Admitted = true
	if l.Account = result.Account; l.Account != nil {
		l.Origin = d.node.Origins.Of(l.Account.SystemID, l.Connector.Name)
	}
	return result
}

// stillIn reports whether a request may use the login of its connection.
func (d *Sessions) stillIn(now int64, l *connector.Link, request protocols.PDU) bool {
	t := d.logins.Accounts()
	if t == l.Hosted.Accounts && now < l.Hosted.Again {
		return true
	}
	if !d.logins.Still(l.Connector, l.Remote, l.Identity, request.(protocols.Pair).Credentials()) {
		return false
	}
	l.Hosted.Accounts, l.Hosted.Again = t, now+int64(login.Stays)
	return true
}

// Bound records that a session is logged in, and reports whether it can be given messages.
func (d *Sessions) Bound(now int64, l *connector.Link) (takes bool) {
	l.Bind(now)
	way := l.Session.Bound()
	if l.Connector.Config().Listens() && l.Hosted.By == nil {
		d.logins.Prebind.Leave(l, l.Remote.Addr(), false)
	}
	if l.Account == nil {
		d.bound(now, l, way)
		return way.CanSubmit()
	}
	if !way.CanReceive() {
		return false
	}
	l.Lane = d.table.AccountLane(d.node.Config(), l.Account.SystemID)
	return l.Lane != nil
}

// Over records the end of a session.
func (d *Sessions) Over(now int64, l *connector.Link) {
	if l.Place.Admitted {
		l.Connector.UnbindClient()
	}
	if l.Hosted.By != nil { // which has counted the connection
		return
	}
	if l.Connector.Config().Listens() {
		d.sockets.Add(-1)
		if !l.WasBound() {
			d.logins.Prebind.Leave(l, l.Remote.Addr(), false)
		}
	}
	if l.Account != nil && !l.Place.Replaced {
		l.Account.End(l.Remote.Addr())
	}
	if l.Connector.Config().Listens() {
		d.acceptedOver(now, l)
	} // otherwise Disconnected follows, which knows the time of the next session
}

// takenPartly counts and logs a PDU that was accepted although a part of the PDU cannot be read.
func (d *Sessions) takenPartly(l *connector.Link) {
	l.Connector.Stats.Partly.Add(1)
	if d.node.Repeats.First("partly: " + l.Connector.Name) {
		node.OfSession(d.node.Log.Warn(), l).Msg(
			"a part of what the peer has sent cannot be read, and is left out: the pdu log has the PDU, as malformed",
		)
	}
}

// bound records that a session has logged in.
func (c *Conversation[R]) bound(now int64, l *connector.Link) {
	c.port.Bound(now, l, c.sessions.Bound(now, l))
}
