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
		Short: "Show the lines of the pdu logs about a message",
		Long: `Shows the lines of the pdu logs of all connectors about a message, including rotated
and compressed files: the client's submit and its answer, each attempt to send the
message and the answer to that, and the receipts for it. It needs no running gateway.

The argument is the message's id, which is in the client's answer and on every line
about the message (id=), or the SMS centre's id of it, or the number of its sender or
its recipient. An argument of digits only is first taken for a number, unless it has 16
digits; with --id it is taken for an id.`,
		Example: `  pmg trace 1a1fb0c12c230d41
  pmg trace +46700000002 --since 1h
  pmg trace --id 000001000000 --dir /var/log/pmg`,
		Args: oneArg("the id of a message, or a phone number"),
		RunE: func(cmd *cobra.Command, args []string) error { return runTrace(cmd, &o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "`directory` of the pdu logs")
	f.StringVarP(&o.config, "config", "c", defaultConfig, "take the directory from this configuration `file`")
	f.StringVar(&o.since, "since", "", "only lines since this time: 10m (ago) or 2026-11-20T19:05:22Z")
	f.StringVar(&o.until, "until", "", "only lines before this time, written as for --since")
	f.BoolVar(&o.id, "id", false, "take the argument for an id, even if it has digits only")
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
	if err == nil && len(lines) == 0 && t.ID == "" { // an SMSC's id may have digits only, too
		t.ID = what
		lines, err = t.Trace(ctx, dir)
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err != nil:
		return fmt.Errorf("cannot trace %s: %w", what, err)
	case len(lines) == 0:
		return fmt.Errorf("no line of the pdu logs in %s is about %s; --dir names another directory, and pdulog.keep_age, keep, max_total and min_free limit how long files are kept", dir, what)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	for _, line := range lines {
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Flush()
}

// traceDir returns the directory of the pdu logs.
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
