package portal

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"pmg/config"
	"pmg/connector/account"
	"pmg/httpapi/server"
	"pmg/internal/browser"
	"pmg/internal/oidc"
	"pmg/internal/texts"
	"pmg/internal/turns"
	"pmg/protocols/httpsms"
	"pmg/protocols/httpsms/own"
)

// Base is the beginning of the paths of the pages.
const (
	Base = root + "/"
	root = "/portal"
)

// Limits of requests.
const (
	mostForm     = 64 << 10 // octets of a form
	mostSessions = 10_000   // sessions of browsers with a connector
	mostOf       = 20       // sessions of one user
)

// A Portal is the pages of a gateway's connectors.
type Portal struct {
	rooms    Rooms
	pages    browser.Site
	readings *turns.Pauses // for statistics, by account
	exports  *turns.Pauses // for exports of messages, by account
	changes  changes
	personal changes // of users without manage
	calls    changes // test calls of webhooks, and requests to call servers again
	codes    codes
	links    links
	mailings mailings
	reader   own.Reader // reads messages
	texts    *texts.Catalogue
	logins   *oidc.Logins
}

// New returns the pages of a gateway.
func New(rooms Rooms) *Portal {
	return &Portal{
		rooms: rooms, pages: browser.NewSite(Base, "Messages", templateFiles),
		readings: turns.NewPauses(mostReading, mostWaiting),
		exports:  turns.NewPauses(mostReading, mostWaiting),
		changes:  newChanges(mostChanges),
		personal: newChanges(mostOwn),
		calls:    newChanges(mostChanges),
		mailings: mailings{of: map[string]*mailing{}},
		codes:    codes{now: time.Now, of: map[string]*factor{}},
		logins:   oidc.New(time.Now),
		links:    links{asked: newChanges(mostLinks), now: time.Now, of: map[string]link{}},
		texts:    texts.Shipped(),
	}
}

// A Site is the pages of a connector.
type Site struct {
	portal     *Portal
	listener   *server.Listener
	sessions   *browser.Sessions[login]
	firstSteps *browser.Sessions[firstStep] // logins that need a code
	origins    *http.CrossOriginProtection
	mux        *http.ServeMux
}

// Site returns the pages of a listener's connector.
func (p *Portal) Site(l *server.Listener) *Site {
	s := &Site{portal: p, listener: l, origins: http.NewCrossOriginProtection(), mux: http.NewServeMux()}
	s.sessions = browser.NewSessions(browser.Options[login]{
		Cookie: "pmg-portal", Now: time.Now, Most: mostSessions, MostOf: mostOf,
		Owner: login.owner,
	})
	s.firstSteps = browser.NewSessions(browser.Options[firstStep]{
		Cookie: "pmg-portal-code", Now: time.Now, Most: mostSessions, MostOf: mostOf,
		Owner: func(h firstStep) string { return h.owner() },
	})
	for _, one := range pages() {
		s.mux.HandleFunc("GET "+Base+one.Pattern(), s.allowed(one.scope, one.shown()))
	}
	s.mux.HandleFunc("GET "+Base, s.allowed(look, (*visit).missing))
	s.mux.HandleFunc("GET "+Base+"statistics.csv", s.allowed(look, (*visit).statisticsFile))
	s.mux.HandleFunc("GET "+messagesFile, s.allowed(look, exportMessages))
	s.mux.HandleFunc("POST "+Base+"send", s.allowed(send, (*visit).submit))
	s.mux.HandleFunc("GET "+Base+"opt-outs.csv", s.allowed(look, func(v *visit) { optOuts{v}.file() }))
	s.mux.HandleFunc("GET "+Base+"prices.csv", s.allowed(look, func(v *visit) { priceList{v}.file() }))
	s.mux.HandleFunc("POST "+Base+"opt-outs", s.allowed(send, func(v *visit) { optOuts{v}.change() }))
	s.mux.HandleFunc("POST "+Base+"webhooks", s.allowed(manage, func(v *visit) { hooks{v}.change() }))
	s.mux.HandleFunc("POST "+mailingPath, s.allowed(send, func(v *visit) { mailingPages{v}.begin() }))
	s.mux.HandleFunc("POST "+mailingPath+"/{id}", s.allowed(send, func(v *visit) { mailingPages{v}.change() }))
	s.mux.HandleFunc("POST "+Base+"templates", s.allowed(manage, func(v *visit) { textsPage{v}.change() }))
	s.mux.HandleFunc("POST "+Base+"keys", s.allowed(manage, func(v *visit) { keysPage{v}.change() }))
	s.mux.HandleFunc("POST "+Base+"users", s.allowed(manage, (*visit).changeUsers))
	s.mux.HandleFunc("POST "+passwordPath, s.allowed(look, withPassword((*visit).changePassword)))
	s.mux.HandleFunc("POST "+factorPath, s.allowed(look, withPassword(func(v *visit) { factorPage{v}.change() })))
	s.mux.HandleFunc("GET "+Base+"code", s.open(func(v *visit) { secondStep{v}.show() }))
	s.mux.HandleFunc("POST "+Base+"code", s.open(func(v *visit) { secondStep{v}.give() }))
	s.mux.HandleFunc("GET "+Base+"forgot", s.withLinks(resetPages.showForgot))
	s.mux.HandleFunc("POST "+Base+"forgot", s.withLinks(resetPages.ask))
	s.mux.HandleFunc("GET "+resetPath, s.withLinks(resetPages.showReset))
	s.mux.HandleFunc("POST "+resetPath, s.withLinks(resetPages.set))
	s.mux.HandleFunc("GET "+Base+"login", s.open(func(v *visit) { loginPage{v}.show() }))
	s.mux.HandleFunc("POST "+Base+"login", s.open(func(v *visit) { loginPage{v}.logIn() }))
	s.mux.HandleFunc("POST "+oidcPath, s.open(func(v *visit) { oidcLogin{v}.begin() }))
	s.mux.HandleFunc("GET "+oidcPath+"/{account}", s.open(func(v *visit) { oidcLogin{v}.end() }))
	s.mux.HandleFunc("POST "+Base+"logout", s.open(func(v *visit) { loginPage{v}.logOut() }))
	s.mux.HandleFunc("POST "+Base+"language", s.open(func(v *visit) { languages{v}.choose() }))
	s.mux.HandleFunc("GET "+logoPath, s.open(func(v *visit) { brand{v}.logo() }))
	s.mux.HandleFunc("GET "+stylePath, s.open(func(v *visit) { brand{v}.style() }))
	static := p.pages.Static()
	s.mux.HandleFunc("GET "+Base+"static/", func(w http.ResponseWriter, r *http.Request) {
		l.Begin(w, r)
		static.ServeHTTP(w, r)
	})
	return s
}

// Serves reports whether the pages are enabled and a request is for them. A reload may enable or disable them; disabling ends
// all sessions.
func (s *Site) Serves(r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, Base) && r.URL.Path != root && !isHost(r) {
		return false
	}
	serves := s.listener.Connector.Config().HTTP.Portal
	if !serves {
		s.sessions.EndAll()
		s.firstSteps.EndAll()
	}
	return serves
}

// isHost reports whether a browser asks for the host alone, as when somebody types its name. Programs get the API's answer.
func isHost(r *http.Request) bool {
	return r.URL.Path == "/" && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// ServeHTTP serves a request, unless another site caused it. If another site's host name points here, requests for that name
// have no cookie, and get the login page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	browser.Protect(w.Header())
	switch _, pattern := s.mux.Handler(r); {
	case s.origins.Check(r) != nil:
		s.open((*visit).forged)(w, r)
	case r.URL.Path == root || isHost(r):
		s.open(func(v *visit) { v.redirect(Base) })(w, r)
	case pattern == "" || path.Clean(r.URL.Path) != strings.TrimSuffix(r.URL.Path, "/"):
		s.open((*visit).unknown)(w, r)
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// Failed answers a request whose handler has panicked.
func (s *Site) Failed(w http.ResponseWriter, r *http.Request) { s.open((*visit).failed)(w, r) }

// A visit is a request, with its session and its user.
type visit struct {
	site  *Site
	x     *server.Exchange
	who   login
	scope scope
	first string         // path of the page that the user needs before all others; "": none
	words *texts.Printer // nil: no text was written yet
}

// open returns a handler for requests with or without a login.
func (s *Site) open(serve func(*visit)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{site: s, x: s.listener.Begin(w, r)}
		defer v.x.End()
		serve(v)
	}
}

// allowed returns a handler that serves requests of users with a scope, and redirects others to the login.
func (s *Site) allowed(needed scope, serve func(*visit)) http.HandlerFunc {
	return s.open(func(v *visit) {
		switch {
		case !v.enter():
			v.redirect(v.site.portal.pages.LoginPath(v.x.Request))
		case v.x.Crowded:
			v.wrong(http.StatusServiceUnavailable, v.T("Your account has too many connections. Try again in a moment."))
		case v.first != "" && v.x.Request.URL.Path != v.first:
			v.redirect(v.first)
		case v.scope < needed:
			v.wrong(http.StatusForbidden, v.T("You may not do this. Ask your administrator for the right."))
		default:
			serve(v)
		}
	})
}

func (v *visit) rooms() *Rooms { return &v.site.portal.rooms }

// options returns the options of the connector.
func (v *visit) options() *httpsms.ConnectorOptions { return &v.site.listener.Connector.Config().HTTP }

// enter reports whether the request belongs to a valid session.
func (v *visit) enter() bool {
	var a *account.Account
	var u *config.AccountUser
	who, ok := v.site.sessions.Find(v.x.Request, func(l login) bool {
		a = v.x.AccountOf(l.account)
		u = l.userOf(a)
		return u != nil
	})
	if !ok || !v.x.Enter(a) {
		return false
	}
	v.who, v.scope = who, scopes[u.Scope]
	switch {
	case u.PasswordOnce:
		v.first = passwordPath
	case a.Config().Logins.SecondFactor && u.TOTPSecret == "" && who.subject == "":
		v.first = factorPath
	}
	return true
}

// mayStill returns a function that reports whether the user still has a scope.
func (v *visit) mayStill(needed scope) func() bool {
	return func() bool {
		a, _ := v.x.StillAccount(v.who.account)
		u := v.who.userOf(a)
		return u != nil && scopes[u.Scope] >= needed
	}
}

// String describes the user for logs.
func (v *visit) String() string {
	if v.who.user == "" {
		return "unknown" // as on the operators' pages: the parameters contain the claimed name
	}
	return fmt.Sprintf("user %s of account %s", v.who.user, v.who.account)
}

// record writes an action of the user to the audit log.
func (v *visit) record(act string, parameters map[string]string, result string) {
	if a := v.rooms().Audit; a != nil {
		a.Record(v.String(), v.x.Conn.Remote.String(), "portal/"+act, parameters, result)
	}
}

// form reads the form that the request has. If it fails it answers the request.
func (v *visit) form(most int64) (url.Values, bool) {
	kind, _, _ := strings.Cut(v.x.Request.Header.Get("Content-Type"), ";")
	if strings.TrimSpace(kind) != "application/x-www-form-urlencoded" {
		v.wrong(http.StatusUnsupportedMediaType, v.T("The request must contain a form."))
		return nil, false
	}
	b, err := v.x.ReadBody(most, v.who.account)
	if err != nil {
		v.wrong(http.StatusRequestEntityTooLarge, v.T("The form is too large, or cannot be read."))
		return nil, false
	}
	form, err := url.ParseQuery(string(b))
	if err != nil {
		v.wrong(http.StatusBadRequest, v.T("The form cannot be read."))
		return nil, false
	}
	return form, true
}

// answer answers the request.
func (v *visit) answer(status int, kind string, body []byte, header ...[2]string) {
	v.x.AnswerAsk(&httpsms.Answer{Status: status, ContentType: kind, Header: header, Body: body})
}

// redirect redirects to another page.
func (v *visit) redirect(to string) {
	v.answer(http.StatusSeeOther, "", nil, [2]string{"Location", to})
}

// wait sets the number of seconds after which the browser sends the request again.
func (v *visit) wait(seconds int) { v.x.Writer.Header().Set("Retry-After", strconv.Itoa(seconds)) }
