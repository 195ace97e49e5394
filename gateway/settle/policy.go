package settle

import (
	"math"

	"pmg/config"
	"pmg/connector"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/route"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// Settle implements connector.Settler: it decides what becomes of a message. If the peer is busy,
// the lane slows down and the message keeps its place. If the message is at fault, it is moved
// aside, so that other messages go on. A message is not blamed for the end of a session in which
// other messages were under way too.
func (d *Settler) Settle(l *connector.Lane, m *sms.Message, a sms.Answer, alone bool) connector.Outcome {
	if a.Code == sms.OK {
		return connector.Outcome{}
	}
	if a.Code == sms.BadLength && a.Status == 0 && d.cut(l, m, a.At) { // the message has not left
		return connector.Outcome{Aside: true}
	}
	o := settle(l.Config(), m, a, alone)
	if a.Code == sms.Faulty {
		o = d.settleFaulty(l, m, a)
	}
	failover, pause := l.Config().SMPP.AfterStatus(a.Status)
	if pause > 0 {
		o.Pause = a.At + int64(pause)
	}
	if failover || route.MayFailOver(l.Config(), m, a, o.Again) {
		if to := d.table.FailOver(l, m); to != nil {
			d.keep.KeepState(to.Lane, m)
			d.logFailover(l, to.Lane, m, a)
			return connector.Outcome{To: to, Pause: o.Pause}
		}
	}
	if cfg := l.Config(); !o.Again &&
		(l.ToClient() || m.Expires != 0 && a.Code.Failure() == sms.Temporary && cfg.Retry.Lasts()) {
		o.Again = goOn(cfg, m, a)
	}
	if o.Again {
		o.Kept = d.keep.KeepState(l, m).Token()
		switch a.Code {
		case sms.Lost, sms.Timeout, sms.Faulty: // other log entries describe these
		default:
			d.logNotTaken(l, m, a)
		}
	}
	return o
}

func settle(cfg *config.Connector, m *sms.Message, a sms.Answer, alone bool) (o connector.Outcome) {
	failure := a.Code.Failure()
	resend := failure != sms.NoAnswer || cfg.OnUnknown == config.Resend
	if a.Code == sms.Lost {
		m.Losses = incremented(m.Losses)
		if !alone {
			return connector.Outcome{Again: resend}
		}
	}
	if a.Code == sms.BadState && cfg.Role() == protocols.Client {
		return refused(cfg, m, a, alone)
	}
	switch failure {
	case sms.Permanent:
		return o
	case sms.Throttling:
		o.Pause = a.At + int64(cfg.ThrottlePause)
		if m.Throttles = incremented(m.Throttles); m.Throttles <= patience {
			o.Again = true
		} else {
			o.Again = wait(m, a.At, pausesAfter(cfg, failure), m.Throttles-patience)
		}
		return o
	}
	m.Attempts, m.Throttles = incremented(m.Attempts), 0
	o.Again = wait(m, a.At, pausesAfter(cfg, failure), m.Attempts) && resend
	return o
}

// refused decides about a message that was answered with a status which means the whole session.
// The session ends, and the message keeps its place. If sessions end repeatedly while only this
// message is under way, the message may be the reason: then each attempt counts.
func refused(cfg *config.Connector, m *sms.Message, a sms.Answer, alone bool) connector.Outcome {
	m.Losses = incremented(m.Losses)
	if !alone {
		return connector.Outcome{Again: true}
	}
	m.Attempts, m.Throttles = incremented(m.Attempts), 0
	return connector.Outcome{Again: wait(m, a.At, pausesAfter(cfg, sms.NoAnswer), m.Attempts)}
}

// pausesAfter returns the pauses between attempts that fail in this way.
func pausesAfter(cfg *config.Connector, f sms.Failure) config.Pauses {
	switch f {
	case sms.Throttling:
		return cfg.Retry.Throttled
	case sms.NoAnswer: // a late answer may come: then the next attempt is not made
		return cfg.Retry.Lost
	}
	return cfg.Retry.Temporary
}

// goOn repeats the last pause for a message that has failed after it. A client that is busy for long must not lose its
// receipts, and a message must not end as undeliverable long before its time: its validity ends it. goOn reports false
// if the refusal was permanent, or the options allow no further attempt.
func goOn(cfg *config.Connector, m *sms.Message, a sms.Answer) (again bool) {
	failure := a.Code.Failure()
	if failure == sms.Permanent || failure == sms.NoAnswer && cfg.OnUnknown != config.Resend {
		return false
	}
	pause, again := pausesAfter(cfg, failure).Last()
	m.NotBefore = a.At + int64(pause)
	return again
}

// wait sets the time of a message's next attempt, by the number of failures. It returns false if no
// further attempt is allowed.
func wait(m *sms.Message, now int64, pauses config.Pauses, failures uint8) bool {
	pause, again := pauses.After(int(failures))
	m.NotBefore = now + int64(pause)
	return again
}

// mostCounted is the highest number of attempts that is counted.
const mostCounted = math.MaxUint8

// patience is how many consecutive times a message may be throttled before it must wait and other
// messages go first. Some SMSCs throttle one destination and not the connection.
const patience = 3

// incremented returns n+1, or n if that does not fit.
func incremented(n uint8) uint8 {
	if n < mostCounted {
		n++
	}
	return n
}

// Ended implements connector.Settler: the store forgets a message whose outcome is known. One that
// was given up is logged.
func (d *Settler) Ended(l *connector.Lane, m *sms.Message, a sms.Answer, sent int64) {
	if a.Code == sms.OK && m.Network != 0 && m.Kind == sms.Submit && !l.ToClient() {
		l.Home().Stats.Networks.Sent(m.Network)
	}
	if a.Code != sms.OK && a.Code != sms.Deleted {
		if l.Endpoint != "" && d.bury(l, m, a) {
			return
		}
		d.logGivenUp(l, m, a, sent)
	}
	d.Forget(m, keep.Ending{
		State: events.StateOf(a.Code), Lane: keep.LaneName(l), Peer: l.Home().Driver, Answer: a, Sent: sent,
		Attempts:   AttemptsOf(m, a.Code, sent),
		Operations: l.Config().Operations,
	}, d.Receipts.MapsFor(l, m, &a))
}

// Doubled implements connector.Settler: it stores the meaning of the copy's id, because the copy's
// receipts may be all that come.
func (d *Settler) Doubled(l *connector.Lane, m *sms.Message, a sms.Answer) {
	if o := d.Receipts.MapsFor(l, m, &a); o != nil {
		ahead := d.node.Clock.Ahead()
		v := store.MappingOf(m, ahead)
		d.keep.Batches.Write(func(b *store.Batch) { d.Receipts.RecordMapping(b, o, &v, a.PeerID, a.At+ahead, false) })
	}
}

// Halted implements connector.Settler.
func (d *Settler) Halted(now int64) bool {
	return d.node.Draining() && d.keep.Durable() || d.keep.Unsettled.Full(now) || d.Events.full()
}

func (d *Settler) logGivenUp(l *connector.Lane, m *sms.Message, a sms.Answer, sent int64) {
	if !d.node.LogLimits.Failures.Next(l.Home().Name, a.At) {
		return
	}
	e := aboutMessage(d.node.Log.Warn(), l, m, a, AttemptsOf(m, a.Code, sent))
	r, ok := m.Report()
	if m.Kind != sms.Receipt || !ok {
		e.Msg("message given up")
		return
	}
	e = e.Stringer("delivery", r.State)
	if r.Known != 0 {
		e = e.Str("about", sms.FormatID(r.Known))
	}
	e.Msg("receipt given up: its client does not get it")
}

// Unreadable implements connector.Settler: it logs a message that was dropped because it is not in
// the store any more.
func (d *Settler) Unreadable(l *connector.Lane, s *connector.Share, id uint64) {
	d.node.Log.Error().Str("connector", l.Home().Name).Str("id", sms.FormatID(id)).Str("account", s.Origin.Account).
		Msg("message dropped: cannot read it from the store")
}

// settleFaulty handles a message that a part of the gateway fails to handle: after some tries the
// message is put aside, without being ended.
func (d *Settler) settleFaulty(l *connector.Lane, m *sms.Message, a sms.Answer) (o connector.Outcome) {
	m.Attempts = incremented(m.Attempts)
	if m.Attempts < faultyTries {
		wait(m, a.At, l.Config().Retry.Temporary, m.Attempts)
		return connector.Outcome{Again: true}
	}
	m.NotBefore = 0
	d.keep.SetAside(m, keep.LaneName(l), store.Quarantined, "a part of the gateway failed at it; the log says more")
	return connector.Outcome{Aside: true}
}

// faultyTries is how often a message is tried that a part of the gateway fails to handle.
const faultyTries = 3

// EndUnsent ends a message of a lane that no peer has ended. A deleted message is counted as
// cancelled, any other as failed.
func (d *Settler) EndUnsent(now int64, l *connector.Lane, m *sms.Message, code sms.Code) {
	if code == sms.Deleted {
		l.Home().Stats.Cancelled.Add(1)
		m.Origin.Tally.Cancelled.Add(1)
	} else {
		l.Home().Stats.Failed.Add(1)
		m.Origin.Tally.Failed.Add(1)
	}
	d.Ended(l, m, sms.Answer{Code: code, At: now}, 0)
}
