package intake

import "pmg/sms"

// mayWait checks a scheduled message, and its parts, against the number that its account may
// schedule. If its PDU has several messages, all are scheduled.
func (d *Checker) mayWait(now int64, s *Submission) sms.Code {
	m := s.Message
	if m.DeliverAt <= now {
		return sms.OK
	}
	horizon, limit := defaultHorizon, int64(defaultScheduled)
	if a := d.table.Account(m.Origin.Account); a != nil {
		horizon, limit = int64(a.MaxSchedule), int64(a.MaxScheduled)
	}
	n := m.Origin.Tally.Scheduled.Load() + max(int64(m.Parts), 1)
	if s.Others != nil {
		n += s.Others.n
	}
	switch {
	case m.DeliverAt-now > horizon:
		return sms.BadSchedule
	case n > limit && !s.Counted:
		return sms.QueueFull
	}
	return sms.OK
}

// The limits of scheduling for messages from an SMSC, which have no account.
const (
	defaultHorizon   = int64(7 * 24 * 3600e9)
	defaultScheduled = 10_000
)
