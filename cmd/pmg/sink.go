package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pmg/internal/console"
	"pmg/loadtest"
)

func newSinkCommand() *cobra.Command {
	var o loadtest.SinkOptions
	var duration time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sink --listen HOST:PORT",
		Short: "Simulate an SMSC that accepts messages and finds missing and doubled ones",
		Long: `Accepts any number of binds and answers submits, until it is interrupted,
--duration is over or --messages different messages have arrived. It identifies
messages by the number at the start of their text, which pmg load writes.

It can also simulate a misbehaving SMSC, with the flags that end in -every, -to and
-text. "Every nth" counts the submits of all connections together; -to takes the first
digits of a destination. With --unbind-every it answers the submits that it has
accepted after its unbind, as SMSCs do that are stopped for maintenance.

The exit status is 1 when messages are missing, doubled or malformed. With --messages
the numbers up to that one are expected, without it the gaps between the numbers count
as missing.

With --json the summary is one object: submits, accepted, unique, doubled,
missing, unnumbered, throttled, refused, dropped, unbinds, twice, late, malformed,
binds, binds_refused, binds_closed, receipts, receipts_answered, seconds,
messages_per_second.`,
		Example: `  pmg sink --listen 127.0.0.1:2776
  pmg sink --listen 127.0.0.1:0 --messages 400000 --json
  pmg sink --listen 127.0.0.1:2776 --receipts --delay 20ms --throttle-every 1000
  pmg sink --listen 127.0.0.1:2776 --unbind-every 500 --full-to 4670000001
  pmg sink --listen 127.0.0.1:2776 --late-every 10 --late 90s --close-bind-every 1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSink(cmd, o, duration, asJSON) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "", "`host:port` to listen on; with port 0 a free one is taken and printed")
	f.DurationVar(&o.Delay, "delay", 0, "time before a submit is answered")
	f.Int64Var(&o.ThrottleEvery, "throttle-every", 0, "answer every `n`th submit ESME_RTHROTTLED")
	f.Int64Var(&o.RefuseEvery, "refuse-every", 0, "answer every `n`th submit ESME_RSUBMITFAIL")
	f.Int64Var(&o.DropEvery, "drop-every", 0, "close the connection instead of answering every `n`th submit")
	f.BoolVar(&o.Mute, "mute", false, "never answer a submit")
	f.Int64Var(&o.UnbindEvery, "unbind-every", 0, "unbind at every `n`th submit")
	f.Int64Var(&o.TwiceEvery, "twice-every", 0, "answer every `n`th submit twice")
	f.Int64Var(&o.LateEvery, "late-every", 0, "answer every `n`th submit --late after the others")
	f.DurationVar(&o.Late, "late", 90*time.Second, "how much later --late-every answers")
	f.Int64Var(&o.CloseBindEvery, "close-bind-every", 0, "close every `n`th connection right after the answer to its login")
	f.StringVar(&o.ThrottleTo, "throttle-to", "", "answer submits to this `destination` ESME_RTHROTTLED")
	f.StringVar(&o.FullTo, "full-to", "", "answer submits to this `destination` ESME_RMSGQFUL")
	f.StringVar(&o.RefuseTo, "refuse-to", "", "answer submits to this `destination` ESME_RINVDSTADR")
	f.StringVar(&o.CloseTo, "close-to", "", "close the connection on which a submit to this `destination` arrives")
	f.StringVar(&o.CloseText, "close-text", "", "close the connection on which a submit with this `text` arrives")
	f.BoolVar(&o.Receipts, "receipts", false, "send the delivery receipts that submits ask for")
	f.StringVar(&o.SystemID, "system-id", "", "refuse binds with another system_id")
	f.StringVar(&o.Password, "password", "", "refuse binds with another password")
	f.Int64Var(&o.Messages, "messages", 0, "end when this many different messages have arrived; 0: never")
	f.DurationVar(&duration, "duration", 0, "end after this time; 0: never")
	f.BoolVar(&asJSON, "json", false, "print the summary as JSON")
	_ = cmd.MarkFlagRequired("listen")
	return cmd
}

// sinkProgress is how often the sink shows its counters.
const sinkProgress = 200 * time.Millisecond

func runSink(cmd *cobra.Command, o loadtest.SinkOptions, duration time.Duration, asJSON bool) error {
	defer loadtest.OneCore()()
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, duration)
		defer cancel()
	}
	s, err := loadtest.StartSink(o)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "listening on %s\n", s.Addr())
	p := console.NewProgress(cmd.ErrOrStderr(), o.Messages, duration)
	tick := time.NewTicker(sinkProgress)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-ctx.Done():
			open = false
		case <-s.Done():
			open = false
		case <-tick.C:
			r := s.Result()
			p.Show(r.Unique, fmt.Sprintf("%d binds, %d accepted, %d doubled", r.Binds, r.Accepted, r.Doubled))
		}
	}
	p.End()
	if err := s.Close(); err != nil {
		return fmt.Errorf("cannot close sink: %w", err)
	}
	r := s.Result()
	if err := printSummary(cmd.OutOrStdout(), asJSON, r, sinkRows(r)); err != nil {
		return err
	}
	return console.ProblemsError(r.Problems())
}

func sinkRows(r *loadtest.SinkResult) []summaryRow {
	return []summaryRow{
		countRow("submits", r.Submits),
		countRow("accepted", r.Accepted),
		countRow("unique", r.Unique),
		countRow("doubled", r.Doubled),
		countRow("missing", r.Missing),
		countRow("throttled", r.Throttled),
		countRow("refused", r.Refused),
		countRow("dropped", r.Dropped),
		countRow("unbinds", r.Unbinds),
		countRow("twice", r.Twice),
		countRow("late", r.Late),
		countRow("receipts", r.Receipts),
		countRow("binds", r.Binds),
		countRow("binds closed", r.BindsClosed),
		{"seconds", fmt.Sprintf("%.3f", r.Seconds)},
		{"messages/s", fmt.Sprintf("%.0f", r.MessagesPerSecond)},
	}
}
