package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/config"
	"pmg/internal/console"
	"pmg/pdulog"
	"pmg/pdulog/story"
)

func newTraceCommand() *cobra.Command {
	var o traceOptions
	cmd := &cobra.Command{
		Use:   "trace [ID|NUMBER]",
		Short: "Trace a message, or list the latest ones",
		Long: `Without an argument it lists the latest messages and their outcomes, the latest first.

With one it shows the lines of the pdu logs of all connectors about a message, including rotated
and compressed files: the client's submit and its answer, each attempt to send the
message or one of its parts and the answer to that, and the receipts for it. The last
lines have the outcome of each message: from the pdu logs, from the events if events.dir is
set, and from the store of a running gateway, if there is one. For a number with many
messages it shows the latest 100.

The argument is the message's id, which is in the client's answer and on every line
about the message (id=), or the UUID that clients of Kannel and Jasmin have in its place,
or the SMSC's id of it, or the client_reference of an HTTP client, or the number of its
sender or its recipient: international (with +, 00 or nothing in front) or national (0…).
An argument of digits is a number, unless it has 16 digits; with --id it is an id.`,
		Example: `  pmg trace 1a1fb0c12c230d41
  pmg trace +46700000002 --since 1h
  pmg trace --failed --account acme
  pmg trace --id 000001000000 --dir /var/log/pmg`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return ask.Exactly(1, "the id of a message, or a phone number")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runTrace(cmd, &o, strings.Join(args, "")) },
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "`directory` of the pdu logs; then nothing else is read")
	ask.Flag(cmd, &o.config)
	f.StringVar(&o.since, "since", "", "only lines since this time: 10m or 7d (ago), 19:05, 2026-11-20 or 2026-11-20T19:05:22")
	f.StringVar(&o.until, "until", "", "only lines before this time, written as for --since")
	f.StringVar(&o.account, "account", "", "only messages of this `account`")
	f.StringVar(&o.connector, "connector", "", "of the latest messages, those that came or left by this `connector`")
	f.BoolVar(&o.failed, "failed", false, "of the latest messages, those that have failed")
	f.BoolVar(&o.id, "id", false, "the argument is an id, even if it has only digits")
	f.BoolVar(&o.decode, "decode", true, "decode texts; false: show their octets, as in the file")
	return cmd
}

type traceOptions struct {
	dir, config  string
	since, until string
	id, decode   bool

	account, connector string
	failed             bool

	cfg *config.Config // nil: only the pdu logs are read
}

func runTrace(cmd *cobra.Command, o *traceOptions, what string) error {
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	q := story.Query{What: what, IsID: o.id, Account: o.account, Failed: o.failed}
	if o.connector != "" {
		q.Connectors = []string{o.connector}
	}
	if what != "" && (o.failed || o.connector != "") {
		return errors.New("cannot trace: --failed and --connector are for the latest messages, without an id or a number")
	}
	var err error
	now := time.Now()
	if q.Since, err = logTime("--since", o.since, now); err != nil {
		return err
	}
	if q.Until, err = logTime("--until", o.until, now); err != nil {
		return err
	}
	dir, err := o.find(cmd)
	if err != nil {
		return err
	}
	finder := story.Finder{Dir: dir, Most: mostTraced}
	if what == "" {
		finder.Most = mostFates
	}
	if o.cfg != nil {
		finder.Events, finder.Waiting = o.cfg.Events.Dir, askStore(o.cfg)
	}
	found, err := finder.Search(ctx, q)
	if err != nil {
		return fmt.Errorf("cannot trace %s: %w", what, err)
	}
	fates := o.fatesOf(found, what)
	if len(fates)+len(found.Lines) > 0 || what == "" {
		err = o.print(cmd.OutOrStdout(), found, fates, what)
	} else if !found.Late {
		return o.nothing(what, dir)
	}
	if found.Late {
		return interrupted(found)
	}
	return err
}

// interrupted returns the error of a search that was interrupted.
func interrupted(found *story.Found) error {
	if found.From.IsZero() {
		return errors.New("interrupted")
	}
	return fmt.Errorf("interrupted: only what came after %s was searched", found.From.UTC().Format(time.RFC3339))
}

// nothing returns an error: no line is about a message.
func (o *traceOptions) nothing(what, dir string) error {
	if o.since+o.until != "" {
		return fmt.Errorf(
			"no line of the pdu logs in %s is about %s in the time that --since and --until select; without them all "+
				"lines are searched",
			dir, what,
		)
	}
	return fmt.Errorf(
		"no line of the pdu logs in %s is about %s; --dir names another directory, and pdulog.keep_age, keep, max_total "+
			"and min_free limit how long files are kept",
		dir, what,
	)
}

func (o *traceOptions) print(w io.Writer, found *story.Found, fates []string, what string) error {
	out := bufio.NewWriter(w)
	var decoder *pdulog.Decoder
	if o.decode {
		decoder = pdulog.NewDecoder(newLogProtocols().find)
	}
	lines := found.Lines
	if what == "" {
		lines = nil
	}
	for _, line := range lines {
		if e, err := pdulog.Parse(line); err == nil && decoder != nil {
			line = decoder.AppendLine(nil, &e)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	for _, fate := range fates {
		fmt.Fprintln(out, console.Escaped(fate))
	}
	switch {
	case found.Cut && what == "":
		fmt.Fprintf(
			out, "The latest %d messages. Choose an --account, or an earlier time with --until, for the rest.\n", len(fates),
		)
	case found.Cut:
		fmt.Fprintf(
			out, "Showing %d messages. Give an id, a shorter --since or an earlier --until for the rest.\n",
			len(found.Stories),
		)
	case len(fates) == 0:
		fmt.Fprintln(out, "No messages.")
	}
	return out.Flush()
}

// find returns the directory of the pdu logs, and loads the configuration unless the flags name that directory.
func (o *traceOptions) find(cmd *cobra.Command) (dir string, err error) {
	if o.dir != "" && !cmd.Flags().Changed("config") {
		return o.dir, nil
	}
	o.cfg, err = loadConfig(io.Discard, o.config)
	switch {
	case ask.IsNone(err):
		return "", fmt.Errorf("%w; or give the directory of the pdu logs with --dir", err)
	case err != nil:
		return "", fmt.Errorf("cannot find the pdu logs: %w; --dir names their directory without a configuration", err)
	case o.dir != "":
		return o.dir, nil
	}
	return o.cfg.PDULog.Dir, nil
}
