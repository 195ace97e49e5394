package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pmg/internal/console"
	"pmg/loadtest"
	"pmg/loadtest/httpsink"
	"pmg/loadtest/progress"
)

const sinkHelp = `Accepts any number of binds and answers submits, until it is interrupted,
--duration is over or --messages different messages have arrived. It identifies
messages by the number at the start of their text, which pmgload load writes.

It can also simulate a misbehaving SMSC, with the flags that end in -every, -to and
-text. "Every nth" counts the submits of all connections together; -to takes the first
digits of a destination. With --unbind-every it answers the submits that it has
accepted after its unbind, as SMSCs do that are stopped for maintenance.

With --receipts it sends a delivery receipt for each message that asked for one, over a
session of the same client. Receipts wait while none can receive them. They are sent
again if the session ends before they are answered, or if they are refused for the moment.

With --mo or --mo-count it sends mobile-originated messages over all sessions that can
receive. Each has a number in its text, by which pmgload load --mo finds missing and doubled
ones.

With --protocol ucp receipts are operations 53, which name a message by its recipient and
the time in the answer, and mobile-originated messages are operations 52.

With --protocol http it is an SMSC that is called as the gateway's own API is (POST /v1/messages:
preset pmg), and as Kannel's smsbox is (/cgi-bin/sendsms: preset kannel), and calls the URLs of messages
with their receipts. A message whose client_reference comes again with deduplicate is answered as the first.
POST of any other path is a webhook: it counts events by webhook-id, and checks their signature with
--webhook-key. GET /messages and GET /events show the last thousand. Faults of every nth request
meet webhooks as well, which count for themselves; flags that need sessions are refused.

With --orders it obeys orders in the texts of messages, for example of pmgload load --text.
They are JSON, or the same without quotes and outer braces:
  {"submit": {"status": 88, "delay": "2s"}}             refuse, after two seconds
  {"submit": {"answer": false}}                         do not answer
  {"receipt": {"state": "UNDELIV", "err": "045"}}       what the receipt says
  {"receipt": {"delay": "5s"}}, {"receipt": {"send": false}}
  submit:{status:0x58,timeout:2}, receipt:{status:expired,timeout:5}
With --protocol http the status is one of HTTP.

The exit status is 1 when messages are missing, doubled, malformed or changed, or when receipts
or mobile-originated messages are refused or not delivered. With --messages the numbers
up to that one are expected, without it the gaps between the numbers count as missing.

With --json the summary is one object: submits, accepted, unique, doubled,
missing, unnumbered, changed (other texts), throttled, refused, dropped, unbinds, twice, late, malformed,
binds, binds_refused, binds_closed, receipts, receipts_answered, receipts_refused, mo,
mo_answered, mo_refused, redelivered (receipts and messages sent again), unexpected,
seconds, messages_per_second. With --protocol http it has neither binds nor mo, and has repeated (answered as
the first), calls (of webhooks), calls_refused, events, events_again, event_types and forged.`

func newSinkCommand() *cobra.Command {
	var o httpsink.Options
	var receipts receiptFlags
	var content loadtest.Content
	var coding string
	var checkText bool
	var duration time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sink --listen HOST:PORT",
		Short: "Simulate an SMSC that accepts messages and finds missing and doubled ones",
		Long:  sinkHelp,
		Example: `  pmgload sink --listen 127.0.0.1:2776
  pmgload sink --listen 127.0.0.1:0 --messages 400000 --json
  pmgload sink --listen 127.0.0.1:2776 --receipts --receipt-delay 10ms-2s --receipt-fail 5%
  pmgload sink --listen 127.0.0.1:2776 --receipts --id-form hex --receipt-id-form decimal --receipt-first
  pmgload sink --listen 127.0.0.1:2776 --mo 100 --mo-to 1001,1002
  pmgload sink --listen 127.0.0.1:2776 --receipts --orders
  pmgload sink --listen 127.0.0.1:3700 --protocol ucp --receipts
  pmgload sink --listen 127.0.0.1:8090 --protocol http --receipts --late-every 100 --late 30s
  pmgload sink --listen 127.0.0.1:2776 --check-text --coding ucs2 --parts 3 --size 130
  pmgload sink --listen 127.0.0.1:2776 --receipts --delay 20ms --throttle-every 1000
  pmgload sink --listen 127.0.0.1:2776 --unbind-every 500 --full-to 4670000001
  pmgload sink --listen 127.0.0.1:2776 --late-every 10 --late 90s --close-bind-every 1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := receipts.set(&o.Receipt); err != nil {
				return err
			}
			if checkText {
				var err error
				if content.Coding, err = loadtest.ParseCoding(coding); err != nil {
					return err
				}
				o.Content = &content
			}
			return runSink(cmd, o, duration, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "", "`host:port` to listen on; with port 0 a free one is taken and printed")
	f.StringVar(&o.Protocol, "protocol", "smpp", loadtest.Protocols()+", or http")
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
	receipts.add(cmd, &o.Receipt)
	f.BoolVar(
		&checkText, "check-text", false,
		"find texts that are not those of a pmgload load with the same --size, --coding, --parts and --text",
	)
	addContentFlags(cmd, &content, &coding)
	f.BoolVar(&o.Orders, "orders", false, "obey the orders in the texts of messages")
	f.IntVar(&o.Window, "window", loadtest.DefaultWindow, "receipts and messages of the sink unanswered on each session")
	f.Float64Var(&o.MO.Rate, "mo", 0, "send mobile-originated messages, this many a second")
	f.Int64Var(&o.MO.Count, "mo-count", 0, "how many to send, without --mo as fast as they are answered; 0: no end")
	f.StringVar(&o.MO.From, "mo-from", "", "their source address")
	f.StringSliceVar(&o.MO.To, "mo-to", nil, "their destination `addresses`, which take turns")
	f.StringVar(&o.WebhookKey, "webhook-key", "", "with --protocol http: refuse webhooks that are not signed with this `key` (whsec_ or whpk_)")
	f.StringVar(&o.SystemID, "system-id", "", "refuse binds with another system_id")
	f.StringVar(&o.Password, "password", "", "refuse binds with another password")
	f.Int64Var(
		&o.Messages, "messages", 0,
		"end when this many different messages have arrived, and receipts and --mo-count messages are answered; 0: never",
	)
	f.DurationVar(&duration, "duration", 0, "end after this time; 0: never")
	f.BoolVar(&asJSON, "json", false, "print the summary as JSON")
	_ = cmd.MarkFlagRequired("listen")
	return cmd
}

// A sink is what loadtest.Sink and httpsink.Sink have in common.
type sink interface {
	Addr() string
	Done() <-chan struct{}
	Close() error
}

// endOf returns a channel that is closed when the numbers of --messages and --mo-count are reached.
// It is nil if the sink never ends by itself: --mo-count alone ends nothing.
func endOf(s sink, messages int64) <-chan struct{} {
	if messages == 0 {
		return nil
	}
	return s.Done()
}

// A sinkRun is a sink that runs, whatever it speaks.
type sinkRun struct {
	sink     sink
	result   func() interface{ Problems() []string }
	progress func() (done int64, text string)
}

// startSink starts a sink of sessions.
func startSink(o *loadtest.SinkOptions) (run sinkRun, err error) {
	s, err := loadtest.StartSink(*o)
	if err != nil {
		return run, err
	}
	return sinkRun{s, func() interface{ Problems() []string } { return s.Result() }, func() (int64, string) {
		r := s.Result()
		text := fmt.Sprintf("%d binds, %d accepted, %d doubled", r.Binds, r.Accepted, r.Doubled)
		if o.Receipts {
			text += fmt.Sprintf(", %d of %d receipts answered", r.ReceiptsAnswered, r.Receipts)
		}
		if r.MO > 0 {
			text += fmt.Sprintf(", %d of %d mobile-originated messages answered", r.MOAnswered, r.MO)
		}
		return r.Unique, text
	}}, nil
}

// startHTTPSink starts a sink that is called by HTTP.
func startHTTPSink(o *httpsink.Options) (run sinkRun, err error) {
	s, err := httpsink.Start(*o)
	if err != nil {
		return run, err
	}
	return sinkRun{s, func() interface{ Problems() []string } { return s.Result() }, func() (int64, string) {
		r := s.Result()
		text := fmt.Sprintf("%d accepted, %d doubled", r.Accepted, r.Doubled)
		if o.Receipts {
			text += fmt.Sprintf(", %d of %d receipts answered", r.ReceiptsAnswered, r.Receipts)
		}
		if r.Calls > 0 {
			text += fmt.Sprintf(", %d events in %d calls", r.Events, r.Calls)
		}
		return r.Unique, text
	}}, nil
}

// checkSinkFlags returns an error if a flag was given that has no meaning with the protocol.
func checkSinkFlags(cmd *cobra.Command, protocol string) error {
	if protocol != "http" {
		return refuseFlags(cmd, "", "webhook-key")
	}
	return refuseFlags(cmd, "http", "unbind-every", "twice-every", "close-bind-every", "receipt-format", "receipt-session",
		"check-text", "size", "coding", "parts", "text", "mo", "mo-count", "mo-from", "mo-to")
}

// sinkProgress is how often the sink shows its counters.
const sinkProgress = 200 * time.Millisecond

func runSink(cmd *cobra.Command, o httpsink.Options, duration time.Duration, asJSON bool) error {
	defer loadtest.OneCore()()
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, duration)
		defer cancel()
	}
	if err := checkSinkFlags(cmd, o.Protocol); err != nil {
		return err
	}
	var s sinkRun
	var err error
	if o.Protocol == "http" {
		s, err = startHTTPSink(&o)
	} else {
		s, err = startSink(&o.SinkOptions)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "listening on %s\n", s.sink.Addr())
	p := progress.New(cmd.ErrOrStderr(), o.Messages, duration)
	tick := time.NewTicker(sinkProgress)
	defer tick.Stop()
	done := endOf(s.sink, o.Messages)
	for open := true; open; {
		select {
		case <-ctx.Done():
			open = false
		case <-done:
			open = false
		case <-tick.C:
			p.Show(s.progress())
		}
	}
	p.End()
	if err := s.sink.Close(); err != nil {
		return fmt.Errorf("cannot close sink: %w", err)
	}
	r := s.result()
	if err := printSummary(cmd.OutOrStdout(), asJSON, r); err != nil {
		return err
	}
	return console.ProblemsError(r.Problems())
}
