package gateway

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"pmg/connector"
	"pmg/gateway/login"
	"pmg/gateway/node"
	"pmg/protocols"
	"pmg/sms"
)

// Admit reports whether a peer that has just connected may stay. If it may, Over or
// Leave must be called at its end.
func (g *Gateway) Admit(c *connector.Connector, remote netip.AddrPort) bool {
	if limit := g.clientSockets.Load(); limit > 0 && g.sockets.Load() >= limit {
		if g.News.Is("descriptors") {
			g.Log.Error().Str("connector", c.Name).Int64("clients", limit).
				Msg("a client was refused: the file descriptors that are left are for our own connections; raise the limit with ulimit -n")
		}
		return false
	}
	if cfg := c.Config(); cfg.Role() == protocols.Client && !cfg.TakesFrom(remote.Addr()) {
		g.strange(c, remote)
		return false
	}
	if !g.Logins.Prebind.Enter(remote.Addr()) {
		if g.Storms.Crowded.Next(c.Name, g.Clock.Now()) {
			g.Log.Warn().Str("connector", c.Name).Stringer("remote", remote).
				Msg("a client was refused: too many connections are open that have not logged in")
		}
		return false
	}
	g.sockets.Add(1)
	return true
}

// Leave undoes Admit for a client that got no session.
func (g *Gateway) Leave(remote netip.AddrPort) {
	g.Logins.Prebind.Leave(remote.Addr())
	g.sockets.Add(-1)
}

// StoreFiles returns how many tables a store may have open in a process that has so many
// file descriptors.
func StoreFiles(limit int) int { return min(1000, max(limit/8, 4)) }

// LimitDescriptors keeps clients from using up all of the process's file
// descriptors: some are for our own connections, the admin listener, the logs and the
// store. Without those of the store nothing could be committed. Where there are few, clients
// may use a quarter: a gateway without clients has about 30 open. It is called after Keep.
func (g *Gateway) LimitDescriptors(limit int) {
	reserved := 64
	if g.Durable() {
		reserved += StoreFiles(limit)
	}
	for _, c := range g.Connectors() {
		reserved += 2 // its pdu log, and the next one
		if cfg := c.Config(); !cfg.Listens() {
			reserved += 2 * cfg.Instances
		}
	}
	g.clientSockets.Store(int64(max(limit-reserved, limit/4)))
}

// NoInstance logs that a client was refused because all instances are in use.
func (g *Gateway) NoInstance(c *connector.Connector) {
	if !g.News.Is("no instance: " + c.Name) {
		return
	}
	g.Log.Warn().Str("connector", c.Name).Int("instances", c.Config().Instances).Msg("all instances are in use: a client was refused; raise instances of the connector if it needs more")
}

// AcceptFailed logs that clients cannot be accepted for now.
func (g *Gateway) AcceptFailed(c *connector.Connector, err error) {
	what := "cannot accept"
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		what = "cannot accept; clients wait until a connection is closed (raise the limit with ulimit -n)"
	}
	if g.News.Is(what) {
		g.Log.Error().Err(err).Str("connector", c.Name).Msg(what)
	}
}

// admit counts a client that has logged in, or an SMSC that has connected, unless the
// connector has as many sessions as it may.
func (g *Gateway) admit(now int64, l *connector.Link, result login.Result) login.Result {
	if result.Code != sms.OK {
		return result
	}
	if !l.Connector.BindClient() {
		if result.Account != nil {
			result.Account.Want(now)
			result.Account.End()
		} else {
			l.Connector.Wanted.Store(now)
		}
		g.NoInstance(l.Connector)
		return login.Result{Code: sms.BindFailed}
	}
	l.Admitted = true
	if l.Account = result.Account; l.Account != nil {
		l.Origin = g.Origins.Of(l.Account.SystemID, l.Connector.Name)
	}
	return result
}

// Bound notes that a session is logged in, and reports whether it can be given messages.
func (g *Gateway) Bound(now int64, l *connector.Link) (takes bool) {
	l.Enter(connector.Bound)
	l.BoundAt = now
	way := l.Session.Bound()
	if l.Connector.Config().Listens() {
		g.Logins.Prebind.Leave(l.Remote.Addr())
	}
	if l.Account == nil {
		g.bound(now, l, way)
		return way.CanSubmit()
	}
	if !way.CanReceive() {
		return false
	}
	l.Lane = g.AccountLane(g.Config(), l.Account.SystemID)
	return l.Lane != nil
}

// Over notes the end of a session.
func (g *Gateway) Over(now int64, l *connector.Link) {
	if l.Connector.Config().Listens() {
		g.sockets.Add(-1)
		if !l.WasBound() {
			g.Logins.Prebind.Leave(l.Remote.Addr())
		}
	}
	if l.Account != nil {
		l.Account.End()
	}
	if l.Admitted {
		l.Connector.UnbindClient()
	}
	l.Connector.Stats.SessionOver(now-l.Opened, l.PDUs)
	if l.Connector.Config().Listens() {
		g.acceptedOver(now, l)
	} // otherwise Disconnected follows, which knows when there will be another
}

// TimerInterval returns how often every session's timers must be checked, so that none is
// late by more than a tenth.
func (g *Gateway) TimerInterval() time.Duration {
	every := checkEvery
	shorten := func(d time.Duration) {
		if d > 0 {
			every = min(every, max(d/checksPerTime, checkNoFaster))
		}
	}
	shorten(g.Config().Limits.PDUTimeout)
	for _, c := range g.Connectors() {
		cfg := c.Config()
		for _, d := range []time.Duration{cfg.BindTimeout, cfg.EnquireInterval, cfg.ResponseTimeout, cfg.IdleMax, cfg.QueueWait} {
			shorten(d)
		}
	}
	return every
}

const (
	checkEvery    = time.Second
	checkNoFaster = 10 * time.Millisecond
	checksPerTime = 10
)

// CheckTimers acts on the timers of a session that have run out: it asks whether the peer
// is alive, ends a session whose PDU stays incomplete, and calls unanswered with the slots
// of requests without an answer. A missing answer does not end the session, because
// enquire_link finds out whether the peer is alive. While the session is not read
// (listening is false), silence of the peer means nothing. p is filled when the returned
// action asks to send it.
func (g *Gateway) CheckTimers(now int64, l *connector.Link, p protocols.PDU, listening bool, unanswered func(*connector.Slot)) protocols.Action {
	cfg := l.Connector.Config()
	timeout := l.ResponseTimeout()
	l.Inflight.Overdue(now-timeout, func(slot *connector.Slot) {
		if g.Storms.Unanswered.Next(cfg.Name, now) {
			node.OfSession(g.Log.Warn(), l).Uint32("sequence", slot.Sequence).Str("id", sms.FormatID(slot.Message.ID)).
				Str("account", slot.Message.Account()).Msg("no answer to a message for " + time.Duration(timeout).String())
		}
		unanswered(slot)
	})
	whole := g.Config().Limits.PDUTimeout
	if since := l.Partial.Load(); since != 0 && now-since > int64(whole) {
		return protocols.Action{Kind: protocols.Close, Reason: fmt.Sprintf("cannot read PDU: not complete after %s", whole)}
	}
	return l.Session.Tick(now, p, listening)
}

// CheckTimers acts on the timers of a session that have run out. listening reports
// whether the session is being read. CheckTimers reports whether r was used.
func (c *Conversation[R]) CheckTimers(now int64, l *connector.Link, r R, listening bool) (used bool) {
	if l.HasEnded() || l.Phase == connector.LoggingIn {
		return false
	}
	if l.LeavingAt != 0 && !l.LoggedOut && now-l.LeavingAt >= int64(l.Connector.Config().ResponseTimeout) {
		c.leave(now, l)
		return false
	}
	a := c.gateway.CheckTimers(now, l, c.port.PDU(r), listening, func(slot *connector.Slot) {
		l.GiveUp(slot, c.gateway.Receipts.NoteOf(l, slot.Message))
		c.port.Unanswered(now, slot)
	})
	switch a.Kind {
	case protocols.None:
		return false
	case protocols.Leave:
		c.Unbind(now, l)
		return false
	}
	c.do(now, l, r, a)
	return true
}

// answeredLate logs that a request was answered after it had been given up.
func (g *Gateway) answeredLate(l *connector.Link) {
	if !g.News.Is("late: " + l.Connector.Name) {
		return
	}
	g.Log.Warn().Str("connector", l.Connector.Name).Int("instance", l.Instance.Number).
		Stringer("waits", time.Duration(l.ResponseTimeout()).Round(time.Millisecond)).
		Msg("answers come later than response_timeout; waiting longer for them until they come in time again")
}

// takenPartly counts, and logs, that a PDU counts of which a part cannot be read.
func (g *Gateway) takenPartly(l *connector.Link) {
	l.Connector.Stats.Partly.Add(1)
	if g.News.Is("partly: " + l.Connector.Name) {
		node.OfSession(g.Log.Warn(), l).Msg("a part of what the peer has sent cannot be read, and is left out: the pdu log has the PDU, as malformed")
	}
}

// How long a peer may take none of the octets that wait for it: usually, and while these
// are more than limits.unsent.
const (
	Stuck     = 30 * time.Second
	StuckFull = 5 * time.Second
)

// bound notes that a session has logged in.
func (c *Conversation[R]) bound(now int64, l *connector.Link) {
	c.port.Bound(now, l, c.gateway.Bound(now, l))
}
