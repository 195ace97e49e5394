package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pmg/loadtest"
	"pmg/protocols"
)

func newLoadCommand() *cobra.Command {
	o := loadtest.DefaultLoadOptions()
	var bind string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "load --to HOST:PORT {--messages M | --duration D}",
		Short: "Send SMPP load to a gateway and measure its answers",
		Long: `Binds connections, keeps a window of submits unanswered on each, and tells how
many were answered, how fast and how late.

Without --rate each answer makes room for the next submit (closed loop). With
--rate the time of every submit is planned beforehand and latency counts from
then (open loop): a stall shows in every message that it held up.

Each text begins with the message's number, "#000000000042 ", by which pmg sink
finds missing and doubled ones. Throttled and queue-full answers are counted
apart; --retry sends those messages again. A lost connection is not opened again.
An interrupt ends the sending and gives the summary; a second one ends at once.
Load uses one core, enough for about a million messages a second, unless
GOMAXPROCS is set.

The exit status is 1 when something is unanswered, refused, lost or doubled.

With --json the summary is one object: connections, window, messages, sent,
answered, accepted, throttled, refused, statuses (by name), resent, unanswered,
unexpected, receipts, receipts_missing, receipts_doubled, unnumbered,
connections_lost, gave_up, seconds, messages_per_second, and latency with p50_us,
p90_us, p99_us, p999_us and max_us.`,
		Example: `  pmg load --to 127.0.0.1:2775 --connections 64 --window 10 --messages 400000
  pmg load --to 127.0.0.1:2775 --duration 1m --rate 2000 --json
  pmg load --to 127.0.0.1:2775 --messages 1000 --receipts --retry 100ms`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Bind, err = parseBind(bind); err != nil {
				return err
			}
			return runLoad(cmd, o, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.To, "to", "", "`host:port` of the gateway")
	f.IntVar(&o.Connections, "connections", o.Connections, "how many connections to bind")
	f.IntVar(&o.Window, "window", o.Window, "submits unanswered on each connection")
	f.Int64Var(&o.Messages, "messages", 0, "how many messages to send; 0: until --duration is over")
	f.DurationVar(&o.Duration, "duration", 0, "how long to send; 0: until --messages are sent")
	f.Float64Var(&o.Rate, "rate", 0, "messages a second over all connections; 0: as fast as the answers come")
	f.Int64Var(&o.First, "first", 0, "number of the first message")
	f.IntVar(&o.Size, "size", o.Size, "octets of text, 14 to 254")
	f.BoolVar(&o.Receipts, "receipts", false, "ask for delivery receipts and wait for them")
	f.DurationVar(&o.Retry, "retry", 0, "send throttled messages again after this pause; 0: never")
	f.StringVar(&o.SystemID, "system-id", o.SystemID, "system_id to bind with")
	f.StringVar(&o.Password, "password", o.Password, "password to bind with")
	f.StringVar(&bind, "bind", o.Bind.String(), "transmitter, receiver or transceiver")
	f.StringVar(&o.Source, "source", o.Source, "source address")
	f.StringVar(&o.Destination, "destination", o.Destination, "`prefix` of the destinations; seven digits of the number follow")
	f.DurationVar(&o.Timeout, "timeout", o.Timeout, "give up after waiting this long and hearing nothing")
	f.BoolVar(&asJSON, "json", false, "print the summary as JSON")
	_ = cmd.MarkFlagRequired("to")
	cmd.MarkFlagsOneRequired("messages", "duration")
	return cmd
}

func parseBind(name string) (protocols.BindType, error) {
	for _, t := range []protocols.BindType{protocols.Transmitter, protocols.Receiver, protocols.Transceiver} {
		if t.String() == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("cannot bind as %q: it is transmitter, receiver or transceiver", name)
}

func runLoad(cmd *cobra.Command, o loadtest.LoadOptions, asJSON bool) error {
	defer oneCore()()
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	p := newLoadProgress(cmd.ErrOrStderr(), o.Messages, o.Duration)
	o.Progress = func(c loadtest.Counts) {
		p.show(c.Accepted, fmt.Sprintf("%d answered, %d throttled, %d refused, %d receipts", c.Answered, c.Throttled, c.Refused, c.Receipts))
	}
	r, err := loadtest.Load(ctx, o)
	p.end()
	if err != nil {
		return err
	}
	if err := printSummary(cmd.OutOrStdout(), asJSON, r, loadRows(r)); err != nil {
		return err
	}
	return problemsError(r.Problems())
}

// interruptible gives a context that ends at the first SIGINT or SIGTERM; the
// second one then ends the process.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// oneCore keeps load or sink on one core until the function it gives is called:
// they share the machine with the gateway they measure, and waking a second core
// for a few microseconds of work costs more than it saves. GOMAXPROCS in the
// environment wins.
func oneCore() (restore func()) {
	if os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}

// problemsError makes the command fail when there are problems.
func problemsError(problems []string) error {
	if problems == nil {
		return nil
	}
	return errors.New(strings.Join(problems, ", "))
}

// A summaryRow is a line of a summary.
type summaryRow struct{ name, value string }

func countRow(name string, n int64) summaryRow { return summaryRow{name, fmt.Sprint(n)} }

func loadRows(r *loadtest.LoadResult) []summaryRow {
	rows := []summaryRow{
		countRow("messages", r.Messages),
		countRow("sent", r.Sent),
		countRow("answered", r.Answered),
		countRow("accepted", r.Accepted),
		countRow("unanswered", r.Unanswered),
		countRow("resent", r.Resent),
	}
	for _, status := range slices.Sorted(maps.Keys(r.Statuses)) {
		rows = append(rows, countRow(status, r.Statuses[status]))
	}
	l := r.Latency
	return append(rows,
		countRow("receipts", r.Receipts),
		countRow("connections lost", r.ConnectionsLost),
		summaryRow{"seconds", fmt.Sprintf("%.3f", r.Seconds)},
		summaryRow{"messages/s", fmt.Sprintf("%.0f", r.MessagesPerSecond)},
		summaryRow{"latency", fmt.Sprintf("p50 %.0f us, p90 %.0f us, p99 %.0f us, p99.9 %.0f us, max %.0f us", l.P50, l.P90, l.P99, l.P999, l.Max)},
	)
}

// printSummary prints the result as JSON, or the rows that show it.
func printSummary(w io.Writer, asJSON bool, result any, rows []summaryRow) error {
	if asJSON {
		return json.NewEncoder(w).Encode(result)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(table, "%s\t%s\n", row.name, row.value)
	}
	return table.Flush()
}

// progressLines is how often progress is told to what is no terminal.
const progressLines = 5 * time.Second

// loadProgress shows how far something has come: a bar on a terminal, else a
// line now and then.
type loadProgress struct {
	w     io.Writer
	bar   *progressbar.ProgressBar // nil where w is no terminal
	began time.Time
	timed bool // the bar shows time, not messages
	said  time.Time
}

// newLoadProgress expects so many messages, or to take so long; where neither is
// known the bar only turns.
func newLoadProgress(w io.Writer, messages int64, duration time.Duration) *loadProgress {
	p := &loadProgress{w: w, began: time.Now(), said: time.Now()}
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return p
	}
	most := messages
	if messages == 0 {
		p.timed = duration > 0
		most = duration.Milliseconds()
	}
	if most == 0 {
		most = -1
	}
	p.bar = progressbar.NewOptions64(most,
		progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(!p.timed), progressbar.OptionThrottle(100*time.Millisecond))
	return p
}

func (p *loadProgress) show(messages int64, text string) {
	switch {
	case p.bar != nil:
		p.bar.Describe(text)
		if p.timed {
			messages = time.Since(p.began).Milliseconds()
		}
		if most := p.bar.GetMax64(); most > 0 { // a full bar is finished and shown no more
			messages = min(messages, most-1)
		}
		_ = p.bar.Set64(messages)
	case time.Since(p.said) >= progressLines:
		p.said = time.Now()
		fmt.Fprintf(p.w, "%4.0f s  %s\n", time.Since(p.began).Seconds(), text)
	}
}

// end clears the bar, so that the summary stands alone.
func (p *loadProgress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
