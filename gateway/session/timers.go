package session

import (
	"fmt"
	"time"

	"pmg/connector"
	"pmg/gateway/node"
	"pmg/protocols"
	"pmg/sms"
)

// slowRequest is the time after which an incomplete request is left to the general server, which has its own limits.
const slowRequest = time.Second

// TimerInterval returns the interval at which the timers of all sessions must be checked, so that
// no timer is late by more than a tenth.
func (d *Sessions) TimerInterval() time.Duration {
	every := checkEvery
	shorten := func(limit time.Duration) {
		if limit > 0 {
			every = min(every, max(limit/checksPerTime, checkNoFaster))
		}
	}
	shorten(d.node.Config().Limits.PDUTimeout)
	for _, c := range d.table.Connectors() {
		cfg := c.Config()
		for _, limit := range []time.Duration{
			cfg.BindTimeout, cfg.EnquireInterval, cfg.ResponseTimeout, cfg.IdleMax, cfg.QueueWait,
		} {
			shorten(limit)
		}
	}
	return every
}

const (
	checkEvery    = time.Second
	checkNoFaster = 10 * time.Millisecond
	checksPerTime = 10
)

// CheckTimers handles the timers of a session that have run out: it asks whether the peer is alive,
// ends a session whose PDU stays incomplete, and calls unanswered with the slots of requests
// without an answer. A missing answer does not end the session, because enquire_link finds out
// whether the peer is alive. While the session is not read (listening is false), silence of the
// peer means nothing. p is filled when the returned action asks to send it.
func (d *Sessions) CheckTimers(
	now int64, l *connector.Link, p protocols.PDU, listening bool, unanswered func(*connector.Slot),
) protocols.Action {
	cfg := l.Connector.Config()
	timeout := l.ResponseTimeout()
	l.Inflight.Overdue(now-timeout, func(slot *connector.Slot) {
		if d.node.LogLimits.Unanswered.Next(cfg.Name, now) {
			node.OfSession(d.node.Log.Warn(), l).Uint32("sequence", slot.Sequence).Str("id", sms.FormatID(slot.Message.ID)).
				Str("account", slot.Message.Account()).Msg("no answer to a message for " + time.Duration(timeout).String())
		}
		unanswered(slot)
	})
	whole := d.node.Config().Limits.PDUTimeout
	since := l.Partial.Load()
	switch {
	case since == 0 || l.Hosted.Answering:
	case l.Hosted.By != nil && now-since > int64(min(slowRequest, whole/2)):
		return protocols.Action{Kind: protocols.HandOver}
	case now-since > int64(whole):
		return protocols.Action{Kind: protocols.Close, Reason: fmt.Sprintf("cannot read PDU: not complete after %s", whole)}
	}
	return l.Session.Tick(now, p, listening)
}

// CheckTimers handles the timers of a session that have run out. listening reports whether the
// session is being read. CheckTimers reports whether r was used.
func (c *Conversation[R]) CheckTimers(now int64, l *connector.Link, r R, listening bool) (used bool) {
	if l.HasEnded() || l.Phase == connector.LoggingIn {
		return false
	}
	if l.LeavingAt != 0 && !l.LoggedOut && now-l.LeavingAt >= int64(l.Connector.Config().ResponseTimeout) {
		c.leave(now, l)
		return false
	}
	a := c.sessions.CheckTimers(now, l, c.port.PDU(r), listening, func(slot *connector.Slot) {
		l.GiveUp(slot, c.sessions.receipts.RecordOf(l, slot.Leaving()))
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
func (d *Sessions) answeredLate(l *connector.Link) {
	if !d.node.Repeats.First("late: " + l.Connector.Name) {
		return
	}
	d.node.Log.Warn().Str("connector", l.Connector.Name).Int("instance", l.Instance.Number).
		Stringer("waits", time.Duration(l.ResponseTimeout()).Round(time.Millisecond)).
		Msg("answers come later than response_timeout; waiting longer for them until they come in time again")
}

// How long a peer may take none of the octets that wait for it: usually, and while these
// are more than limits.unsent.
const (
	Stuck     = 30 * time.Second
	StuckFull = 5 * time.Second
)
