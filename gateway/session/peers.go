package session

import (
	"pmg/connector"
	"pmg/gateway/login"
	"pmg/protocols"
	"pmg/sms"
)

// An SMSC may open the connection itself (option listen of an out connector). Until it is
// bound it is treated as a client that has not logged in, because anyone may connect. Then its
// session is one of the connector's lane, as a session that we have opened.
//
//	Admit ──► outbind or operation 60 ──► login.Sessions ──► admit ──► bound
//	  └─────► the first message, where the peer need not log in ──► begun ──┘

// begun records that a session is bound without a login, if it is. It reports false if there
// are too many already.
func (c *Conversation[R]) begun(now int64, l *connector.Link, a protocols.Action) bool {
	if a.Kind == protocols.Bound || l.Session.Bound() == 0 {
		return true
	}
	if c.sessions.admit(now, l, login.Result{Code: sms.OK}).Code != sms.OK {
		return false
	}
	c.bound(now, l)
	return true
}
