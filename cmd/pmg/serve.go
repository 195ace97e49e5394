package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"pmg/config"
)

func newServeCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Long: `Runs the gateway until it is told to stop.

SIGTERM or an interrupt drains it: nobody is accepted any more, accepted messages
are sent, every session is logged out, at most limits.drain_timeout long. A second
one ends it at once. SIGHUP reads the configuration again (accounts, routes, rates,
log level, connectors that were added or removed) and begins new pdu log files; a
configuration that cannot be used changes nothing.`,
		Example: "  pmg config init && pmg serve\n  pmg serve -c /etc/pmg/pmg.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd.ErrOrStderr(), file)
			if err != nil {
				return err
			}
			return serve(cfg, file)
		},
	}
	configFlag(cmd, &file)
	return cmd
}

func serve(cfg *config.Config, file string) error {
	log := newLogger(os.Stdout, cfg)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	s, err := startServer(cfg, log)
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(cfg.Limits.MemoryLimit())
	running, stop := context.WithCancel(context.Background())
	defer stop()
	go trimMemory(running, &s.gateway.Memory)
	log.Info().Str("architecture", cfg.Architecture).Str("version", version).Int("pid", os.Getpid()).Msg("serving")
	for sig := range signals {
		if sig != syscall.SIGHUP {
			break
		}
		s.reloadFile(file)
	}
	log.Info().Dur("at_most", s.gateway.Config().Limits.DrainTimeout).Msg("stopping; interrupt again to end at once")
	ctx, cancel := context.WithTimeout(context.Background(), s.gateway.Config().Limits.DrainTimeout)
	defer cancel()
	go func() {
		for sig := range signals {
			if sig != syscall.SIGHUP {
				cancel()
			}
		}
	}()
	defer log.Info().Msg("stopped")
	return s.stop(ctx)
}

func (s *server) reloadFile(file string) {
	s.gateway.ReopenLogs()
	cfg, err := loadConfig(logWriter{s.log}, file)
	if err == nil {
		err = s.reload(cfg)
	}
	if err != nil {
		s.log.Error().Err(err).Msg("cannot reload; nothing has changed")
	}
}

// logWriter logs what would be printed at the start.
type logWriter struct{ log zerolog.Logger }

func (w logWriter) Write(b []byte) (int, error) {
	w.log.Warn().Msg(string(b))
	return len(b), nil
}
