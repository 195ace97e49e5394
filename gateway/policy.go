package gateway

import (
	"math"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/events"
	"pmg/sms"
)

// Settle implements connector.Policy: it decides what becomes of a message. The
// peer's wish to be sent less slows the lane down and leaves the message in its
// place; a fault of the message makes it step aside, so that the others go on. A
// message whose session ended beside others is not blamed for that.
func (g *Gateway) Settle(l *connector.Lane, m *sms.Message, a sms.Answer, alone bool) connector.Outcome {
	o := settle(l.Config(), m, a, alone)
	if a.Code == sms.Faulty {
		o = g.settleFaulty(l, m, a)
	}
	if o.Again {
		g.keepState(l, m)
		switch a.Code {
		case sms.Lost, sms.Timeout, sms.Faulty: // the log has other entries about these
		default:
			g.logNotTaken(l, m, a)
		}
	}
	return o
}

func settle(cfg *config.Connector, m *sms.Message, a sms.Answer, alone bool) (o connector.Outcome) {
	switch a.Code {
	case sms.Throttled:
		o = connector.Outcome{Again: true, Pause: a.At + int64(cfg.ThrottlePause)}
		if m.Throttles = incremented(m.Throttles); m.Throttles > patience {
			m.NotBefore = a.At + stepAside(cfg, m.Throttles-patience)
		}
		return o
	case sms.Lost:
		m.Losses = incremented(m.Losses)
		o.Again = cfg.OnUnknown == config.Resend
		if !alone {
			return o
		}
		m.Attempts = incremented(m.Attempts)
		m.NotBefore = a.At + stepAside(cfg, m.Attempts)
	case sms.Timeout: // the answer may be late: the next attempt waits, and is not made if the answer comes
		m.Attempts = incremented(m.Attempts)
		m.NotBefore = a.At + stepAside(cfg, m.Attempts)
		o.Again = cfg.OnUnknown == config.Resend
	default:
		if !a.Code.Retryable() {
			return o
		}
		m.Attempts = incremented(m.Attempts)
		o.Again, m.NotBefore = true, a.At+stepAside(cfg, m.Attempts)
	}
	m.Throttles = 0
	o.Again = o.Again && (cfg.MaxAttempts == 0 || int(m.Attempts) < min(cfg.MaxAttempts, mostCounted))
	return o
}

// mostCounted is the highest count of attempts.
const mostCounted = math.MaxUint8

// patience is how often in a row a message may be throttled before it has to wait, so
// that others go first: some SMSCs throttle one destination and not the connection.
const patience = 3

// longestRetry is where retry_delay stops doubling.
const longestRetry = 5 * time.Minute

// stepAside returns how long a message waits after a number of attempts.
func stepAside(cfg *config.Connector, attempts uint8) int64 {
	d := cfg.RetryDelay
	for n := uint8(1); n < attempts && d < longestRetry; n++ {
		d = min(2*d, longestRetry)
	}
	return int64(d)
}

// incremented returns n+1, or n if that does not fit.
func incremented(n uint8) uint8 {
	if n < mostCounted {
		n++
	}
	return n
}

// Ended implements connector.Policy: the store forgets a message whose outcome is
// known. The operator is told of one that was given up.
func (g *Gateway) Ended(l *connector.Lane, m *sms.Message, a sms.Answer, sent int64) {
	if a.Code != sms.OK && a.Code != sms.Deleted {
		g.logGivenUp(l, m, a)
	}
	g.forget(m, ending{events.StateOf(a.Code), laneName(l), l.Home().Driver, a, sent, attemptsOf(m, a.Code, sent)})
}

// Halted implements connector.Policy.
func (g *Gateway) Halted() bool {
	return g.draining.Load() && g.Durable() || g.unsettled.full() || g.events.full()
}

func (g *Gateway) logGivenUp(l *connector.Lane, m *sms.Message, a sms.Answer) {
	if !g.storms.failures.next(l.Home().Name, a.At) {
		return
	}
	aboutMessage(g.Log.Warn(), l, m, a).Msg("message given up")
}

// MessageID returns a message's id as logs show it, and as most clients receive it.
func MessageID(id uint64) string { return string(sms.AppendID(nil, id)) }

// Unreadable implements connector.Policy: it tells the operator of a message that was
// dropped because the store does not have it any more.
func (g *Gateway) Unreadable(l *connector.Lane, s *connector.Share, id uint64) {
	g.Log.Error().Str("connector", l.Home().Name).Str("id", MessageID(id)).Str("account", s.Origin.Account).
		Msg("message dropped: cannot read it from the store")
}
