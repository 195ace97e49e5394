package gateway

import (
	"slices"
	"sync"

	"pmg/connector"
	"pmg/ratelimit"
	"pmg/sms"
)

// maxAlerts is how many alerts a second an account is sent. An SMSC may have very many mobiles
// that become available together, and no answer slows it down.
const maxAlerts = 100

// alerts holds the clients' sessions that an SMSC's alerts can be sent to. It is safe for
// concurrent use.
type alerts struct {
	mu sync.Mutex
	by map[string]*alerted // by account
}

// An alerted is an account that is sent alerts.
type alerted struct {
	links []*connector.Link
	rate  ratelimit.Limiter
}

// add adds a client's session that has logged in and may receive.
func (a *alerts) add(l *connector.Link) {
	if !l.Session.TakesAlerts() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[string]*alerted{}
	}
	of := a.by[l.Account.SystemID]
	if of == nil {
		of = &alerted{rate: ratelimit.New(maxAlerts, maxAlerts)}
		a.by[l.Account.SystemID] = of
	}
	of.links = append(of.links, l)
}

// remove removes a session that is over, if it was added.
func (a *alerts) remove(l *connector.Link) {
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.by[l.Account.SystemID]
	if of == nil {
		return
	}
	if of.links = slices.DeleteFunc(of.links, func(other *connector.Link) bool { return other == l }); len(of.links) == 0 {
		delete(a.by, l.Account.SystemID)
	}
}

// find returns the session that an account's next alert is sent to, or nil and the reason why
// there is none.
func (a *alerts) find(now int64, account string) (l *connector.Link, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.by[account]
	if of == nil {
		return nil, "no session of the account receives"
	}
	for _, l := range of.links {
		if !l.Session.Accepting() {
			continue
		}
		if of.rate.Wait(now) > 0 {
			return nil, "the account is sent too many"
		}
		of.rate.Reserve(now)
		return l, ""
	}
	return nil, "no session of the account receives"
}

// alert passes on what an SMSC says about a mobile that is available again, to a session of
// the account that a mobile's message to the same destination would go to. No answer follows,
// and nothing is stored: an alert that no session can be sent is lost.
func (c *Conversation[R]) alert(now int64, l *connector.Link, r R) {
	m := &sms.Message{Kind: sms.MO, Origin: l.Origin, Arrived: now} // of no pool, because the PDU that is sent points into it
	l.Session.Alert(c.port.PDU(r), m)
	c.port.Drop(l, r)
	to, why := c.gateway.alertTo(now, l, m)
	if to == nil {
		c.gateway.logRefused(now, l, &c.gateway.Storms.Alerts, "alert of a mobile is sent to no client: "+why)
		return
	}
	c.port.At(to, func(now int64, c *Conversation[R]) { c.sendAlert(now, to, m) })
}

// alertTo returns the client's session that an alert of an SMSC goes to, or nil and the reason
// why there is none.
func (g *Gateway) alertTo(now int64, l *connector.Link, m *sms.Message) (to *connector.Link, why string) {
	own, account := rulesIn(l)
	if g.rewriteIn(m, own, account) != sms.OK {
		return nil, "a rule of rewrite refuses it"
	}
	lane := g.route(m)
	switch {
	case lane == nil:
		return nil, "no route matches"
	case lane.Account == "":
		return nil, "its route leads to connector " + lane.Home().Name
	}
	return g.alerts.find(now, lane.Account)
}

// sendAlert sends an alert to a client, unless the session has begun to end.
func (c *Conversation[R]) sendAlert(now int64, l *connector.Link, m *sms.Message) {
	if l.Over || l.Ended || l.Draining || l.LoggedOut {
		return
	}
	r := c.port.New(l)
	l.Session.EncodeAlert(c.port.PDU(r), c.gateway.outgoing(l, nil, m))
	c.port.Send(now, l, r, false, "")
}
