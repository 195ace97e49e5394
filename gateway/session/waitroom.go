package session

import (
	"slices"

	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/sms"
)

// A waitRoom keeps the submits that wait for room in the shares of lanes, and answers those that find
// none.
type waitRoom[R any] struct {
	sessions *Sessions
	port     Port[R]
	replies  *replies[R]
	pressure map[*connector.Share]*connector.Backpressure[R]
	pressed  []*connector.Share // shares with waiting submits, the longest waiting first
}

// wait makes a client's submit wait for room. It returns false if the submit may not wait. The
// answer is never sent before sub.After, which the account's rate demands.
func (w *waitRoom[R]) wait(now int64, from Sender[R], sub *intake.Submission) bool {
	l, a := from.Link, sub.Accepted()
	m, s := a.Message, a.Share
	if !s.HasMemory(a.Octets()) || !w.sessions.mayWaitForRoom(s) {
		return false
	}
	b := w.pressure[s]
	if b == nil {
		b = &connector.Backpressure[R]{}
		w.pressure[s] = b
		w.pressed = append(w.pressed, s)
	}
	if !b.Wait(now, s, m, l, from.Request, sub.After) {
		return false
	}
	w.sessions.waitForRoom(l, s, m, 1)
	if b.Len() == 1 {
		w.sessions.intake.LogWaits(now, &l.Source, s)
	}
	return true
}

// relieve drops a share for which no submit waits.
func (w *waitRoom[R]) relieve(s *connector.Share, b *connector.Backpressure[R]) {
	if b.Len() == 0 {
		delete(w.pressure, s)
		w.pressed = slices.DeleteFunc(w.pressed, func(other *connector.Share) bool { return other == s })
	}
}

// take removes the waiting submits of a session, and calls f for each.
func (w *waitRoom[R]) take(l *connector.Link, f func(*sms.Message, R)) {
	if l.WaitingForRoom == 0 {
		return
	}
	for _, s := range slices.Clone(w.pressed) {
		b := w.pressure[s]
		b.Take(l, func(m *sms.Message, r R) {
			w.sessions.waitForRoom(l, s, m, -1)
			f(m, r)
		})
		w.relieve(s, b)
	}
}

// refuse answers a submit that found no room.
func (w *waitRoom[R]) refuse(now int64, l *connector.Link, m *sms.Message, r R) {
	intake.Retract(&l.Source, m)
	m.Release()
	l.CountRefused(sms.QueueFull)
	w.replies.refuse(now, l, r, sms.Refusal{Code: sms.QueueFull, Step: "room"}, 0)
}

// settle answers every waiting request of a session before its last PDU is sent.
// Otherwise the client would send those messages again.
func (w *waitRoom[R]) settle(now int64, l *connector.Link) {
	w.replies.delayed.Take(l, func(r R) { w.port.Send(now, l, r, false, "") })
	w.take(l, func(m *sms.Message, r R) { w.refuse(now, l, m, r) })
}

// over drops the submits of a session that is over.
func (w *waitRoom[R]) over(l *connector.Link) {
	w.take(l, func(m *sms.Message, r R) {
		intake.Retract(&l.Source, m)
		m.Release()
		w.port.Drop(l, r)
	})
}
