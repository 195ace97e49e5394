package session_test

import (
	"slices"
	"testing"

	"pmg/gateway/intake"
	"pmg/protocols"
	"pmg/sms"
)

// withSlowStep puts a step in front of the route that waits for an answer from outside.
func (p *port) withSlowStep(answer func(m *sms.Message) sms.Code) {
	steps := intake.Steps()
	at := slices.IndexFunc(steps, func(s intake.Step) bool { return s.Name == "route" })
	p.g.Intake.Use(slices.Insert(steps, at, intake.Step{Name: "slow", Ways: intake.Submitted | intake.Delivered | intake.Replaced | intake.ReplacedAt, Do: func(_ *intake.Checker, _ int64, s *intake.Submission) intake.Verdict {
		m := s.Message
		s.Work = func() sms.Code { return answer(m) }
		return intake.Later
	}}))
}

// work does what the oldest slow step waits for.
func (p *port) work() {
	work := p.checks[0]
	p.checks = p.checks[1:]
	work()
	p.c.Flush()
}

// A step that waits for an answer from outside keeps the messages of a session in order, and the
// session open, and may refuse.
func TestSlowStep(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l, other := p.client(), p.client()
	code := sms.OK
	p.withSlowStep(func(*sms.Message) sms.Code { return code })
	first, second, beside := p.submit(l), p.submit(l), p.submit(other)
	p.want("the step waits", first, "", 0)
	if p.work(); len(p.checks) != 2 || len(p.queued) != 1 {
		t.Fatalf("%d steps wait, %d messages are queued", len(p.checks), len(p.queued))
	}
	p.want("it goes on", first, "sent", sms.OK)
	p.want("one message of a session after the other", second, "", 0)
	p.work()
	p.want("another session does not wait behind it", beside, "sent", sms.OK)
	code = sms.Rejected
	ends := p.receive(l, protocols.SendClose, nil) // behind the second one
	p.want("the session ends behind it", ends, "", 0)
	p.work()
	p.want("the step refuses it", second, "sent", sms.Rejected)
	if n := p.clients.Stats.Refused.Load(); n != 1 || ends.gone != "sent" || !ends.last {
		t.Errorf("%d messages count as refused; the session ends: %t", n, ends.last)
	}
	p.c.Over(p.now, l)
	p.c.Over(p.now, other)
}

// A session that is over while a step of its message waits is forgotten.
func TestSlowStepOver(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.client()
	p.withSlowStep(func(*sms.Message) sms.Code { return sms.OK })
	r, behind := p.submit(l), p.submit(l)
	p.c.Over(p.now, l)
	p.want("it was behind", behind, "dropped", 0)
	p.work()
	p.want("nobody is answered", r, "dropped", 0)
	p.wantFree()
}

// Each recipient of a PDU takes the step, and the client is answered when the last one has.
func TestSlowStepOfRecipients(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.client()
	n := 0
	p.withSlowStep(func(*sms.Message) sms.Code {
		if n++; n == 2 {
			return sms.BadDestination
		}
		return sms.OK
	})
	r := p.multi(l, 3, sms.Default, []byte("text"))
	for range 2 {
		p.work()
		p.want("others wait", r, "", 0)
	}
	p.work()
	p.want("all have taken it", r, "sent", sms.OK)
	if len(p.queued) != 2 || !slices.Equal(r.Refused, []int{1}) {
		t.Errorf("%d messages are queued, refused are %v", len(p.queued), r.Refused)
	}
	p.c.Over(p.now, l)
}
