package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/admin/manage"
	"pmg/admin/web"
	"pmg/cmd/pmg/dev"
	"pmg/cmd/pmg/member"
	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/mail"
	"pmg/httpapi"
	"pmg/internal/daemon"
	"pmg/internal/sock"
	"pmg/sandbox"
	"pmg/stages"
)

// A server is a running gateway: its state, its engine and its admin listener.
type server struct {
	log     zerolog.Logger
	gateway *gateway.Gateway
	engine  gateway.Engine
	admin   *admin.Server // nil: not started
	manager daemon.Manager
	member  *member.Member // nil: no cluster
	next    *string        // the node to which the work is to move, "" for any node; nil: the work was not moved
	files   *reader        // reads the configuration

	stopRecovery context.CancelFunc
	recovery     sync.WaitGroup
	reloads      chan reloadRequest
	failed       chan error // receives an error when the store has failed
}

// startServer starts the gateway that the configuration describes.
func startServer(cfg *config.Config, log zerolog.Logger) (*server, error) {
	return startServerOn(cfg, log, stages.Listeners{}, nil)
}

// startServerOn starts the gateway with sockets that already listen, for the node that owns the work of a cluster
// unless m is nil.
func startServerOn(cfg *config.Config, log zerolog.Logger, opened stages.Listeners, m *member.Member) (*server, error) {
	g, err := gateway.New(cfg, log, newDriver)
	if err != nil {
		return nil, err
	}
	s := &server{log: log, gateway: g, member: m, files: &reader{}}
	s.reloads, s.failed = make(chan reloadRequest), make(chan error, 1)
	if err := s.openStore(cfg); err != nil {
		_ = g.Close()
		return nil, err
	}
	g.Sessions.LimitDescriptors(sock.DescriptorLimit())
	sender := mail.New(g.Node)
	audit, err := access.NewAudit(cfg.Admin.Audit, log)
	if err != nil {
		err = fmt.Errorf("cannot start (admin.audit): %w", err)
	} else {
		o := httpapi.Options{Opened: opened, Holds: m.Holds(), Edit: s.askEdit, Audit: audit, Mail: sender}
		s.engine, err = startEngine(g, o)
	}
	if err != nil {
		_ = g.Close()
		return nil, err
	}
	s.recover()
	if s.admin, err = admin.Start(
		cfg, g, s.engine, version, admin.Parts{
			Reload: s.askReload, Known: m.Report(), Routes: manage.Routes(s.askEdit), Mail: sender,
			Pages: web.Tools{
				Find:    newHelpFinder(),
				Explain: s.explain, Pending: s.pending, Edit: s.askEdit, WhatIf: s.whatIf, Cluster: m.Report(),
			}.Handler,
		}, opened[member.AdminSocket]...,
	); err != nil {
		s.stopRecovery()
		s.recovery.Wait()
		_ = s.engine.Close()
		_ = g.Close()
		return nil, err
	}
	for _, c := range g.Table.Connectors() {
		s.announce(c)
	}
	return s, nil
}

// startEngine starts the engines of all connectors: the pipeline for sessions, and httpapi for requests.
func startEngine(g *gateway.Gateway, o httpapi.Options) (gateway.Engine, error) {
	pipeline, err := stages.StartOn(g, stages.Options{Opened: o.Opened, Holds: o.Holds})
	if err != nil {
		return nil, err
	}
	e, err := httpapi.Over(pipeline, g, o)
	if err != nil {
		_ = pipeline.Close()
		return nil, err
	}
	return e, nil
}

func (s *server) announce(c *connector.Connector) {
	cfg := c.Config()
	e := s.log.Info().Str("connector", c.Name).Str("protocol", cfg.Protocol).
		Int("instances", cfg.Instances)
	if cfg.Window == config.Auto {
		e.Stringer("window", cfg.Window)
	} else {
		e.Int("window", int(cfg.Window))
	}
	if !cfg.Listens() {
		e.Strs("addresses", cfg.AllAddresses()).Stringer("bind", cfg.BindType()).Msg("connecting")
		return
	}
	for _, a := range s.engine.Addresses(c) {
		e = e.Stringer("address", a)
	}
	e.Msg("listening")
}

// reload puts a new configuration in force and returns the options that differ. After an error nothing has changed.
func (s *server) reload(cfg *config.Config) ([]config.Change, error) {
	changed, err := s.gateway.Reload(cfg, s.engine)
	if err != nil {
		return nil, err
	}
	for _, c := range changed.Added {
		s.engine.Attach(c)
		s.announce(c)
	}
	for _, c := range changed.Removed {
		s.engine.Detach(c)
		s.log.Info().Str("connector", c.Name).Msg("connector removed; its sessions end when its queue is empty")
	}
	for _, c := range changed.Rebound {
		s.engine.Rebind(c)
		s.log.Info().Str("connector", c.Name).Msg("its sessions bind again, because its options have changed")
	}
	s.gateway.Sessions.LimitDescriptors(sock.DescriptorLimit())
	setLevel(s.gateway.Node.Config())
	s.logChanges(changed.Options)
	if err := s.member.SetConfig(s.gateway.Node.Config()); err != nil {
		return nil, err
	}
	return changed.Options, nil
}

// maxChanges is the maximum number of changes in a line of the log.
const maxChanges = 50

// logChanges logs the options that a reload has changed, and those that need a restart, in one line.
func (s *server) logChanges(changes []config.Change) {
	var live, restart []string
	for _, c := range changes {
		if c.Live {
			live = append(live, c.String())
		} else {
			restart = append(restart, c.String())
		}
	}
	shorten := func(all []string) []string {
		if more := len(all) - maxChanges; more > 0 {
			all = append(all[:maxChanges:maxChanges], fmt.Sprintf("and %d more", more))
		}
		return all
	}
	e := s.log.Info()
	if restart != nil {
		e = s.log.Warn().Strs("need_restart", shorten(restart))
	}
	if live != nil {
		e = e.Strs("changed", shorten(live))
	}
	switch {
	case changes == nil:
		e.Msg("configuration reloaded; nothing has changed")
	case restart != nil:
		e.Msg("configuration reloaded; some changes need a restart")
	default:
		e.Msg("configuration reloaded")
	}
}

// stop drains the gateway until ctx is done, and ends it.
func (s *server) stop(ctx context.Context) error {
	s.engine.Drain(ctx)
	s.stopRecovery()
	s.recovery.Wait()
	if s.admin != nil {
		_ = s.admin.Close()
	}
	err := s.engine.Close()
	if cerr := s.gateway.Close(); err == nil {
		err = cerr
	}
	return err
}

// newLogger returns the gateway's own log.
func newLogger(w *os.File, cfg *config.Config) zerolog.Logger {
	setLevel(cfg)
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000000Z07:00"
	var out io.Writer = w
	if cfg.Log.Format == "console" || cfg.Log.Format == "auto" && term.IsTerminal(int(w.Fd())) {
		out = zerolog.ConsoleWriter{Out: w, TimeFormat: "15:04:05.000", NoColor: !term.IsTerminal(int(w.Fd()))}
	}
	return zerolog.New(out).With().Timestamp().Logger()
}

// setLevel sets the level of every logger of the process.
func setLevel(cfg *config.Config) {
	level, err := zerolog.ParseLevel(cfg.Log.Level)
	if err != nil {
		panic(fmt.Sprintf("log level passed the check of the configuration: %v", err))
	}
	zerolog.SetGlobalLevel(level)
}

// A trial is the gateway of pmg dev.
type trial struct{ *server }

// startTrial starts the gateway of pmg dev, whose log goes to out.
func startTrial(yaml string, out io.Writer) (dev.Gateway, error) {
	cfg, _, err := config.Parse([]byte(yaml), config.Options{Protocols: protocolNames()})
	if err != nil {
		return nil, err
	}
	setLevel(cfg)
	s, err := startServer(
		cfg,
		zerolog.New(
			zerolog.ConsoleWriter{Out: zerolog.SyncWriter(out), NoColor: true, TimeFormat: "15:04:05.000"},
		).With().Timestamp().Logger(),
	)
	if err != nil {
		return nil, err
	}
	return trial{s}, nil
}

// Address implements dev.Gateway.
func (t trial) Address(connector string) string {
	if connector == "" {
		return t.admin.Addr()
	}
	return t.engine.Addresses(t.gateway.Table.Connector(connector))[0].String()
}

// Sandbox implements dev.Gateway.
func (t trial) Sandbox(connector string) *sandbox.SMSC {
	return t.engine.(*httpapi.Engine).Sandbox(t.gateway.Table.Connector(connector))
}

// Stop implements dev.Gateway.
func (t trial) Stop(ctx context.Context) error { return t.stop(ctx) }

// Failed implements dev.Gateway.
func (t trial) Failed() <-chan error { return t.failed }
