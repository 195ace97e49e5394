package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/pdulog"
)

// logLines is the number of lines that pmg log shows by default, the same as tail.
const logLines = 10

// logFlags holds the flags of pmg log.
type logFlags struct {
	dir, config  string
	follow       bool
	connectors   []string
	instances    []int
	commands     []string
	direction    string
	status       string
	grep         string
	since, until string
	lines        int
	decode       bool

	summary, json, hex bool
	pcap               captureFlags
}

// captureFlags are the flags for a capture.
type captureFlags struct {
	file  string // "": no capture
	masks bool   // texts are masked
}

// The texts of the help of pmg log.
const (
	logLong = `Shows the pdu logs of all connectors, merged by time: the last 10 lines that
match, or all of them with --since, --until or --summary. Rotated and compressed
files are read too. With -f, new lines follow as they are written. It needs no running
gateway and never changes a file.

A line has the time, connector/instance, < (received) or > (sent), and the PDU. A text
that is not plain ASCII is decoded and shown as text="Grüße" in place of its octets,
with udh= before it if it has a user data header; --grep matches the decoded line and
the line in the file. --decode=false prints lines as they are in the file. --hex omits
lines that do not contain all octets, such as those with hidden passwords, and reports
their number.

--json prints an object per line: time, connector, instance, direction, command and
fields, and where the line has them sequence, status, status_name, id (the gateway's id
of the message), account and text.

Times are UTC. --since and --until take an age (90s, 10m, 36h, 7d, 1d12h), a day
(2026-11-20, from its beginning), a time of day (19:05 or 19:05:22, the last time it
was that time) or both (2026-11-20T19:05).

--summary counts the selected lines; it looks for answers in all lines.

--pcap writes a capture file (pcapng) for Wireshark and tshark in place of lines, - to
standard output. Its packets are made: each has one PDU, the port of its connector, and
beside it the gateway's id and the account. It omits the lines that --hex omits.
--mask-texts is for captures that are given away: letters and digits of texts are
replaced by others, and octets that only the peers understand by zeros; lengths, headers
and addresses stay.

The directory is that of the configuration; without one it is pdulog. --dir names another.`

	logExample = `  pmg log -f                                       # new lines as they are written
  pmg log -f --connector clients --command 'submit_*'
  pmg log --since 1h --status nonzero              # refusals of the last hour
  pmg log --since 10m --summary                    # counts, results and time to the answer
  pmg log --since 19:05 --until 19:10 --grep 'Привет'
  pmg log --grep 46700000001 --json | jq '{account, id, text}'
  pmg log --since 1h --connector operator --pcap operator.pcapng
  pmg log --since 1h --pcap operator.pcapng --mask-texts
  pmg log -f --pcap - | wireshark -k -i -
  pmg log --command submit_sm --hex | awk '{print $NF}' | xxd -r -p`
)

func newLogCommand() *cobra.Command {
	var l logFlags
	cmd := &cobra.Command{
		Use:     "log",
		Short:   "Follow, filter, decode, summarise and convert pdu logs",
		Long:    logLong,
		Example: logExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return l.run(cmd) },
	}
	f := cmd.Flags()
	l.defineSelection(cmd)
	f.BoolVarP(&l.follow, "follow", "f", false, "print new lines until interrupted, across rotations")
	f.StringSliceVar(&l.commands, "command", nil, "only this command, where * matches any characters; may be repeated")
	f.StringVar(&l.direction, "direction", "", "only received (in) or sent (out) PDUs")
	f.StringVar(&l.status, "status", "", "only answers with this result: nonzero, 0x58 or ESME_RTHROTTLED; ESME_ROK for 0")
	f.IntVarP(&l.lines, "lines", "n", logLines, "only the last `n` matching lines; -1: all")
	f.BoolVar(&l.decode, "decode", true, "decode texts; false: show their octets, as in the file")
	f.BoolVar(&l.summary, "summary", false, "count commands and results, and measure the time to the answer")
	f.BoolVar(&l.json, "json", false, "one JSON object per line; with --summary, one array")
	f.BoolVar(&l.hex, "hex", false, "print the bytes of the PDU in hexadecimal digits")
	cmd.MarkFlagsMutuallyExclusive("follow", "until")
	f.StringVar(&l.pcap.file, "pcap", "", "write the PDUs as a capture to this `file`")
	f.BoolVar(&l.pcap.masks, "mask-texts", false, "with --pcap: replace the letters and digits of texts")
	cmd.MarkFlagsMutuallyExclusive("hex", "json", "pcap")
	cmd.MarkFlagsMutuallyExclusive("summary", "pcap")
	cmd.MarkFlagsMutuallyExclusive("hex", "summary")
	return cmd
}

// defineSelection adds the flags that say where the lines are, and which of them are read.
func (l *logFlags) defineSelection(cmd *cobra.Command) {
	f := cmd.Flags()
	ask.Flag(cmd, &l.config)
	f.StringVar(&l.dir, "dir", "", "`directory` of the pdu logs, instead of the configuration's")
	f.StringSliceVar(&l.connectors, "connector", nil, "only this connector; may be repeated")
	f.IntSliceVar(&l.instances, "instance", nil, "only this instance; may be repeated")
	f.StringVar(&l.grep, "grep", "", "only lines that match this regular expression")
	f.StringVar(&l.since, "since", "", "only lines since this time: 10m or 7d (ago), 19:05, 2026-11-20 or 2026-11-20T19:05:22")
	f.StringVar(&l.until, "until", "", "only lines before this time, written as for --since")
	cmd.MarkFlagsMutuallyExclusive("dir", "config")
}

func (l *logFlags) run(cmd *cobra.Command) error {
	if l.pcap.masks && l.pcap.file == "" {
		return errors.New("cannot use --mask-texts without --pcap FILE")
	}
	p := newLogProtocols()
	q, err := l.query(p, time.Now(), cmd.Flags().Changed("lines"))
	if err != nil {
		return err
	}
	if l.dir == "" {
		if l.dir, err = logDirectory(l.config, cmd.Flags().Changed("config")); err != nil {
			return err
		}
	}
	if err := l.checkLogsExist(cmd.ErrOrStderr()); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := cmd.OutOrStdout()
	if l.pcap.file == "" || l.pcap.file == "-" {
		return l.show(ctx, p, q, out, cmd.ErrOrStderr())
	}
	f, err := os.OpenFile(l.pcap.file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) // it has texts
	if err != nil {
		return fmt.Errorf("cannot write the capture: %w", err)
	}
	return errors.Join(l.show(ctx, p, q, f, cmd.ErrOrStderr()), f.Close())
}

// checkLogsExist returns an error if the directory has no logs, or none of the selected connectors. With --follow it
// only prints that, because the logs may be written later.
func (l *logFlags) checkLogsExist(stderr io.Writer) error {
	existing, err := pdulog.Connectors(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = nil
	if len(existing) == 0 {
		err = fmt.Errorf(
			"no pdu logs in %s: is pdulog.enabled set, has a client connected, and is this the gateway's directory? "+
				"--dir or --config names another",
			l.dir,
		)
	}
	for _, c := range l.connectors {
		if len(existing) > 0 && !slices.Contains(existing, c) {
			err = fmt.Errorf("no pdu log of connector %s in %s; there are logs of: %s", c, l.dir, strings.Join(existing, ", "))
		}
	}
	if err != nil && l.follow {
		fmt.Fprintf(stderr, "%v; waiting\n", err)
		return nil
	}
	return err
}

// show reads the entries and prints them.
func (l *logFlags) show(ctx context.Context, protocols logProtocols, q pdulog.Query, stdout, stderr io.Writer) error {
	read, out := pdulog.Follow, stdout
	if !l.follow {
		buffered := bufio.NewWriterSize(stdout, 64<<10)
		defer buffered.Flush()
		read, out = pdulog.Read, buffered
	}
	p := &logPrinter{logFlags: l, out: out, decoder: pdulog.NewDecoder(protocols.find)}
	q.Filter.Decoder = p.decoder
	if l.pcap.file != "" {
		var err error
		if p.capture, err = newLogCapture(out, l.config); err != nil {
			return err
		}
	}
	if l.summary {
		all := q.Filter
		p.total = pdulog.NewSummary(&all)
		// The summary filters by itself, because the filter could select a request without its answer.
		q.Filter = pdulog.Filter{Instances: all.Instances, Since: all.Since, Until: all.Until}
	}
	skipped, err := read(ctx, l.dir, q, p.entry)
	if skipped > 0 {
		fmt.Fprintf(stderr, "%d lines omitted: they are not pdu log lines\n", skipped)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	if err != nil {
		return err
	}
	return p.end()
}

// A logPrinter prints entries in the selected form.
type logPrinter struct {
	*logFlags
	out     io.Writer
	buf     []byte
	total   *pdulog.Summary // nil: lines are printed
	capture *logCapture     // nil: lines are printed
	decoder *pdulog.Decoder

	omitted omission
}

// An omission is the lines that could not be converted.
type omission struct {
	lines int
	first error // reason of the first one
}

func (p *logPrinter) entry(e *pdulog.Entry) error {
	b := p.buf[:0]
	switch {
	case p.total != nil:
		p.total.Add(e)
		return nil
	case p.json:
		text := ""
		if p.decode {
			text, _ = p.decoder.Text(e)
		}
		b = pdulog.AppendJSON(b, e, text)
	case p.capture != nil:
		return p.captured(e)
	case p.hex:
		var err error
		if b, err = p.decoder.AppendHex(b, e); err != nil {
			p.omit(err)
			return nil
		}
	case p.decode:
		b = append(p.decoder.AppendLine(b, e), '\n')
	default:
		b = append(append(b, e.Line...), '\n')
	}
	p.buf = b
	_, err := p.out.Write(b)
	return err
}

// captured writes an entry to the capture.
func (p *logPrinter) captured(e *pdulog.Entry) error {
	shown := *e
	var err error
	if p.pcap.masks {
		if p.capture.masked, err = p.decoder.AppendDisguised(p.capture.masked[:0], e); err != nil {
			p.omit(err)
			return nil
		}
		shown.PDU, shown.Line = p.capture.masked, p.capture.masked // an error shows the line
	}
	if p.buf, err = p.decoder.AppendOctets(p.buf[:0], &shown); err != nil {
		p.omit(err)
		return nil
	}
	return p.capture.write(e, p.buf)
}

// omit counts a line that cannot be converted. The others are still useful: the error is reported at the end.
func (p *logPrinter) omit(err error) {
	if p.omitted.lines++; p.omitted.first == nil {
		p.omitted.first = err
	}
}

func (p *logPrinter) end() error {
	if p.omitted.lines > 0 {
		return fmt.Errorf("cannot convert %d of the lines; the first: %w", p.omitted.lines, p.omitted.first)
	}
	if p.total == nil {
		return nil
	}
	rows := p.total.Rows()
	if p.json {
		enc := json.NewEncoder(p.out)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	return printLogSummary(p.out, rows)
}

func printLogSummary(out io.Writer, rows []*pdulog.Row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CONNECTOR\tDIR\tCOMMAND\tCOUNT\tANSWERED\tOPEN\tP50\tP99\tMAX\tSTATUS")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t", r.Connector, r.Direction, r.Command, r.Count)
		if l := r.Latency; l != nil {
			fmt.Fprintf(w, "%d\t%d\t%v\t%v\t%v\t", l.Answered, r.Open, l.P50, l.P99, l.Max)
		} else if r.Open > 0 {
			fmt.Fprintf(w, "0\t%d\t\t\t\t", r.Open)
		} else {
			fmt.Fprint(w, "\t\t\t\t\t")
		}
		var results []string
		for _, name := range slices.Sorted(maps.Keys(r.Status)) {
			results = append(results, fmt.Sprintf("%s: %d", name, r.Status[name]))
		}
		fmt.Fprintln(w, strings.Join(results, ", "))
	}
	return w.Flush()
}
