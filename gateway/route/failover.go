package route

import (
	"math"

	"pmg/config"
	"pmg/connector"
	"pmg/sms"
	"pmg/sms/number"
)

// MayFailOver reports whether a message that a lane has sent in vain may go to another target of the
// message's route. It may after failover_attempts, and when it would be given up. A message that the
// peer has refused for good ends, because most such statuses are about the message.
func MayFailOver(cfg *config.Connector, m *sms.Message, a sms.Answer, again bool) bool {
	switch a.Code.Failure() {
	case sms.Permanent:
		return false
	case sms.NoAnswer:
		if cfg.OnUnknown != config.Resend {
			return false
		}
	}
	return !again || cfg.FailoverAttempts > 0 && int(m.Attempts) >= cfg.FailoverAttempts
}

// FailOver returns the share of another lane for a message that l has sent in vain: of the route's
// next target that is up and has not failed to send the message. It returns nil if there is none.
// The message's attempts are counted from 0 again, and the message remembers the failed targets.
func (t *Table) FailOver(l *connector.Lane, m *sms.Message) *connector.Share {
	dest := number.Of(m.Dest())
	route, ok := t.routeOf(m)
	if !ok || len(route.Targets) < 2 {
		return nil
	}
	tried := tried(m, route.number)
	for i := range min(len(route.Targets), 16) {
		if t.resolve(route.Targets[i].To, dest) == l {
			tried |= 1 << i
		}
	}
	c := choiceOf(t, route, m)
	i, ok := c.untried(tried, func(to target) bool {
		lane := t.resolve(to, dest)
		return lane != nil && lane != l && lane.Up() && !isBack(m, lane)
	})
	if !ok {
		return nil
	}
	m.Tried, m.TriedOf = tried, route.number
	m.Earlier = uint8(min(int(m.Earlier)+int(m.Attempts), math.MaxUint8))
	m.Attempts, m.Throttles, m.NotBefore = 0, 0, 0
	to := t.resolve(route.Targets[i].To, dest)
	to.Queues.Unfit(m.ID)
	return t.Share(to, m.Origin)
}

// tried returns the targets of a route that have failed to send a message. A reload may have
// changed the route: then they are forgotten.
func tried(m *sms.Message, route uint16) uint16 {
	if m.TriedOf != route {
		return 0
	}
	return m.Tried
}

// isBack reports whether a lane leads to the SMSC that a message came from. It does not go
// back there, because a route without conditions is meant for clients' messages.
func isBack(m *sms.Message, lane *connector.Lane) bool {
	return !m.Origin.IsClient() && !lane.ToClient() && lane.Home().Name == m.Origin.Connector
}
