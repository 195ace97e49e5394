package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/internal/console"
)

func newStatusCommand() *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what a running gateway does: problems, connectors, accounts, queues, rates",
		Long: `Asks a running gateway, which is at --address or else at the socket or the address
of the configuration's section admin, and prints tables. Counts are since the gateway's
start; columns without any count are omitted. It begins with the readiness for traffic and
the problems: the same list as on the page Overview and in /readyz.

With --watch it repeats the request until interrupted and shows rates. With --json it
prints the JSON of /status, one object per line.`,
		Example: `  pmg status
  pmg status --watch=5s --sessions
  pmg status --address 127.0.0.1:2780 --json | jq '.connectors[].queued'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.find(cmd); err != nil {
				return err
			}
			return runStatus(cmd, o)
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.DurationVar(&o.watch, "watch", 0, "repeat at this `interval`, and show rates")
	f.Lookup("watch").NoOptDefVal = "2s"
	f.BoolVar(&o.sessions, "sessions", false, "list the sessions too")
	f.BoolVar(&o.accounts, "accounts", false, "list all accounts, not only those with the most messages")
	f.BoolVar(&o.networks, "networks", false, "list all mobile networks, not only those with the most messages")
	f.BoolVar(&o.stages, "stages", false, "show the stages of the pipeline too")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

type statusOptions struct {
	ask.Gateway
	config           string
	watch            time.Duration
	sessions, asJSON bool
	statusView
}

// flags adds the flags that select the gateway.
func (o *statusOptions) flags(cmd *cobra.Command) {
	ask.Flag(cmd, &o.config)
	o.Gateway.Flags(cmd)
}

// find finds the address of the gateway in the configuration, unless --address is set.
func (o *statusOptions) find(cmd *cobra.Command) error {
	if cmd.Flags().Changed("address") {
		return nil
	}
	c, err := loadConfig(io.Discard, o.config) // pmg serve prints the warnings
	if ask.IsNone(err) {
		return fmt.Errorf("%w; or give --address HOST:PORT", err)
	}
	if err != nil {
		return fmt.Errorf("cannot find admin address: %w; --address names it without a configuration", err)
	}
	return o.Find(c, o.config)
}

func runStatus(cmd *cobra.Command, o statusOptions) error {
	out := cmd.OutOrStdout()
	if o.watch <= 0 {
		s, err := askStatus(cmd.Context(), o)
		if err != nil {
			return err
		}
		return writeStatus(out, o, nil, s)
	}
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	tick := time.NewTicker(o.watch)
	defer tick.Stop()
	var before *admin.Status
	for {
		s, err := askStatus(ctx, o)
		if ctx.Err() != nil {
			return nil
		}
		if !o.asJSON {
			separate(out)
		}
		if err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "pmg:", err) // go on: the gateway may start again
		} else if err := writeStatus(out, o, before, s); err != nil {
			return err
		}
		before = s
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// separate clears a terminal, and prints an empty line to other outputs.
func separate(out io.Writer) {
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(out, "\x1b[H\x1b[2J")
		return
	}
	fmt.Fprintln(out)
}

func writeStatus(out io.Writer, o statusOptions, before, s *admin.Status) error {
	if o.asJSON {
		return writeJSON(out, s)
	}
	_, err := io.WriteString(out, statusText(before, s, o.statusView))
	return err
}

// statusTimeout is how long a gateway may take for an answer that it has in memory.
const statusTimeout = 10 * time.Second

func askStatus(ctx context.Context, o statusOptions) (*admin.Status, error) {
	path := admin.Base + "/status"
	if o.sessions {
		path += "?sessions=1"
	}
	s := new(admin.Status)
	return s, askAdmin(ctx, &o.Gateway, http.MethodGet, path, s)
}

// askAdmin sends a request to a gateway and reads its answer into v.
func askAdmin(ctx context.Context, g *ask.Gateway, method, path string, v any) error {
	return g.JSON(ctx, statusTimeout, method, path, v)
}
