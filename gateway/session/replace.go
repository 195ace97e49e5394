package session

import (
	"net/netip"
	"time"

	"pmg/connector"
	"pmg/gateway/login"
	"pmg/gateway/node"
	"pmg/protocols"
	"pmg/sms"
)

// settled is the time from a session's login until another login of the account may replace the session. It bounds how
// often two clients with one account replace each other's sessions.
const settled = int64(10 * time.Second)

// replaceable returns the session that a login replaces, because the account has reached its limit of sessions: the one
// that has been silent for longest. If no session may be replaced, it refuses the login.
func (d *Sessions) replaceable(now int64, l *connector.Link, result login.Result) (old *connector.Link, _ login.Result) {
	for _, c := range d.table.Connectors() {
		if c.Config().Role() != protocols.Server {
			continue
		}
		c.Links(func(other *connector.Link) {
			switch a := other.Account; {
			case other.Phase != connector.Bound, a == nil || a.SystemID != result.Account.SystemID:
			case now-other.BoundAt < settled, !result.MayReplace(other.Remote.Addr(), l.Remote.Addr()):
			case old == nil || other.Heard.Load() < old.Heard.Load():
				old = other
			}
		})
	}
	if old != nil {
		return old, result
	}
	if d.node.LogLimits.Refusals.Next(l.Connector.Name, now) {
		node.OfSession(d.node.Log.Warn(), l).Str("account", result.Account.SystemID).Stringer("reason", result.Full).
			Msg("login refused: " + result.Full.String() + ", none of which has lasted for 10 s (sessions_full)")
	}
	result.Account.Want(now)
	result.Account.End(l.Remote.Addr())
	return nil, login.Result{Code: sms.BindFailed, AnswerAfter: result.AnswerAfter}
}

// replace logs out of a session that a login from the address by replaces. The session's messages are answered or queued
// again as at the end of any session.
func (c *Conversation[R]) replace(now int64, old *connector.Link, by netip.AddrPort) {
	old.Place.Replaced = true
	old.Account.End(old.Remote.Addr())
	if c.sessions.node.LogLimits.Replaced.Next(old.Connector.Name, now) {
		node.OfSession(c.sessions.node.Log.Warn(), old).Str("account", old.Account.SystemID).Stringer("by", by).
			Msg("session replaced: a new login of its account has its place (sessions_full)")
	}
	c.Unbind(now, old)
}
