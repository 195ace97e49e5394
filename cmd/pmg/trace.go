package main

import (
	"bufio"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pmg/config"
	"pmg/internal/console"
	"pmg/pdulog"
	"pmg/protocols/smpp"
)

func newTraceCommand() *cobra.Command {
	var o traceOptions
	cmd := &cobra.Command{
		Use:   "trace ID|NUMBER",
		Short: "Show the way of a message through the pdu logs",
		Long: `Shows what the pdu logs of all connectors say of a message, rotated and compressed
files included: the client's submit and its answer, each attempt to send it and the
answer to that, and the receipts that name it. It needs no running gateway.

A message is named by its id, which is in its client's answer and on every line
about it (id=), by the id that the SMS centre gave it, or by the number of its
sender or its recipient. What has only digits is taken for a number first, unless
there are 16 of them; --id takes it for an id.`,
		Example: `  pmg trace 1a1fb0c12c230d41
  pmg trace +46700000002 --since 1h
  pmg trace --id 000001000000 --dir /var/log/pmg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runTrace(cmd, &o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "`directory` of the pdu logs")
	f.StringVarP(&o.config, "config", "c", defaultConfig, "take the directory from this configuration `file`")
	f.StringVar(&o.since, "since", "", "only lines from then on: 10m (ago) or 2026-11-20T19:05:22Z")
	f.StringVar(&o.until, "until", "", "only lines before then, given like --since")
	f.BoolVar(&o.id, "id", false, "what is asked for is an id, even if it has digits only")
	return cmd
}

type traceOptions struct {
	dir, config  string
	since, until string
	id           bool
}

func runTrace(cmd *cobra.Command, o *traceOptions, what string) error {
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	t := &pdulog.Trace{Number: what, Short: smpp.ShortID}
	if o.id || pdulog.MessageID(what) {
		t.ID = what
	}
	var err error
	now := time.Now()
	if t.Filter.Since, err = logTime("--since", o.since, now); err != nil {
		return err
	}
	if t.Filter.Until, err = logTime("--until", o.until, now); err != nil {
		return err
	}
	dir, err := traceDir(cmd, o)
	if err != nil {
		return err
	}
	lines, err := t.Trace(ctx, dir)
	if err == nil && len(lines) == 0 && t.ID == "" { // an SMSC's id may be a number, too
		t.ID = what
		lines, err = t.Trace(ctx, dir)
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err != nil:
		return fmt.Errorf("cannot trace %s: %w", what, err)
	case len(lines) == 0:
		return fmt.Errorf("no line of the pdu logs in %s is about %s; --dir says where to look, and rotated files are removed by pdulog.keep", dir, what)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	for _, line := range lines {
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Flush()
}

// traceDir returns where the pdu logs are.
func traceDir(cmd *cobra.Command, o *traceOptions) (string, error) {
	if o.dir != "" {
		return o.dir, nil
	}
	c, _, err := config.Load(o.config, config.Options{})
	if err != nil {
		return "", fmt.Errorf("cannot find the pdu logs: %w; --dir names their directory without a configuration", err)
	}
	return c.PDULog.Dir, nil
}
