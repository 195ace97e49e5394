package session_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// U5: a reason is logged when it is new, when it has changed, and again after a while with
// the number of times it has occurred.
func TestTrouble(t *testing.T) {
	t.Parallel()
	g, _, operator := start(t, "reconnect_delay: 10s")
	b := record(g)
	i := operator.Acquire()
	fail := func(at int64, why string) string {
		b.Take()
		g.Sessions.ConnectFailed(at, i, errors.New(why))
		return b.String()
	}
	if s := fail(now, "refused"); !strings.Contains(s, `"warn"`) || !strings.Contains(s, "refused; next attempt in 1") {
		t.Errorf("the first: %q", s)
	}
	for n := range int64(9) {
		if s := fail(now+n*60*second, "refused"); s != "" {
			t.Errorf("the same again: %q", s)
		}
	}
	if s := fail(now+600*second, "refused"); !strings.Contains(s, `"times_since_last_said":9`) || !strings.Contains(s, `"for":"10m0s"`) {
		t.Errorf("the same after ten minutes: %q", s)
	}
	if s := fail(now+601*second, "no answer"); !strings.Contains(s, "no answer; next") {
		t.Errorf("another: %q", s)
	}
	if trouble := operator.Trouble(); trouble.Since != now+601*second || trouble.Down != now || trouble.Rest < 10*time.Second {
		t.Errorf("%+v", trouble)
	}
}

// Reasons that alternate do not fill the log either.
func TestTroubleStorm(t *testing.T) {
	t.Parallel()
	g, _, operator := start(t, "")
	b := record(g)
	i := operator.Acquire()
	for n := range 100 {
		g.Sessions.ConnectFailed(now, i, errors.New([]string{"one", "other"}[n%2]))
	}
	if n := strings.Count(b.String(), "\n"); n != 20 {
		t.Errorf("%d lines", n)
	}
	b.Take()
	g.SeeClock(now + 61*second)
	if s := b.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, `"times":80`) || !strings.Contains(s, "in the last minute further connections, logins or sessions failed") {
		t.Errorf("got %q", s)
	}
}

// U17: log entries about unanswered messages are summed up by connector and minute.
func TestUnansweredAreSummedUp(t *testing.T) {
	t.Parallel()
	g, _, operator := start(t, "window: 50, response_timeout: 1s")
	b := record(g)
	l := &connector.Link{}
	l.Open(operator.Acquire(), netip.AddrPort{}, now, nil)
	m := g.Node.Messages.Get()
	m.ID, m.Origin = 0xabc, &sms.Origin{Account: "client", Tally: &sms.Tally{}}
	taken := 0
	timeOut := func(at int64, n int) {
		for sequence := range uint32(n) {
			l.Inflight.Free(sequence, 50)
			l.Inflight.Put(&connector.Slot{Link: l, Message: m, Sequence: sequence, Sent: at - 2*second})
		}
		g.Sessions.CheckTimers(at, l, nil, true, func(*connector.Slot) { taken++ })
	}
	timeOut(now, 30)
	if s := b.String(); taken != 30 || strings.Count(s, "\n") != 1 || !strings.Contains(s, `"id":"0000000000000abc","account":"client","message":"no answer to a message for 1s"`) {
		t.Errorf("%d taken, got %q", taken, s)
	}
	timeOut(now+30*second, 20)
	b.Take()
	g.SeeClock(now + 59*second)
	if s := b.String(); s != "" {
		t.Errorf("before the minute is over: %q", s)
	}
	g.SeeClock(now + 61*second)
	g.SeeClock(now + 62*second)
	if s := b.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, `"connector":"operator","times":49,"message":"in the last minute further messages were not answered in time"`) {
		t.Errorf("got %q", s)
	}
	m.Release()
}

// An alert of a mobile goes to nobody, and what cannot be read of a PDU is left out and counted. The log says so once.
func TestDroppedIsLogged(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	log := record(p.g)
	l := p.smsc()
	for range 3 {
		p.want("an alert", p.receive(l, protocols.Alert, func(r *request) { r.Action.Partly = true }), "dropped", sms.OK)
	}
	for _, line := range []string{"alert of a mobile dropped", "cannot be read, and is left out"} {
		if n := strings.Count(log.String(), line); n != 1 {
			t.Errorf("%d times: %s", n, line)
		}
	}
	if n := l.Connector.Stats.Partly.Load(); n != 3 || len(p.queued) != 0 {
		t.Errorf("%d are counted, %d messages", n, len(p.queued))
	}
}

// O19: peers that speak another protocol are named in the log, once for each protocol.
func TestStrangersAreNamed(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	log := record(p.g)
	for _, reason := range []string{"it looks like TLS", "bad length; it looks like HTTP", "worse; it looks like HTTP", "TLS: no certificate", "silent"} {
		l := p.link()
		l.Explain(reason)
		p.c.Over(now, l)
	}
	for word, want := range map[string]int{"looks like TLS": 1, "looks like HTTP": 1, "no certificate": 1, "silent": 0} {
		if n := strings.Count(log.String(), word); n != want {
			t.Errorf("%d lines about %q, want %d", n, word, want)
		}
	}
}
