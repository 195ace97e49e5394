package session_test

import (
	"net/netip"
	"testing"

	"pmg/connector"
	"pmg/gateway/session"
	"pmg/protocols"
	"pmg/sms"
)

// A6: a client that goes on after refusals for now is answered later and later. Its lines in the pdu
// log are limited meanwhile, and in the end it is disconnected. Another session of the account, and
// one that slows down, are answered immediately.
func TestPressing(t *testing.T) {
	t.Parallel()
	const rate = connector.RefusalRate
	p := newPort(t, "")
	p.rate(1)
	l, other := p.client(), p.client()
	for range 11 {
		p.submit(l)
	}
	for range session.PatientRefusal / second * rate {
		p.want("a large window", p.submit(l), "sent", sms.Throttled)
	}
	if !l.Pressing.Load() || other.Pressing.Load() {
		t.Error("its lines in the pdu log are not limited, or those of another session are")
	}
	p.want("as long as that takes", p.submit(l), "sent", sms.Throttled)
	p.want("another session", p.submit(other), "sent", sms.Throttled)
	late := p.submit(l)
	p.want("more", late, "", 0)
	p.now += second / rate
	p.c.Tick(p.now)
	p.want("later", late, "sent", sms.Throttled)
	p.now += 60 * second
	p.c.Tick(p.now)
	p.want("slower", p.submit(l), "sent", sms.OK)
	if l.Pressing.Load() {
		t.Error("lines in the pdu log are still limited")
	}
	for range 10 {
		p.submit(l)
	}
	for n := int64(0); p.hung[l] == ""; n++ {
		if p.submit(l); n > (session.PatientRefusal+session.LongestRefusal)/second*rate+1 {
			t.Fatal("the session goes on")
		}
	}
	p.c.Over(p.now, l)
	p.c.Over(p.now, other)
}

// A client's answers to nothing count too.
func TestPressingAnswers(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := p.client()
	for n := 0; p.hung[l] == ""; n++ {
		if p.receive(l, protocols.Answered, nil); n > 16*connector.RefusalRate {
			t.Fatal("the session goes on")
		}
	}
}

// O4: an SMSC is refused late when there is no room, but no later than after a second, and it is
// not disconnected.
func TestPressingSMSC(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	l := &connector.Link{}
	l.Open(p.operator.Acquire(), netip.AddrPort{}, p.now, nil)
	l.Origin = p.g.Node.Origins.Of("", "operator")
	p.g.Node.Drain() // it refuses all
	p.want("no room", p.receive(l, protocols.Message, nil), "sent", sms.QueueFull)
	var last *request
	for range 20 * connector.RefusalRate {
		last = p.receive(l, protocols.Message, nil)
		p.want("no room", last, "", 0)
	}
	p.now += second
	p.c.Tick(p.now)
	p.want("a second later", last, "sent", sms.QueueFull)
	if p.hung[l] != "" {
		t.Error("the SMSC was disconnected")
	}
}
