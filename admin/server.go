package admin

import (
	"encoding/json"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"net/http/pprof"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"pmg/gateway"
)

// Limits of the listener: whoever reaches it must not be able to use up the
// gateway's descriptors or memory.
const (
	maxConnections = 64
	maxHeader      = 16 << 10
	requestTimeout = 10 * time.Second // to read one, and to write its answer
	idleTimeout    = time.Minute
)

// A Server is the HTTP listener of one gateway.
type Server struct {
	view     *view
	progress *progress
	http     http.Server
	listener net.Listener
	open     atomic.Int32 // connections
}

// Start listens on address and serves what g and e tell of themselves until
// Close. version is the program's own.
func Start(address string, withPprof bool, g *gateway.Gateway, e gateway.Engine, version string) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen for admin: %w", err)
	}
	log := g.Log.With().Str("component", "admin").Logger()
	s := newServer(g, e, version, withPprof)
	s.listener = listener
	s.http.ErrorLog = stdlog.New(log, "", 0)
	go func() { _ = s.http.Serve(listener) }() // it ends by Close
	return s, nil
}

func newServer(g *gateway.Gateway, e gateway.Engine, version string, withPprof bool) *Server {
	s := &Server{view: newView(g, e, version), progress: newProgress()}
	s.http = http.Server{
		Handler:           s.mux(withPprof),
		ReadHeaderTimeout: requestTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         s.count,
	}
	return s
}

// Addr is the address the server listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close stops listening and cuts off who is connected.
func (s *Server) Close() error {
	if err := s.http.Close(); err != nil {
		return fmt.Errorf("cannot close admin: %w", err)
	}
	return nil
}

// count cuts off connections that are too many.
func (s *Server) count(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if s.open.Add(1) > maxConnections {
			_ = c.Close() // the server notices, and tells StateClosed
		}
	case http.StateClosed:
		s.open.Add(-1)
	}
}

func (s *Server) mux(withPprof bool) *http.ServeMux {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		newCollector(s.view),
	)
	m := http.NewServeMux()
	m.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	m.HandleFunc("GET /status", s.status)
	m.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, s.progress.stalled(s.view.engine.Counters().Stages))
	})
	m.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, s.view.missing())
	})
	if withPprof {
		m.HandleFunc("GET /debug/pprof/", pprof.Index)
		m.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		m.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		m.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return m
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.view.status(r.FormValue("sessions") != ""))
}

// answer says that all is well, or what is not, a line each.
func answer(w http.ResponseWriter, wrong []string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if len(wrong) == 0 {
		fmt.Fprintln(w, "ok")
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	for _, line := range wrong {
		fmt.Fprintln(w, line)
	}
}
