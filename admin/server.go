package admin

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	stdlog "log"
	"mime"
	"net"
	"net/http"
	"net/http/pprof"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"pmg/admin/access"
	"pmg/admin/history"
	"pmg/config"
	"pmg/gateway"
	"pmg/gateway/mail"
	"pmg/internal/handshakes"
	"pmg/internal/httpfault"
	"pmg/internal/sock"
)

// Limits of a request.
const (
	maxHeader     = 16 << 10
	headerTimeout = 5 * time.Second  // limit for reading a request's header
	timeout       = 10 * time.Second // limit for reading a request and writing the answer; profiles add their own duration
	idleTimeout   = time.Minute      // limit between two requests
)

// A Server serves the operators of one gateway.
type Server struct {
	reloads    ReloadFunc // nil: the gateway has no reloads
	view       *view
	progress   *Progress
	recorder   *history.Recorder
	accounts   *history.Recorder
	stop       func() // stops recording the history; nil: no history is recorded
	http       http.Server
	limiters   limiters
	guard      *access.Guard
	searcher   *searcher
	statements chan struct{} // holds an element while a statement is made
	exports    chan struct{} // holds an element for each export under way
	forgetter  forgetter
	listeners  []net.Listener // listeners, that of the address first
}

// IsUpload reports whether a request uploads a file, which is larger than other forms, for a page about a managed object.
func IsUpload(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return strings.HasPrefix(r.URL.Path, PagesBase+"managed/") && kind == "multipart/form-data"
}

// hasForm reports whether the body of a request contains its parameters. Actions and pages may have such
// forms. Options and rows of managed objects (package manage) are no forms, although curl labels them as
// forms.
func hasForm(r *http.Request) bool {
	name, isAPI := strings.CutPrefix(r.URL.Path, Base+"/")
	isAction := slices.ContainsFunc(Actions(), func(a Action) bool { return a.Name == name })
	return r.Method == http.MethodPost && (!isAPI || isAction) && !IsUpload(r)
}

// Start listens as cfg configures, and shows the state of g and e until Close is called. version is the version of the
// program. opened are sockets that already listen, in place of admin.address.
func Start(
	cfg *config.Config, g *gateway.Gateway, e gateway.Engine, version string, parts Parts, opened ...sock.Listening,
) (*Server, error) {
	s := newServer(cfg.Admin, g, e, version, parts)
	audit, err := access.NewAudit(cfg.Admin.Audit, g.Node.Log)
	if err != nil {
		return nil, fmt.Errorf("cannot start admin (admin.audit): %w", err)
	}
	s.http.Handler = audit.Handler(s.http.Handler, hasForm)
	s.http.ErrorLog = stdlog.New(g.Node.Log.With().Str("component", "admin").Logger(), "", 0)
	if err := s.listen(cfg, opened); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start admin %w", err), s.Close())
	}
	s.stop = record(s.view, s.recorder, s.accounts)
	for _, l := range s.listeners {
		go func() { _ = s.http.Serve(l) }() // Close ends the goroutine
		if l.Addr().Network() == "unix" {
			g.Node.Log.Info().Str("path", cfg.AdminSocket()).Msg("admin listening on its socket")
		} else {
			e := g.Node.Log.Info().Stringer("address", l.Addr())
			if parts.Pages != nil {
				e = e.Str("pages", pagesURL(cfg.Admin.TLS.Enabled, l.Addr()))
			}
			e.Msg("admin listening")
		}
	}
	return s, nil
}

// pagesURL returns the URL of the operators' pages for a browser on this machine.
func pagesURL(encrypted bool, a net.Addr) string {
	scheme, host := "http", a.String()
	if encrypted {
		scheme = "https"
	}
	if t, ok := a.(*net.TCPAddr); ok && t.IP.IsUnspecified() {
		host = net.JoinHostPort("localhost", strconv.Itoa(t.Port))
	}
	return scheme + "://" + host + PagesBase
}

// listen begins to listen, first on the address. The default socket may fail, for instance because the file system does not
// support sockets: then the gateway runs without it.
func (s *Server) listen(cfg *config.Config, opened []sock.Listening) error {
	for _, o := range opened {
		l, err := o.Listener()
		if err != nil {
			return fmt.Errorf("(admin.address): %w", err)
		}
		s.listeners = append(s.listeners, l)
	}
	if address := cfg.Admin.Address; address != "" && len(opened) == 0 {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return fmt.Errorf("(admin.address): %w", sock.ListenError(address, err))
		}
		s.listeners = append(s.listeners, l)
	}
	if cfg.Admin.TLS.Enabled {
		c, err := newCertificates(s.view.gateway, cfg.Admin.TLS.Options(true))
		if err != nil {
			return fmt.Errorf("(admin.tls): %w", err)
		}
		s.view.certificates = c
		s.http.Handler = c.whileTrusted(s.http.Handler)
		for i, l := range s.listeners {
			s.listeners[i] = &handshakes.Listener{
				Listener: l, Config: &tls.Config{GetConfigForClient: c.config, MinVersion: tls.VersionTLS12},
				Turns: s.view.gateway.Node.Handshakes, Limit: headerTimeout, Log: s.http.ErrorLog,
			}
		}
	}
	socket := cfg.AdminSocket()
	if socket == "" {
		return nil
	}
	l, err := access.Listen(socket)
	switch {
	case err == nil:
		s.listeners = append(s.listeners, l)
	case cfg.Admin.Socket != "":
		return fmt.Errorf("(admin.socket): %w", err)
	default:
		s.view.gateway.Node.Log.Warn().Err(err).Msg("no socket for operators; admin.socket names another, or off")
	}
	return nil
}

func newServer(cfg config.Admin, g *gateway.Gateway, e gateway.Engine, version string, parts Parts) *Server {
	sessions := access.NewSessions(
		func() []config.User { return g.Node.Config().Admin.Users },
		func() *config.OIDC { return &g.Node.Config().Admin.OIDC }, time.Now,
	)
	v := newView(g, e, version)
	v.mail = parts.Mail
	s := &Server{reloads: parts.Reload, view: v, progress: NewProgress(), recorder: history.New(history.OfConnectors, v.reading),
		accounts: history.New(history.OfAccounts, v.accountReading),
		limiters: newLimiters(), searcher: newSearcher(g), statements: make(chan struct{}, 1),
		exports: make(chan struct{}, mostExports),
		guard:   access.NewGuard(func() []config.Token { return g.Node.Config().Admin.Tokens }, sessions, g.Node.Log)}
	s.http = http.Server{
		Handler: checkHost(
			hostNames(cfg), func() string { return g.Node.Config().Admin.OIDC.Host() },
			http.NewCrossOriginProtection().Handler(httpfault.Handler(s.mux(cfg.Pprof, parts), g.Node.Log, failed)),
		),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       timeout,
		WriteTimeout:      timeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         s.limiters.connState,
		ConnContext:       connContext,
	}
	return s
}

// Addr returns the address that the server listens on, or its socket if it has no address.
func (s *Server) Addr() string { return s.listeners[0].Addr().String() }

// Close stops listening, closes the connections and ends the history.
func (s *Server) Close() error {
	if s.stop != nil {
		s.stop()
	}
	err := s.http.Close()
	for _, l := range s.listeners { // the listeners that were not served are still open
		if cerr := l.Close(); err == nil && !errors.Is(cerr, net.ErrClosed) && !errors.Is(cerr, fs.ErrNotExist) {
			err = cerr
		}
	}
	if err != nil {
		return fmt.Errorf("cannot close admin: %w", err)
	}
	return nil
}

// newGoCollector returns the metrics of the Go runtime: the usual ones, and the time that goroutines have waited for a
// processor.
func newGoCollector() prometheus.Collector {
	return collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(
		collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile("^/sched/latencies:seconds$")},
	))
}

func (s *Server) mux(withPprof bool, parts Parts) *http.ServeMux {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		newGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		newCollector(metrics(parts.Known), func() *Status { return s.view.status(false) }),
	)
	m := http.NewServeMux()
	look := func(h http.HandlerFunc) http.Handler { return s.guard.May(access.Look, s.limiters.limited(h)) }
	administer := func(h http.HandlerFunc) http.Handler {
		return s.guard.May(access.Administer, s.limiters.limited(h))
	}
	m.Handle("GET /metrics", look(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP))
	for _, l := range Lists() {
		m.Handle("GET "+Base+"/"+l.Name, look(func(w http.ResponseWriter, r *http.Request) { l.show(s, w, r) }))
	}
	for _, a := range Actions() {
		m.Handle("POST "+Base+"/"+a.Name, s.guard.May(a.Scope, s.limiters.limited(s.serve(a))))
		if method := numberMethods()[a.Name]; method != "" {
			m.Handle(method+" "+Base+"/"+numberName, changeNumber(s, a))
		}
	}
	if parts.Pages != nil {
		m.Handle(PagesBase, parts.Pages(s))
		m.Handle("GET /{$}", http.RedirectHandler(PagesBase, http.StatusSeeOther))
	}
	if parts.Routes != nil {
		parts.Routes(s, m)
	}
	m.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, s.progress.Stalled(s.view.engine.Counters().Stages), nil)
	})
	m.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { s.ready(w, r, parts.Known) })
	if withPprof {
		m.Handle("GET /debug/pprof/", administer(pprof.Index))
		m.Handle("GET /debug/pprof/profile", administer(pprof.Profile))
		m.Handle("GET /debug/pprof/symbol", administer(pprof.Symbol))
		m.Handle("GET /debug/pprof/trace", administer(pprof.Trace))
	}
	return m
}

// ready answers whether the gateway is ready for traffic or, with of=node, whether its node should have clients.
// If it is not, because a node of a cluster cannot store anything, the answer has what the servers of NATS say.
func (s *Server) ready(w http.ResponseWriter, r *http.Request, known Known) {
	of := r.URL.Query().Get("of")
	node := s.view.gateway.NodeNotReady()
	var trouble []string
	if len(node) > 0 && known != nil {
		if k := known(); k != nil && k.Trouble != "" {
			trouble = []string{"the servers of NATS: " + k.Trouble}
		}
	}
	switch of {
	case "":
		status := s.view.status(false)
		answer(w, append(status.NotReady, trouble...), status.Problems)
	case "node":
		answer(w, append(node, trouble...), nil)
	default:
		http.Error(w, "of must be node, or missing", http.StatusBadRequest)
	}
}

// failed answers a request whose handler has panicked (RFC 9457).
func failed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusInternalServerError)
	fmt.Fprintln(w, `{"type":"about:blank","title":"The gateway has failed at the request","status":500,"detail":"The gateway's log says why: a request failed."}`)
}

// PagesBase is the beginning of the paths of the operators' pages.
const PagesBase = "/ui/"

// Pages returns the handler of the paths below PagesBase for a server. The handler uses the server's Guard to authorize requests.
type Pages func(*Server) http.Handler

// Routes adds further paths to a server. Their handlers use the server's Guard to authorize requests.
type Routes func(*Server, *http.ServeMux)

// Parts are the optional parts that the program adds to a server. The zero value adds nothing.
type Parts struct {
	Reload ReloadFunc   // answers requests to reload
	Pages  Pages        // the operators' pages
	Known  Known        // this node's knowledge about its cluster
	Routes Routes       // the API that changes what the gateway stores itself
	Mail   *mail.Sender // nil: no mail is sent
}

// Gateway returns the gateway that is shown.
func (s *Server) Gateway() *gateway.Gateway { return s.view.gateway }

// Engine returns the engine that moves the gateway's messages.
func (s *Server) Engine() gateway.Engine { return s.view.engine }

// Guard returns the guard that authorizes requests.
func (s *Server) Guard() *access.Guard { return s.guard }

// Limited serves h if not too many requests are running, as for the server's own handlers.
func (s *Server) Limited(h http.HandlerFunc) http.Handler { return s.limiters.limited(h) }

// Streams limits h by the number of endless answers.
func (s *Server) Streams(h http.HandlerFunc) http.Handler {
	return s.limiters.streams(h)
}

// Unlimited serves h without the limit of requests, because another limit applies.
func (s *Server) Unlimited(h http.HandlerFunc) http.Handler { return s.limiters.served(h) }

// Status returns the status of the gateway, with a list of the sessions if withSessions.
func (s *Server) Status(withSessions bool) *Status { return s.view.status(withSessions) }

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	answerJSON(w, s.view.status(r.FormValue("sessions") != ""), nil)
}

// answer writes "ok", or the reasons why the gateway is not ready, one on each line. The problems that do not
// affect readiness follow.
func answer(w http.ResponseWriter, reasons, problems []string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if len(reasons) == 0 {
		fmt.Fprintln(w, "ok")
	} else {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	for _, line := range reasons {
		fmt.Fprintln(w, line)
	}
	for _, line := range problems {
		fmt.Fprintln(w, "problem:", line)
	}
}
