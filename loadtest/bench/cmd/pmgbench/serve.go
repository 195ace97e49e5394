package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/config"
	"pmg/gateway"
	"pmg/internal/console"
	"pmg/internal/sock"
	"pmg/loadtest/bench"
	"pmg/loadtest/bench/classic"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
	"pmg/stages"
	"pmg/store"
)

func newServeCommand() *cobra.Command {
	var architecture, file string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a gateway with either architecture",
		Long: `Runs a gateway with the pipeline, as pmg does, or with classic: two goroutines for each
connection, and locks. It is for comparisons: messages wait in memory only, whatever
store.engine says, and the configuration is not read again. An interrupt or SIGTERM
drains the gateway for limits.drain_timeout at most; a second one ends it.`,
		Example: "  pmgbench serve --architecture classic -c pmg.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd, architecture, file)
		},
	}
	cmd.Flags().StringVar(&architecture, "architecture", bench.Pipeline, "pipeline or classic")
	cmd.Flags().StringVarP(&file, "config", "c", "pmg.yaml", "configuration `file`")
	return cmd
}

// serve runs a gateway until a signal stops it.
func serve(cmd *cobra.Command, architecture, file string) error {
	start, known := map[string]func(*gateway.Gateway) (gateway.Engine, error){
		bench.Pipeline: func(g *gateway.Gateway) (gateway.Engine, error) { return stages.Start(g) },
		bench.Classic:  func(g *gateway.Gateway) (gateway.Engine, error) { return classic.Start(g) },
	}[architecture]
	if !known {
		return fmt.Errorf("cannot run architecture %q: use %s or %s", architecture, bench.Pipeline, bench.Classic)
	}
	cfg, warnings, err := config.Load(file, config.Options{Protocols: []string{"smpp", "ucp"}})
	if err != nil {
		return err
	}
	for _, warning := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", warning)
	}
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	return run(ctx, cfg, start, cmd.OutOrStdout())
}

// run runs the gateway that a configuration describes, until ctx is done or it fails.
func run(
	ctx context.Context, cfg *config.Config, start func(*gateway.Gateway) (gateway.Engine, error), out io.Writer,
) (err error) {
	level, err := zerolog.ParseLevel(cfg.Log.Level)
	if err != nil {
		return fmt.Errorf("cannot log: %w", err)
	}
	log := zerolog.New(out).Level(level).With().Timestamp().Logger()
	g, err := gateway.New(cfg, log, newDriver)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if err := g.Keep(store.NewMemory()); err != nil {
		return err
	}
	g.Sessions.LimitDescriptors(sock.DescriptorLimit())
	debug.SetMemoryLimit(cfg.Limits.MemoryLimit())
	engine, err := start(g)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	g.Recover(ctx, engine)
	if cfg.Admin.Address != "" {
		cfg.Admin.Socket = cmp.Or(cfg.Admin.Socket, "off")
		server, err := admin.Start(cfg, g, engine, version, admin.Parts{})
		if err != nil {
			return err
		}
		defer server.Close()
	}
	for _, c := range g.Table.Connectors() {
		for _, address := range engine.Addresses(c) {
			log.Info().Str("connector", c.Name).Stringer("address", address).Msg("listening")
		}
	}
	select {
	case <-ctx.Done():
	case err := <-engine.Failed():
		return fmt.Errorf("cannot go on: %w", err)
	}
	drain, cancel := context.WithTimeout(context.Background(), cfg.Limits.DrainTimeout)
	defer cancel()
	engine.Drain(drain)
	return nil
}

// newDriver returns the driver of a protocol.
func newDriver(protocol string, c *config.Config) (protocols.Driver, error) {
	if protocol == "ucp" {
		return ucp.New(ucp.Options{MaxPDU: int(c.Limits.MaxPDU)}), nil
	}
	return smpp.New(smpp.Options{MaxPDU: int(c.Limits.MaxPDU)}), nil
}
