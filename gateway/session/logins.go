package session

import (
	"pmg/connector"
	"pmg/gateway/login"
	"pmg/protocols"
)

// A logins keeps the logins of clients until they are decided.
type logins[R any] struct {
	sessions *Sessions
	port     Port[R]
	open     map[*connector.Link]*openLogin[R]
	waiting  connector.Delayed[*openLogin[R]] // logins that wait for the time at which their passwords may be checked
	decided  func(now int64, l *connector.Link, r R, result login.Result)
	behind   *backlog[R]
}

// An openLogin is a login that is not decided yet.
type openLogin[R any] struct {
	login   *login.Attempt
	request R
	working bool // a password check or plugins need the request at present
}

// begin begins a client's login. Requests that follow it wait until it is decided.
func (g *logins[R]) begin(now int64, l *connector.Link, r R, who protocols.Credentials) {
	l.Enter(connector.LoggingIn)
	l.Undecided = true
	begin := g.sessions.logins.Begin
	if l.Hosted.By != nil {
		l.Hosted.By.Work()
		begin = g.sessions.logins.BeginRequests
	}
	g.open[l] = &openLogin[R]{login: begin(now, l.Connector, l.Remote, l.Identity, who), request: r}
	g.goOn(now, l)
}

// goOn continues a login until it is decided or has to wait.
func (g *logins[R]) goOn(now int64, l *connector.Link) {
	o := g.open[l]
	switch step, again := o.login.Next(now); step {
	case login.Works:
		o.working = true
		g.port.Check(l, o.request, o.login.Work, func(now int64) { g.checked(now, l, o.request) })
	case login.Waits:
		g.waiting.Add(again, l, o)
		g.port.TickAt(again)
	default:
		l.LoginDecided()
		l.Undecided = false
		delete(g.open, l)
		g.decided(now, l, o.request, o.login.Result)
		g.behind.goOn(now, l)
	}
}

// checked continues a login when its work is done.
func (g *logins[R]) checked(now int64, l *connector.Link, r R) {
	if l.Phase == connector.Over {
		g.port.Drop(l, r)
		return
	}
	g.open[l].working = false
	g.goOn(now, l)
}

// over ends the login of a session that is over.
func (g *logins[R]) over(l *connector.Link) {
	o := g.open[l]
	if o == nil {
		return
	}
	delete(g.open, l)
	g.waiting.Take(l, func(*openLogin[R]) {})
	o.login.Abandon()
	if !o.working { // otherwise checked releases the request
		g.port.Drop(l, o.request)
	}
}

// tick goes on with the logins that are due.
func (g *logins[R]) tick(now int64) {
	for l, _, ok := g.waiting.Due(now); ok; l, _, ok = g.waiting.Due(now) {
		g.goOn(now, l)
	}
}
