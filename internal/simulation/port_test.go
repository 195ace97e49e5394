package simulation

import (
	"slices"
	"time"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/session"
	"pmg/protocols"
	"pmg/sms"
)

var _ session.Port[*request] = (*conversation)(nil)

// New implements session.Port.
func (n *node) New(l *connector.Link) *request {
	n.w.oracle.requests++
	return &request{pdu: l.Connector.Driver.NewPDU(), link: l}
}

func (n *node) release(r *request) {
	if r.gone {
		n.w.fail("a request was released twice")
	}
	r.gone = true
	n.w.oracle.requests--
}

// PDU implements session.Port.
func (n *node) PDU(r *request) protocols.PDU { return r.pdu }

// Send implements session.Port.
func (n *node) Send(_ int64, l *connector.Link, r *request, last bool, reason string) {
	h := l.Courier.(*handle)
	n.release(r)
	h.end.write(r.pdu.AppendWire(nil))
	if last {
		n.Hangup(l, reason)
	}
}

// IsAbout implements session.Port.
func (n *node) IsAbout(*request, uint64) {}

// IsRefusal implements session.Port.
func (n *node) IsRefusal(*request, sms.Refusal) {}

// Drop implements session.Port.
func (n *node) Drop(_ *connector.Link, r *request) { n.release(r) }

// HandOver implements session.Port. No session of the simulation is handed over.
func (n *node) HandOver(l *connector.Link, r *request) { n.Drop(l, r) }

// Hangup implements session.Port.
func (n *node) Hangup(l *connector.Link, reason string) {
	if l.BeginClosing(reason) {
		n.after(0, func() { n.over(l.Courier.(*handle)) })
	}
}

// Check implements session.Port.
func (n *node) Check(_ *connector.Link, _ *request, check func(), then func(now int64)) {
	n.after(0, func() {
		n.run(check, func() { n.after(n.w.between(0, 100e6), func() { then(n.w.now()) }) })
	})
}

// Store implements session.Port.
func (n *conversation) Store(now int64, p session.Pending[*request]) {
	for _, a := range append([]keep.Accepted{p.Accepted}, p.More...) {
		n.w.oracle.named(a)
		if t := n.w.oracle.byID[a.Message.ID]; t != nil {
			t.by = slices.Index(n.talks, n)
		}
		n.w.oracle.arrivals[a.Message.ID] = p.By.Request.came
		n.relay(a, p.By.Request)
	}
	at := n.g.Keeper.Put(p.Accepted, p.More)
	if n.w.mutation == answerEarly {
		n.talk.Stored(now, p, sms.OK)
		return
	}
	n.storing = append(n.storing, storing{p, at})
}

// Queue implements session.Port.
func (n *conversation) Queue(now int64, s *connector.Share, m *sms.Message) {
	if len(n.talks) == 1 {
		n.push(now, s, m)
		return
	}
	if n.out = append(n.out, keep.Accepted{Message: m, Share: s}); len(n.out) == 1 {
		n.after(n.w.between(0, 2*time.Millisecond), n.passOn)
	}
}

// Answered implements session.Port.
func (n *node) Answered(now int64, l *connector.Link, r *request, slot *connector.Slot, code sms.Code) {
	a := answerOf(r, now, code)
	n.release(r)
	if code == sms.OK && slot.Inquiry == nil && l.Account == nil {
		n.w.oracle.identified(n.w.station(l.Connector.Name), string(a.PeerID), !n.w.oracle.over[slot.Message.ID])
	}
	n.answered(slot, a)
}

// AnsweredLate implements session.Port.
func (n *node) AnsweredLate(now int64, l *connector.Link, r *request, u connector.Unanswered, code sms.Code) {
	before := n.g.Keeper.Batches.Stats().Waiting
	a := answerOf(r, now, code)
	n.touch(l.Lane).AnsweredLate(l, u, a)
	ends := n.g.Keeper.Batches.Stats().Waiting > before
	if ends {
		n.w.oracle.ended(u.ID, "late answer")
	}
	if code == sms.OK && l.Account == nil {
		n.w.oracle.identified(n.w.station(l.Connector.Name), string(a.PeerID), ends)
	}
	n.release(r)
}

func answerOf(r *request, now int64, code sms.Code) sms.Answer {
	return sms.Answer{Code: code, At: now, Status: r.pdu.Status(), PeerID: r.pdu.MessageID()}
}

// Unanswered implements session.Port.
func (n *node) Unanswered(now int64, slot *connector.Slot) {
	n.answered(slot, sms.Answer{Code: sms.Timeout, At: now})
}

// Bound implements session.Port.
func (n *node) Bound(_ int64, l *connector.Link, takes bool) {
	if l.Lane != nil {
		n.touch(l.Lane).Window.Bound(l, takes)
	}
}

// LoggingOut implements session.Port.
func (n *node) LoggingOut(_ int64, l *connector.Link) {
	if l.Lane != nil {
		n.touch(l.Lane).Window.LoggingOut(&l.Outlet)
	}
}

// TickAt implements session.Port.
func (n *conversation) TickAt(at int64) { n.at(at, n.tick) }

// moved gives a lane a message that another one could not send. It may come back to that one.
func (n *node) moved(s *connector.Share, m *sms.Message) {
	if t := n.w.oracle.byID[m.ID]; t != nil {
		t.moved = true
	}
	n.touch(s.Lane).Queues.Push(n.w.now(), s, m)
}
