package gateway

import (
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/node"
	"pmg/protocols"
)

// The log shows the life of a session to an SMSC at level info: connected, bound, over
// with the reason, and why an attempt failed. The same reason is logged again after
// repeatTrouble only.
//
//	Connected ──► Bound ──► Disconnected
//	    │  └───────────────────▲ │
//	    ▲                        ▼
//	    └── next attempt ◄─── rest ◄── ConnectFailed
const repeatTrouble = 10 * time.Minute

// Connected notes that an instance has a socket.
func (g *Gateway) Connected(l *connector.Link) {
	l.Connector.Stats.Opened.Add(1)
	e := g.Log.Debug()
	if l.Connector.Config().Role() == protocols.Client {
		l.Lane = g.LaneOf(l.Connector)
		l.Origin = g.Origins.Of("", l.Connector.Name)
		if !l.Connector.Config().Listens() && g.Storms.Links.Next(l.Connector.Name, l.Opened) {
			e = g.Log.Info()
		}
	}
	l.Instance.SetLink(l)
	node.OfSession(e, l).Msg("connected")
}

// ConnectFailed notes that none of an instance's addresses could be reached, and
// returns how long it should rest.
func (g *Gateway) ConnectFailed(now int64, i *connector.Instance, err error) (rest time.Duration) {
	i.Connector.Stats.Failing.Add(1)
	rest = i.Rest(now)
	e := g.trouble(now, i.Connector, err.Error(), rest)
	e.Str("connector", i.Connector.Name).Int("instance", i.Number).Msg(err.Error() + nextAttempt(rest))
	return rest
}

// nextAttempt returns the part of a log entry that says when an instance is connected
// again.
func nextAttempt(rest time.Duration) string {
	switch {
	case rest <= 0:
		return ""
	case rest >= time.Second:
		rest = rest.Round(time.Second)
	default:
		rest = rest.Round(time.Millisecond)
	}
	return "; next attempt in " + rest.String()
}

// rounded returns a time in nanoseconds as the log shows it.
func rounded(d int64) time.Duration { return time.Duration(d).Round(time.Millisecond) }

// trouble notes why a connector has no session. It returns the entry to be logged: a
// warning if the reason is new or was not logged for repeatTrouble, otherwise a debug
// entry.
func (g *Gateway) trouble(now int64, c *connector.Connector, reason string, rest time.Duration) *zerolog.Event {
	for {
		old := c.Trouble()
		next := &connector.Trouble{Reason: reason, Since: now, At: now, Rest: rest, Said: now}
		news := old == nil || old.Reason != reason
		if !news {
			next.Since = old.Since
			if news = now-old.Said >= int64(repeatTrouble); !news {
				next.Said, next.Times = old.Said, old.Times+1
			}
		}
		if !c.SetTrouble(old, next) {
			continue
		}
		if !news || !g.Storms.Troubles.Next(c.Name, now) {
			return g.Log.Debug()
		}
		e := g.Log.Warn()
		if old != nil && old.Reason == reason {
			e = e.Int64("times_since_last_said", old.Times).Stringer("for", rounded(now-old.Since))
		}
		return e
	}
}

// bound logs that a session to an SMSC is logged in.
func (g *Gateway) bound(now int64, l *connector.Link, way protocols.BindType) {
	e := g.Log.Debug()
	if g.Storms.Links.Next(l.Connector.Name, now) {
		e = g.Log.Info()
	}
	e = node.OfSession(e, l).Stringer("bind", way)
	if t := l.Connector.Trouble(); t != nil {
		l.Connector.SetTrouble(t, nil)
		e = e.Str("after", t.Reason).Stringer("for", rounded(now-t.Since))
	}
	e.Msg("bound")
}

// Disconnected implements connector.Policy: it tells the operator why a session to an SMSC
// has ended, and when it is connected again.
func (g *Gateway) Disconnected(now int64, l *connector.Link, rest time.Duration) {
	reason := l.Reason()
	if l.LoggedOut || g.Draining() {
		node.OfSession(g.Log.Info(), l).Str("reason", reason).Msg("session over")
		return
	}
	what := "session lost"
	if !l.WasBound() {
		what = "no session"
	}
	e := g.trouble(now, l.Connector, reason, rest)
	node.OfSession(e, l).Str("reason", reason).Msg(what + ": " + reason + nextAttempt(rest))
}

// acceptedOver logs the end of the session of a peer that has connected. Sessions that never
// logged in are counted elsewhere.
func (g *Gateway) acceptedOver(now int64, l *connector.Link) {
	if l.Account == nil && l.Admitted && !l.WasBound() && !l.LoggedOut { // the SMSC has refused our login
		g.Disconnected(now, l, 0)
		return
	}
	e := g.Log.Debug()
	if reason := l.Reason(); !l.WasBound() && strings.Contains(reason, "looks like") && g.News.Is(l.Connector.Name+reason) {
		e = g.Log.Warn()
	}
	if l.WasBound() && g.Storms.Ends.Next(l.Connector.Name, now) {
		e = g.Log.Info()
	}
	e = node.OfSession(e, l)
	if l.Account != nil {
		e = e.Str("account", l.Account.SystemID)
	}
	e.Str("reason", l.Reason()).Msg("session over")
}

// changedAccounts returns the accounts whose sessions end when one configuration replaces
// another: removed accounts, and accounts with another password, bind or networks,
// because their logins were decided by the old ones.
func changedAccounts(old, wanted *config.Config) map[string]bool {
	now := map[string]*config.Account{}
	for i := range wanted.Accounts {
		now[wanted.Accounts[i].SystemID] = &wanted.Accounts[i]
	}
	changed := map[string]bool{}
	for i := range old.Accounts {
		was := &old.Accounts[i]
		is := now[was.SystemID]
		if is == nil || is.Password != was.Password || !slices.Equal(is.Bind, was.Bind) || !slices.Equal(is.Networks, was.Networks) {
			changed[was.SystemID] = true
		}
	}
	return changed
}

// endSessions logs out the sessions of accounts that a reload has changed, and those on
// connectors that their account may not use any more.
func (g *Gateway) endSessions(e Service, changed map[string]bool) {
	e.Logout(func(l *connector.Link) bool {
		if l.Account == nil {
			return false
		}
		is := g.Account(l.Account.SystemID)
		if is != nil && !changed[l.Account.SystemID] && is.MayUse(l.Connector.Config()) {
			return false
		}
		node.OfSession(g.Log.Info(), l).Str("account", l.Account.SystemID).
			Msg("the account was removed or changed: its session is logged out")
		return true
	})
}

// logAlert logs that an SMSC says that a mobile is available again. No client is told.
func (g *Gateway) logAlert(now int64, l *connector.Link) {
	if g.Storms.Alerts.Next(l.Connector.Name, now) {
		node.OfSession(g.Log.Info(), l).Msg("alert of a mobile dropped: no client is told that a mobile is available again")
	}
}
