package session

import (
	"strings"
	"time"

	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/gateway/node"
	"pmg/protocols"
)

// repeatTrouble is how long the same reason is not logged again.
//
// The log shows the life of a session to an SMSC at level info: connected, bound, over
// with the reason, and why an attempt failed. The same reason is logged again after
// repeatTrouble only.
//
//	Connected ──► Bound ──► Disconnected
//	    │  └───────────────────▲ │
//	    ▲                        ▼
//	    └── next attempt ◄─── rest ◄── ConnectFailed
const repeatTrouble = 10 * time.Minute

// Connected records that an instance has a socket.
func (d *Sessions) Connected(l *connector.Link) {
	l.Connector.Stats.Opened.Add(1)
	e := d.node.Log.Debug()
	if l.Connector.Config().Role() == protocols.Client {
		l.Lane = d.table.LaneOf(l.Connector)
		l.Origin = d.node.Origins.Of("", l.Connector.Name)
		if !l.Connector.Config().Listens() && d.node.LogLimits.Links.Next(l.Connector.Name, l.Opened) {
			e = d.node.Log.Info()
		}
	}
	l.Instance.SetLink(l)
	node.OfSession(e, l).Msg("connected")
}

// ConnectFailed records that none of an instance's addresses could be reached, and
// returns how long it should rest.
func (d *Sessions) ConnectFailed(now int64, i *connector.Instance, err error) (rest time.Duration) {
	i.Connector.Stats.Failing.Add(1)
	rest = i.Rest(now)
	e := d.trouble(now, i.Connector, nil, err.Error(), rest)
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

// trouble records why a connector has no session. It returns the entry to be logged: a
// warning if the reason is new or was not logged for repeatTrouble, otherwise a debug
// entry.
// over is the session that has ended, nil if none has begun.
func (d *Sessions) trouble(
	now int64, c *connector.Connector, over *connector.Link, reason string, rest time.Duration,
) *zerolog.Event {
	for {
		old := c.Trouble()
		next := &connector.Trouble{Reason: reason, Since: now, At: now, Rest: rest, Said: now}
		if old != nil && old.Down != 0 {
			next.Down = old.Down
		} else if !hasSession(c, over) {
			next.Down = now
		}
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
		if !news || !d.node.LogLimits.Troubles.Next(c.Name, now) {
			return d.node.Log.Debug()
		}
		e := d.node.Log.Warn()
		if old != nil && old.Reason == reason {
			e = e.Int64("times_since_last_said", old.Times).Stringer("for", rounded(now-old.Since))
		}
		return e
	}
}

// hasSession reports whether a connector has a session that is logged in, beside one that is over.
func hasSession(c *connector.Connector, over *connector.Link) (has bool) {
	c.Links(func(l *connector.Link) { has = has || l != over && l.Session.Bound() != 0 })
	return has
}

// bound logs that a session to an SMSC is logged in.
func (d *Sessions) bound(now int64, l *connector.Link, way protocols.BindType) {
	e := d.node.Log.Debug()
	if d.node.LogLimits.Links.Next(l.Connector.Name, now) {
		e = d.node.Log.Info()
	}
	e = node.OfSession(e, l).Stringer("bind", way)
	if t := l.Connector.Trouble(); t != nil {
		l.Connector.SetTrouble(t, nil)
		e = e.Str("after", t.Reason).Stringer("for", rounded(now-t.Since))
	}
	e.Msg("bound")
}

// Reached records that an SMSC which is called by HTTP can be reached.
func (d *Sessions) Reached(now int64, c *connector.Connector) {
	c.Stats.Failing.Store(0)
	e := d.node.Log.Debug()
	if d.node.LogLimits.Links.Next(c.Name, now) {
		e = d.node.Log.Info()
	}
	e = e.Str("connector", c.Name)
	if t := c.Trouble(); t != nil {
		c.SetTrouble(t, nil)
		e = e.Str("after", t.Reason).Stringer("for", rounded(now-t.Since))
	}
	e.Msg("the SMSC can be reached")
}

// Disconnected implements connector.Links: it logs why a session to an SMSC
// has ended, and when it is connected again.
func (d *Sessions) Disconnected(now int64, l *connector.Link, rest time.Duration) {
	reason := l.Reason()
	if l.LoggedOut || d.node.Draining() {
		node.OfSession(d.node.Log.Info(), l).Str("reason", reason).Msg("session over")
		return
	}
	what := "session lost"
	if !l.WasBound() {
		what = "no session"
	}
	e := d.trouble(now, l.Connector, l, reason, rest)
	node.OfSession(e, l).Str("reason", reason).Msg(what + ": " + reason + nextAttempt(rest))
}

// HoldOver implements connector.Links.
func (d *Sessions) HoldOver(l *connector.Lane) {
	d.node.Log.Info().Str("connector", l.Home().Name).Msg("the hold of the connector is over: messages are sent to it again")
}

// sortOf returns the class of a reason why no session began, without words that the peer has chosen, of which there may
// be any number. It returns "" for a reason without a class.
func sortOf(reason string) string {
	if i := strings.Index(reason, "looks like"); i >= 0 {
		return reason[i:]
	}
	if strings.Contains(reason, "TLS") {
		return "TLS"
	}
	return ""
}

// acceptedOver logs the end of the session of a peer that has connected. Sessions that never
// logged in are counted elsewhere.
func (d *Sessions) acceptedOver(now int64, l *connector.Link) {
	if l.Account == nil && l.Place.Admitted && !l.WasBound() && !l.LoggedOut { // the SMSC has refused our login
		d.Disconnected(now, l, 0)
		return
	}
	e := d.node.Log.Debug()
	if sort := sortOf(l.Reason()); !l.WasBound() && sort != "" && d.node.Repeats.First(l.Connector.Name+sort) {
		e = d.node.Log.Warn()
	}
	if l.WasBound() && d.node.LogLimits.Ends.Next(l.Connector.Name, now) {
		e = d.node.Log.Info()
	}
	e = node.OfSession(e, l)
	if l.Account != nil {
		e = e.Str("account", l.Account.SystemID)
	}
	e.Str("reason", l.Reason()).Msg("session over")
}

// EndsBy reports whether a session ends because a reload has changed its account, or has closed the connector to the
// account. The session's requests are refused from then on, because the client need not answer our logout.
func (d *Sessions) EndsBy(l *connector.Link, changed map[string]bool) bool {
	if l.Account == nil {
		return false
	}
	is := d.table.Account(l.Account.SystemID)
	if is != nil && !changed[l.Account.SystemID] && is.MayUse(l.Connector.Config()) {
		return false
	}
	l.Revoked = true
	node.OfSession(d.node.Log.Info(), l).Str("account", l.Account.SystemID).
		Msg("the account was removed or changed: its session is logged out")
	return true
}

// logAlert logs that an SMSC says that a mobile is available again. That goes to no client.
func (d *Sessions) logAlert(now int64, l *connector.Link) {
	if d.node.LogLimits.Alerts.Next(l.Connector.Name, now) {
		node.OfSession(d.node.Log.Info(), l).Msg("alert of a mobile dropped: clients do not learn that it is available again")
	}
}
