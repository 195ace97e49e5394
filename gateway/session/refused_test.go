package session_test

import (
	"net/netip"
	"strings"
	"testing"

	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// The log says why a message was refused, and for the others of that minute how many they
// were.
func TestRefusedIsLogged(t *testing.T) {
	t.Parallel()
	p := newPort(t, "max_queue: 10, queue_full: refuse")
	b := record(p.g)
	l := p.client()
	smsc := &connector.Link{}
	smsc.Open(p.operator.Acquire(), netip.AddrPort{}, p.now, nil)
	smsc.Origin = p.g.Node.Origins.Of("", "operator")
	send := func(l *connector.Link, kind sms.Kind) {
		p.receive(l, protocols.Message, func(r *request) { r.Kind = kind })
	}
	_, free := p.fill()
	for _, c := range []struct {
		what string
		send func()
		want string
	}{
		{"a full queue", func() { send(l, sms.Submit) }, `"account":"client","message":"message refused: the queue for connector operator is full, or the account's share of it"`},
		{"no route", func() { send(smsc, sms.MO) }, `"message":"message refused: no route matches"`},
		{"a rate", func() {
			free(10)
			p.rate(1)
			for range 20 {
				send(l, sms.Submit)
			}
		}, `"account":"client","message":"message refused: the account is faster than its rate"`},
	} {
		b.Take()
		c.send()
		c.send()
		if s := b.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, c.want) {
			t.Errorf("%s: log\n%swithout\n%s", c.what, s, c.want)
		}
	}
	b.Take()
	p.g.SeeClock(p.now + 61*second)
	if s := b.String(); !strings.Contains(s, `"connector":"operator","times":1,"message":"in the last minute further messages matched no route"`) {
		t.Errorf("after a minute: %s", s)
	}
	p.c.Over(p.now, l)
}

// The log says why answers are late.
func TestWaitingIsLogged(t *testing.T) {
	t.Parallel()
	p := newPort(t, "max_queue: 10")
	b := record(p.g)
	l := p.client()
	_, free := p.fill()
	b.Take()
	p.submit(l)
	p.submit(l)
	const want = `"account":"client","message":"message answered late: the queue for connector operator is full, or the account's share of it"`
	if s := b.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, want) {
		t.Errorf("log\n%swithout\n%s", s, want)
	}
	free(2)
	p.c.Over(p.now, l)
}

// The reason of a PDU is kept, whether the end of the connection was seen before or after it.
func TestReasonOfPDU(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		p := newPort(t, "")
		l := &connector.Link{}
		l.Open(p.operator.Acquire(), netip.AddrPort{}, p.now, nil)
		if first {
			l.BeginClosing("the peer closed the connection")
		}
		p.receive(l, protocols.Close, func(r *request) { r.Action.Reason = "cannot log in" })
		l.BeginClosing("the peer closed the connection")
		if l.Reason() != "cannot log in" {
			t.Errorf("connection closed first %t: %s", first, l.Reason())
		}
	}
}
