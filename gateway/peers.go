package gateway

import (
	"net/netip"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// An SMSC may open the connection itself (option listen of an out connector). Until it is
// bound it is treated as a client that has not logged in, because anyone may connect. Then its
// session is one of the connector's lane, as a session that we have opened.
//
//	Admit ──► outbind or operation 60 ──► Login, decidePeer ──► admit ──► bound
//	  └─────► the first message, where the peer need not log in ──► begun ──┘

// strange logs that a connection was closed that came from an address where the SMSC is not.
func (g *Gateway) strange(c *connector.Connector, remote netip.AddrPort) {
	if g.Storms.Crowded.Next(c.Name, g.Clock.Now()) {
		g.Log.Warn().Str("connector", c.Name).Stringer("remote", remote).
			Msg("a connection was refused: its address is not in networks of the connector")
	}
}

// decidePeer decides about the credentials of an SMSC that has connected.
func (l *Login) decidePeer(now int64, cfg *config.Connector) {
	g := l.gateway
	if cfg.IsPeer(l.who.SystemID, l.who.Password) {
		g.guard.Succeed(now, l.who.Addr, l.who.SystemID)
		l.Result = LoginResult{Code: sms.OK}
		return
	}
	l.fail(now)
	l.Result = LoginResult{Code: sms.BindFailed, AnswerAfter: max(now, l.began+refusalDelay)}
	if g.Storms.Refusals.Next(l.connector.Name, now) {
		g.Log.Warn().Str("connector", l.connector.Name).Bytes("system_id", l.who.SystemID).Stringer("remote", l.who.Addr).
			Msg("an SMSC was refused: its credentials are not peer_system_id and peer_password of the connector")
	}
}

// begun notes that a session is bound without a login, if it is. It reports false if there
// are too many already.
func (c *Conversation[R]) begun(now int64, l *connector.Link, a protocols.Action) bool {
	if a.Kind == protocols.Bound || l.Session.Bound() == 0 {
		return true
	}
	if c.gateway.admit(now, l, LoginResult{Code: sms.OK}).Code != sms.OK {
		return false
	}
	c.bound(now, l)
	return true
}
