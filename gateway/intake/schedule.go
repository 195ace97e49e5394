package intake

import "pmg/sms"

// mayWait checks the delivery time of a message, and whether its account may schedule another one.
func (d *Checker) mayWait(now int64, s *Submission) sms.Code {
	m := s.Message
	if m.DeliverAt <= now {
		return sms.OK
	}
	horizon := defaultHorizon
	if a := d.table.Account(m.Origin.Account); a != nil {
		horizon = int64(a.MaxSchedule)
	}
	switch {
	case m.DeliverAt-now > horizon:
		return sms.BadSchedule
	case d.isBeyond(s):
		return sms.QueueFull
	}
	return sms.OK
}

// isBeyond reports whether a scheduled message, with its parts, exceeds the number of scheduled
// messages of its account. If a PDU has several messages, all of them are scheduled.
func (d *Checker) isBeyond(s *Submission) bool {
	m, limit := s.Message, int64(defaultScheduled)
	if a := d.table.Account(m.Origin.Account); a != nil {
		limit = int64(a.MaxScheduled)
	}
	n := m.Origin.Tally.Scheduled.Load() + max(int64(m.Parts), 1)
	if s.Others != nil {
		n += s.Others.n
	}
	return n > limit && !s.Counted
}

// The limits of scheduling for messages from an SMSC, which have no account.
const (
	defaultHorizon   = int64(7 * 24 * 3600e9)
	defaultScheduled = 10_000
)
