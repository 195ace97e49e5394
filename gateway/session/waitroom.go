package session

import (
	"slices"

	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/sms"
)

// A waitRoom has what finds no room in the shares of lanes: submits that wait for it, and messages that are to
// come again later.
type waitRoom[R any] struct {
	*keeper[R]
	pressure   map[*connector.Share]*connector.Backpressure[R]
	pressed    []*connector.Share // that pressure has, those that have waited longest first
	submitting R                  // the PDU of the message at hand
}

// Wait implements intake.Room: it makes a client's submit wait for room. However soon there is room, the answer is
// not sent before the time after, which the account's rate asks for. Messages from an
// SMSC do not wait, because the answers to our own requests would wait behind them.
func (w *waitRoom[R]) Wait(now int64, sub *intake.Submission) bool {
	l, a := sub.Session, sub.Accepted()
	m, s := a.Message, a.Share
	if l.Account == nil || !s.HasMemory(a.Octets()) || !w.desk.mayWaitForRoom(s) {
		return false
	}
	b := w.pressure[s]
	if b == nil {
		b = &connector.Backpressure[R]{}
		w.pressure[s] = b
		w.pressed = append(w.pressed, s)
	}
	if !b.Wait(now, s, m, l, w.submitting, sub.After) {
		return false
	}
	w.desk.waitForRoom(l, s, m, 1)
	if b.Len() == 1 {
		w.desk.intake.LogWaits(now, &l.Source, s)
	}
	return true
}

// roomIn accepts the submits that wait for room in a lane, as far as there is room.
func (w *waitRoom[R]) roomIn(now int64, lane *connector.Lane) {
	for _, s := range slices.Clone(w.pressed) {
		if s.Lane == lane {
			w.letIn(now, s, w.pressure[s])
		}
	}
}

func (w *waitRoom[R]) letIn(now int64, s *connector.Share, b *connector.Backpressure[R]) {
	b.LetIn(now, func(m *sms.Message) bool {
		return w.desk.keep.MayStore() && w.intake.HasRoom(keep.Accepted{Message: m, Share: s})
	},
		func(l *connector.Link, m *sms.Message, r R, after int64) {
			w.desk.waitForRoom(l, s, m, -1)
			w.accept(now, Pending[R]{Accepted: keep.Accepted{Message: m, Share: s}, Link: l, Request: r, After: after})
		},
		func(l *connector.Link, m *sms.Message, r R) {
			w.desk.waitForRoom(l, s, m, -1)
			w.desk.intake.LogNoRoom(now, &l.Source, s)
			w.refuse(now, l, m, r)
		})
	w.relieve(s, b)
}

// relieve forgets a share for which no submit waits.
func (w *waitRoom[R]) relieve(s *connector.Share, b *connector.Backpressure[R]) {
	if b.Len() == 0 {
		delete(w.pressure, s)
		w.pressed = slices.DeleteFunc(w.pressed, func(other *connector.Share) bool { return other == s })
	}
}

// take removes and returns the submits of a session that wait for room.
func (w *waitRoom[R]) take(l *connector.Link, f func(*sms.Message, R)) {
	if l.WaitingForRoom == 0 {
		return
	}
	for _, s := range slices.Clone(w.pressed) {
		b := w.pressure[s]
		b.Take(l, func(m *sms.Message, r R) {
			w.desk.waitForRoom(l, s, m, -1)
			f(m, r)
		})
		w.relieve(s, b)
	}
}

// refuse answers a submit for which there was no room.
func (w *waitRoom[R]) refuse(now int64, l *connector.Link, m *sms.Message, r R) {
	m.Release()
	l.CountRefused(sms.QueueFull)
	w.answer(now, l, r, sms.QueueFull, 0, 0)
}

// answerRefusal answers a message that was refused.
func (w *waitRoom[R]) answerRefusal(now int64, l *connector.Link, r R, code sms.Code, after int64) {
	if code == sms.Throttled || code == sms.QueueFull {
		w.tooMuch(now, l, r, code, after)
	} else {
		w.answer(now, l, r, code, 0, after)
	}
}

// settle answers every waiting request of a session before its last PDU is sent.
// Otherwise the client would send those messages again.
func (w *waitRoom[R]) settle(now int64, l *connector.Link) {
	w.delayed.Take(l, func(r R) { w.port.Send(now, l, r, false, "") })
	w.take(l, func(m *sms.Message, r R) { w.refuse(now, l, m, r) })
}

// HasRoom implements intake.Room: it reports whether a message's share has room for it beside others that are about
// to be accepted. It has none while submits wait for it.
func (w *waitRoom[R]) HasRoom(a keep.Accepted, others *intake.Several) bool {
	if b := w.pressure[a.Share]; b != nil && b.Len() > 0 {
		return false
	}
	if others == nil {
		return w.intake.HasRoom(a)
	}
	n := int64(0)
	for _, o := range others.All {
		if o.Share == a.Share {
			n += o.Places()
		}
	}
	return w.intake.HasRoomBeside(a, n, others.Octets)
}

// tick accepts or refuses submits that have waited.
func (w *waitRoom[R]) tick(now int64) {
	for _, s := range slices.Clone(w.pressed) {
		w.letIn(now, s, w.pressure[s])
	}
}

// over forgets the submits of a session that is over.
func (w *waitRoom[R]) over(l *connector.Link) {
	w.take(l, func(m *sms.Message, r R) {
		m.Release()
		w.port.Drop(l, r)
	})
}
