package session_test

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/sms"
)

// rate sets the rate of the account "client".
func (p *port) rate(perSecond int) {
	cfg := *p.g.Node.Config()
	cfg.Accounts = append([]config.Account(nil), cfg.Accounts...)
	cfg.Accounts[0].Rate, cfg.Accounts[0].Burst = perSecond, 1
	p.reload(&cfg)
}

// A submit that has waited for room is answered no earlier than its account's rate
// allows, the same as a submit for which there was room immediately.
func TestSubmitWaitsKeepsRate(t *testing.T) {
	t.Parallel()
	p := newPort(t, "max_queue: 10, queue_wait: 2s")
	p.rate(2)
	l := p.client()
	_, free := p.fill()
	a, b := p.submit(l), p.submit(l)
	if a.gone+b.gone != "" || l.WaitingForRoom != 2 {
		t.Fatalf("%d are held", l.WaitingForRoom)
	}
	free(2)
	p.want("the first of the rate", a, "sent", sms.OK)
	p.want("the second has to wait half a second", b, "", 0)
	if l.WaitingForRoom != 0 || len(p.queued) != 2 {
		t.Errorf("%d are held, %d queued", l.WaitingForRoom, len(p.queued))
	}
	p.now += second / 2
	p.c.Tick(p.now)
	p.want("half a second later", b, "sent", sms.OK)
}

// A message of a mobile without a route is refused and counted.
func TestNoRouteCounts(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := &connector.Link{}
	l.Open(p.operator.Acquire(), netip.AddrPort{}, p.now, nil)
	l.Origin = p.g.Node.Origins.Of("", "operator")
	r := p.receive(l, protocols.Message, func(r *request) { r.Kind = sms.MO })
	p.want("message", r, "sent", sms.Rejected)
	if refused, unrouted := p.operator.Stats.Refused.Load(), p.g.Intake.Unrouted(); refused != 1 || unrouted != 1 {
		t.Errorf("%d refused, %d unrouted", refused, unrouted)
	}
}

// U12: the logins of clients beyond instances are refused, and the log says so once a minute.
func TestNoInstanceIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, "")
		var log testutil.Log
		p.g.Node.Log = zerolog.New(&log)
		cfg := *p.clients.Config()
		cfg.Instances = 1
		p.clients.SetConfig(&cfg)
		p.client()
		for minute := range 3 {
			for range 5 {
				r := p.login(p.link(), "client", "secret")
				if p.want("no instance is free", r, "sent", sms.BindFailed); !r.last {
					t.Error("the session goes on")
				}
			}
			if n := strings.Count(log.String(), "all instances are in use"); n != minute+1 {
				t.Errorf("%d lines in minute %d:\n%s", n, minute, log.String())
			}
			time.Sleep(time.Minute)
		}
	})
}

// U2: with an SMSC that always answers after response_timeout, the first request is given
// up and then no other: the session waits longer from then on, and the log says so.
func TestAnswersKeepComingLate(t *testing.T) {
	t.Parallel()
	p := newPort(t, "response_timeout: 2s, window: 5")
	var log testutil.Log
	p.g.Node.Log = zerolog.New(&log)
	l := &connector.Link{}
	l.Open(p.operator.Acquire(), netip.AddrPort{}, p.now, nil)
	gaveUp := 0
	for n := range uint32(30) {
		slot := &connector.Slot{Sequence: n + 1, Message: &sms.Message{ID: uint64(n)}, Sent: p.now}
		l.Inflight.Free(slot.Sequence, 5)
		l.Inflight.Put(slot)
		for range 60 { // the answer comes after 6 s
			p.now += second / 10
			p.open++
			r := &request{}
			if !p.c.CheckTimers(p.now, l, r, true) {
				p.gone(r, "unused")
			}
		}
		r := p.receive(l, protocols.Answered, func(r *request) { r.Action.Sequence = n + 1 })
		if r.gone == "answered late" {
			gaveUp++
		} else {
			p.want("in time", r, "answered", 0)
		}
	}
	if gaveUp != 1 || l.ResponseTimeout() != 12*second {
		t.Errorf("%d of 30 requests were given up; answers may take %d s", gaveUp, l.ResponseTimeout()/second)
	}
	if n := strings.Count(log.String(), `"waits":"12s","message":"answers come later than response_timeout`); n != 1 {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
}
