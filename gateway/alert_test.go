package gateway

import (
	"net/netip"
	"testing"

	"pmg/connector"
	"pmg/protocols"
)

// alertPort returns a port whose alerts go where the routes lead, and the session to the SMSC
// that they come from.
func alertPort(t *testing.T, routes string) (p *port, smsc *connector.Link) {
	g := startWith(t, `
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret}, {system_id: other, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", window: 5}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
routes: [`+routes+`{to: operator}]
`)
	p = portOf(t, g, g.Connector("clients"), g.Connector("operator"))
	smsc = &connector.Link{}
	smsc.Open(p.operator.Acquire(), netip.MustParseAddrPort("192.0.2.9:1"), p.now, nil)
	p.g.Connected(smsc)
	return p, smsc
}

// bindFor returns a session of an account that has logged in.
func (p *port) bindFor(account string, alerts bool) *connector.Link {
	l := p.link()
	l.Session.(*session).alerts = alerts
	p.login(l, account, "secret")
	return l
}

// alerted plays an alert of the SMSC and returns how many were sent to clients.
func (p *port) alerted(smsc *connector.Link) (n int) {
	before := len(p.order)
	r := p.receive(smsc, protocols.Alert, nil)
	p.want("an alert has no answer", r, "dropped", 0)
	for _, r := range p.order[before:] {
		if r.alert {
			n++
		}
	}
	return n
}

// An alert goes to one session of the account that its route leads to, while that accepts it.
func TestAlert(t *testing.T) {
	t.Parallel()
	p, smsc := alertPort(t, `{from: operator, destination: "12", to: {account: client}}, `)
	if n := p.alerted(smsc); n != 0 {
		t.Errorf("nobody is bound, and %d were sent", n)
	}
	p.bindFor("other", true)
	p.bindFor("client", false)
	if n := p.alerted(smsc); n != 0 {
		t.Errorf("no session takes alerts, and %d were sent", n)
	}
	first, second := p.bindFor("client", true), p.bindFor("client", true)
	if n := p.alerted(smsc); n != 1 {
		t.Errorf("%d were sent to two sessions", n)
	}
	first.Session.(*session).bound = 0 // it logs out
	if n := p.alerted(smsc); n != 1 {
		t.Errorf("%d were sent to the session that is left", n)
	}
	second.LoggedOut = true // its logout begins while the alert is on its way
	if n := p.alerted(smsc); n != 0 {
		t.Errorf("%d were sent to a session that logs out", n)
	}
	p.c.Over(p.now, first)
	p.c.Over(p.now, second)
	if n := p.alerted(smsc); n != 0 || len(p.g.alerts.by) != 1 {
		t.Errorf("%d were sent to ended sessions; those of %d accounts are known", n, len(p.g.alerts.by))
	}
}

// An alert without a route, or with one to an SMSC, is lost.
func TestAlertWithoutAccount(t *testing.T) {
	t.Parallel()
	for _, routes := range []string{"", "{from: operator, to: operator}, ", `{from: operator, destination: "99", to: {account: client}}, `} {
		p, smsc := alertPort(t, routes)
		p.bindFor("client", true)
		if n := p.alerted(smsc); n != 0 {
			t.Errorf("%q: %d were sent", routes, n)
		}
	}
}

// An account is sent no more alerts than it may be.
func TestAlertRate(t *testing.T) {
	t.Parallel()
	p, smsc := alertPort(t, "{from: operator, to: {account: client}}, ")
	p.bindFor("client", true)
	n := 0
	for range 2 * maxAlerts {
		n += p.alerted(smsc)
	}
	if n != maxAlerts {
		t.Errorf("%d of %d alerts were sent, want %d", n, 2*maxAlerts, maxAlerts)
	}
	p.now += second
	if n := p.alerted(smsc); n != 1 {
		t.Error("no alert was sent a second later")
	}
}
