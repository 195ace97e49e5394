package connector

import "pmg/sms"

type Waiting struct {
	ID                                    uint64
	Priority                              uint8
	Arrived, DeliverAt, NotBefore, Expires int64
}

func (l *Lane) Restore(now int64, s *Share, w Waiting) {
	s.Add(1)
	l.policy.(interface{ Load(*Lane, []uint64) }).Load(l, []uint64{w.ID})
}

func (l *Lane) Loaded(now int64, ms []*sms.Message, missing []uint64) {
	for _, m := range ms {
		s := l.Share(m.Origin, 100)
		l.Push(now, s, m)
	}
}
