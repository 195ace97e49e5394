package session_test

import (
	"strings"
	"testing"

	"pmg/config"
	"pmg/connector"
	"pmg/sms"
)

// tries logs in as the client, and checks the code that the answer has.
func (p *port) tries(why string, code sms.Code) *connector.Link {
	p.t.Helper()
	l := p.link()
	r := p.login(l, "client", "secret")
	p.c.Tick(p.now + 2*second) // a refusal is late
	p.want(why, r, "sent", code)
	return l
}

// With sessions_full: replace, a login beyond max_sessions gets the place of the session that has been silent for longest,
// of those that have lasted for a while. Others are refused, so that clients cannot replace each other without a pause.
func TestReplace(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	log := record(p.g)
	p.account(func(a *config.Account) { a.Sessions.Most, a.Sessions.Full = 2, config.Replace })
	first, silent := p.client(), p.client()
	p.now += 9 * second
	p.c.Over(p.now, p.tries("both are young", sms.BindFailed))
	p.now += 2 * second
	first.Heard.Store(p.now) // so the other one is silent for longer
	third := p.tries("the silent one is replaced", sms.OK)
	if p.leaving[silent] != 1 || p.leaving[first] != 0 || p.bound[third] != 1 {
		t.Errorf("leaving: %v, bound %v", p.leaving, p.bound)
	}
	fourth := p.tries("the other one is replaced", sms.OK)
	if p.leaving[first] != 1 || p.leaving[third] != 0 {
		t.Errorf("leaving: %v", p.leaving)
	}
	p.c.Over(p.now, p.tries("those left are young, or have been replaced", sms.BindFailed))
	p.c.Over(p.now, silent) // whose place is not given away once more
	p.c.Over(p.now, first)
	p.c.Over(p.now, p.tries("none of the two places is free", sms.BindFailed))
	p.c.Over(p.now, third)
	fifth := p.tries("one has gone", sms.OK)
	p.c.Over(p.now, p.tries("both are taken", sms.BindFailed))
	p.now += 11 * second
	p.account(func(a *config.Account) { a.Sessions.Full = config.Refuse })
	p.c.Over(p.now, p.tries("it is not asked for any more", sms.BindFailed))
	for _, l := range []*connector.Link{fourth, fifth} {
		if p.leaving[l] != 0 {
			t.Error("a session was logged out although the login is refused")
		}
		p.c.Over(p.now, l)
	}
	if n := strings.Count(log.String(), "session replaced"); n != 1 { // the second one in this minute is summed up
		t.Errorf("%d replaced sessions are logged", n)
	}
	p.account(func(a *config.Account) { a.Sessions.Most = 1 })
	p.c.Over(p.now, p.tries("all places are free", sms.OK))
}

// With max_sessions_per_address a session of the same address is replaced, and of the same account. A login that finds no instance
// of its connector replaces none.
func TestReplaceOfAddress(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	p.account(func(a *config.Account) { a.Sessions.PerAddress, a.Sessions.Full = 1, config.Replace })
	p.from = "192.0.2.9:1"
	elsewhere := p.client()
	p.from = ""
	other := p.link()
	p.login(other, "other", "secret")
	here := p.client()
	p.now += 11 * second
	here.Heard.Store(p.now)
	last := p.tries("the one of this address is replaced", sms.OK)
	if p.leaving[here] != 1 || p.leaving[elsewhere] != 0 || p.leaving[other] != 0 {
		t.Errorf("leaving: %v", p.leaving)
	}
	p.now += 11 * second
	cfg := *p.g.Node.Config()
	cfg.Connectors = append([]config.Connector(nil), cfg.Connectors...)
	cfg.Connectors[0].Instances = 4
	p.reload(&cfg)
	p.c.Over(p.now, p.tries("no instance is free", sms.BindFailed))
	if p.leaving[last] != 0 {
		t.Error("a session was logged out although the login is refused")
	}
	cfg.Connectors[0].Instances = 10
	p.reload(&cfg)
	p.tries("its place is there again", sms.OK)
	if p.leaving[last] != 1 {
		t.Error("its place was not given back by the login that was refused")
	}
}

// The session of another conversation has its place taken once, and is logged out there. If it has ended by itself meanwhile, its
// place is not given back twice.
func TestReplaceElsewhere(t *testing.T) {
	t.Parallel()
	p := newPort(t, "")
	p.account(func(a *config.Account) { a.Sessions.Most, a.Sessions.Full = 1, config.Replace })
	first := p.client()
	p.now += 11 * second
	p.elsewhere = true
	next := p.tries("it is replaced", sms.OK)
	p.c.Over(p.now, p.tries("its place is taken already", sms.BindFailed))
	if p.leaving[first] != 0 || first.Place.Replaced {
		t.Error("it was changed where its PDUs are not received")
	}
	p.c.Over(p.now, first)
	p.lookUps()
	if first.Place.Replaced {
		t.Error("it was replaced although it has ended")
	}
	p.now += 11 * second
	last := p.tries("the next one is replaced", sms.OK)
	p.lookUps()
	if p.leaving[next] != 1 || !next.Place.Replaced {
		t.Error("the next one was not logged out")
	}
	p.c.Over(p.now, next)
	p.c.Over(p.now, last)
	p.tries("the place is free", sms.OK)
}
