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
// that has been silent for longest. Its place is taken, so that no other login replaces it as well. If no session may be
// replaced, it refuses the login. The session may be one of another conversation.
func (d *Sessions) replaceable(now int64, l *connector.Link, result login.Result) (old *connector.Link, _ login.Result) {
	for {
		old, since := d.silent(now, l, &result)
		if old == nil {
			break
		}
		if old.Place.Take(since) {
			return old, result
		}
	}
	if d.node.LogLimits.Refusals.Next(l.Connector.Name, now) {
		node.OfSession(d.node.Log.Warn(), l).Str("account", result.Account.SystemID).Stringer("reason", result.Full).
			Msg("login refused: " + result.Full.String() + ", none of which has lasted for 10 s (sessions_full)")
	}
	result.Account.Want(now)
	result.Account.End(l.Remote.Addr())
	return nil, login.Result{Code: sms.BindFailed, AnswerAfter: result.AnswerAfter}
}

// silent returns the session that a login may replace and that has been silent for longest, and since when it is logged in.
func (d *Sessions) silent(now int64, l *connector.Link, result *login.Result) (old *connector.Link, since int64) {
	for _, c := range d.table.Connectors() {
		if c.Config().Role() != protocols.Server {
			continue
		}
		c.Links(func(other *connector.Link) {
			lasts := other.Place.Lasts()
			if lasts == 0 || now-lasts < settled || other.Hosted.By != nil {
				return
			}
			if other.Account == nil || other.Account.SystemID != result.Account.SystemID {
				return
			}
			if result.MayReplace(other.Remote.Addr(), l.Remote.Addr()) && (old == nil || other.Heard.Load() < old.Heard.Load()) {
				old, since = other, lasts
			}
		})
	}
	return old, since
}

// replace logs out of a session that a login from the address by replaces. The session's messages are answered or queued
// again as at the end of any session.
func (c *Conversation[R]) replace(now int64, old *connector.Link, by netip.AddrPort) {
	c.port.Logout(func(l *connector.Link) bool { return l == old && c.sessions.replaced(now, old, by) })
}

// replaced records that another session has the place of a session. It returns false if the session ends by itself, which gives
// its place back. It is called where the session's PDUs are received.
func (d *Sessions) replaced(now int64, old *connector.Link, by netip.AddrPort) bool {
	if old.Phase != connector.Bound {
		return false
	}
	old.Place.Replaced = true
	old.Account.End(old.Remote.Addr())
	if d.node.LogLimits.Replaced.Next(old.Connector.Name, now) {
		node.OfSession(d.node.Log.Warn(), old).Str("account", old.Account.SystemID).Stringer("by", by).
			Msg("session replaced: a new login of its account has its place (sessions_full)")
	}
	return true
}
