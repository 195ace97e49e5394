package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pmg/internal/console"
	"pmg/loadtest"
	"pmg/loadtest/httpload"
	"pmg/loadtest/progress"
	"pmg/protocols"
)

const loadHelp = `Binds connections, keeps a window of submits unanswered on each, and reports how
many were answered, the throughput and the latency.

Without --rate each answer makes room for the next submit (closed loop). With
--rate the time of every submit is planned beforehand and latency is measured from
that time (open loop), so that a stall shows in every message that it delayed.

Each text begins with the message's number, "#000000000042 ", by which pmgload sink
finds missing and doubled messages. What follows depends on --coding and --size alone,
so that pmgload sink --check-text finds texts that have changed.

Throttled and queue-full answers are counted separately; --retry sends those messages
again. A lost connection is opened again only with --reconnect, which also sends again
what was not answered on it. Receipts and messages may then come twice, because an
answer may have been lost.

An interrupt stops the sending and prints the summary; a second one ends the program
immediately. pmgload load uses one core, enough for about a million messages a second,
unless GOMAXPROCS is set.

With --receipts each message asks for a delivery receipt, and pmgload load pairs receipts
with messages by message id, as any client does. It waits for the last receipts until
none has come for --timeout, and finds those that are missing or doubled, that another
account has received, or that have the id of one message and the text of another.

With --mo it also waits for that many mobile-originated messages, which pmgload sink --mo
sends, and finds missing and doubled ones. It then submits only if --messages says so.
With several accounts each has its own --mo-to, in the same order, and must receive only
messages to that address.

With --protocol http messages go to the gateway's own API, one request after the other on
each connection, or with --stream as lines of a stream. --receipts receives events on a port
of this machine, whose URL comes with each message: the account needs callbacks: public, and
127.0.0.0/8 in its callback_urls.

The exit status is 1 when something is unanswered, refused, missing, lost, doubled or
received by another account.

With --json the summary is one object: connections, window, messages, sent,
answered, accepted, throttled, refused, statuses (by name), resent, unanswered,
unexpected, receipts, receipts_missing, receipts_doubled, receipts_misrouted,
receipts_unknown, receipts_wrong, receipts_early (before the answer to their submit),
receipt_states (by name), mo, mo_missing, mo_doubled, mo_misrouted, unnumbered,
malformed, reconnects, sent_again, connections_lost, gave_up, seconds, messages_per_second,
receipts_per_second (from the first submit to the last receipt), and latency and
receipt_latency with p50_us, p90_us, p99_us, p999_us and max_us. Both are measured from
the submit.`

func newLoadCommand() *cobra.Command {
	o := loadtest.DefaultLoadOptions()
	var bind, coding string
	var accounts []string
	var asJSON, stream bool
	cmd := &cobra.Command{
		Use:   "load --to HOST:PORT {--messages M | --duration D | --mo N}",
		Short: "Send load to a gateway and measure its answers",
		Long:  loadHelp,
		Example: `  pmgload load --to 127.0.0.1:2775 --connections 64 --window 10 --messages 400000
  pmgload load --to 127.0.0.1:2775 --duration 1m --rate 2000 --json
  pmgload load --to 127.0.0.1:2775 --messages 1000 --receipts --retry 100ms
  pmgload load --to 127.0.0.1:2775 --messages 1000 --receipts --bind tx+rx
  pmgload load --to 127.0.0.1:2775 --connections 8 --messages 100000 --receipts --account acme:s3cret --account other:pw
  pmgload load --to 127.0.0.1:2775 --messages 3000 --coding ucs2 --parts 3 --size 130
  pmgload load --to 127.0.0.1:3700 --protocol ucp --messages 1000 --receipts
  pmgload load --to 127.0.0.1:8080 --protocol http --connections 16 --messages 100000
  pmgload load --to 127.0.0.1:8080 --protocol http --stream --connections 4 --window 1000 --messages 1000000
  pmgload load --to 127.0.0.1:2775 --mo 1000 --account acme:s3cret --mo-to 1001`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Bind, o.Separate, err = parseBind(bind); err != nil {
				return err
			}
			if o.Coding, err = loadtest.ParseCoding(coding); err != nil {
				return err
			}
			if o.Accounts, err = parseAccounts(accounts); err != nil {
				return err
			}
			return runLoad(cmd, o, stream, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.To, "to", "", "`host:port` of the gateway")
	f.StringVar(&o.Protocol, "protocol", "smpp", loadtest.Protocols()+", or http for the gateway's own API")
	f.BoolVar(
		&stream, "stream", false,
		"with --protocol http: each connection sends a stream of lines, of which --window are unanswered",
	)
	f.IntVar(&o.Connections, "connections", o.Connections, "how many connections to bind")
	f.IntVar(&o.Window, "window", o.Window, "submits unanswered on each connection")
	f.Int64Var(&o.Messages, "messages", 0, "how many messages to send; 0: until --duration is over")
	f.DurationVar(&o.Duration, "duration", 0, "how long to send; 0: until --messages are sent")
	f.Float64Var(&o.Rate, "rate", 0, "messages a second over all connections; 0: as fast as the answers arrive")
	f.Int64Var(&o.First, "first", 0, "number of the first message")
	addContentFlags(cmd, &o.Content, &coding)
	f.BoolVar(&o.Receipts, "receipts", false, "ask for delivery receipts and wait for them")
	f.DurationVar(&o.Retry, "retry", 0, "send throttled messages again after this pause; 0: never")
	f.DurationVar(&o.Reconnect, "reconnect", 0, "open lost connections again after this pause; 0: never")
	f.StringVar(&o.SystemID, "system-id", o.SystemID, "system_id to bind with")
	f.StringVar(&o.Password, "password", o.Password, "password to bind with")
	f.StringArrayVar(&accounts, "account", nil, "`system_id:password` to bind with; given several times, connections take turns")
	f.StringVar(
		&bind, "bind", o.Bind.String(),
		"transmitter, receiver, transceiver, or tx+rx: each connection is a transmitter and a receiver",
	)
	f.StringVar(&o.Source, "source", o.Source, "source address")
	f.StringVar(&o.Destination, "destination", o.Destination, "`prefix` of the destinations; seven digits of the number follow")
	f.Int64Var(&o.MO, "mo", 0, "how many mobile-originated messages to wait for")
	f.StringArrayVar(&o.MOTo, "mo-to", nil, "destination `address` of those; given once for each account")
	f.DurationVar(&o.Timeout, "timeout", o.Timeout, "give up when nothing was received for this long")
	f.BoolVar(&asJSON, "json", false, "print the summary as JSON")
	_ = cmd.MarkFlagRequired("to")
	cmd.MarkFlagsOneRequired("messages", "duration", "mo")
	return cmd
}

// addContentFlags adds the flags that load and sink share, because the sink checks what the
// load has sent.
func addContentFlags(cmd *cobra.Command, c *loadtest.Content, coding *string) {
	f := cmd.Flags()
	f.IntVar(&c.Size, "size", loadtest.DefaultLoadOptions().Size, "octets of text, 14 to 254")
	f.StringVar(
		coding, "coding", "plain",
		"plain (GSM 7-bit, the letter x), gsm (every character), ucs2 (with emoji) or binary (every octet)",
	)
	f.IntVar(&c.Parts, "parts", 1, "how many messages in a row are the parts of a long one, with a user data header")
	f.StringVar(&c.Text, "text", "", "text behind the number, instead of only the letter x")
}

// parseBind returns the bind type with that name, or reports that each connection is a
// transmitter and a receiver.
func parseBind(name string) (t protocols.BindType, separate bool, err error) {
	if name == "tx+rx" {
		return protocols.Transmitter, true, nil
	}
	if t, ok := protocols.ParseBindType(name); ok {
		return t, false, nil
	}
	return 0, false, fmt.Errorf("cannot bind as %q: use transmitter, receiver, transceiver or tx+rx", name)
}

func parseAccounts(all []string) (accounts []loadtest.Account, err error) {
	for _, a := range all {
		systemID, password, ok := strings.Cut(a, ":")
		if !ok {
			return nil, fmt.Errorf("cannot bind as %q: use system_id:password", a)
		}
		accounts = append(accounts, loadtest.Account{SystemID: systemID, Password: password})
	}
	return accounts, nil
}

// checkLoadFlags returns an error if a flag was given that has no meaning with the protocol.
func checkLoadFlags(cmd *cobra.Command, protocol string, stream bool) error {
	switch {
	case protocol != "http":
		return refuseFlags(cmd, "", "stream")
	case !stream && cmd.Flags().Changed("window"):
		return errors.New("--window needs --stream with --protocol http: a connection has one request unanswered")
	}
	return refuseFlags(cmd, "http", "bind", "mo", "mo-to", "parts", "coding")
}

// refuseFlags returns an error if one of the flags was given. They have no meaning with a protocol; if it is empty, they have
// one with http alone.
func refuseFlags(cmd *cobra.Command, protocol string, flags ...string) error {
	for _, name := range flags {
		switch {
		case !cmd.Flags().Changed(name):
		case protocol == "":
			return fmt.Errorf("--%s needs --protocol http", name)
		default:
			return fmt.Errorf("--%s has no meaning with --protocol %s", name, protocol)
		}
	}
	return nil
}

func runLoad(cmd *cobra.Command, o loadtest.LoadOptions, stream, asJSON bool) error {
	if err := checkLoadFlags(cmd, o.Protocol, stream); err != nil {
		return err
	}
	defer loadtest.OneCore()()
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	p := progress.New(cmd.ErrOrStderr(), o.Messages, o.Duration)
	o.Progress = func(c loadtest.Counts) {
		text := fmt.Sprintf("%d answered, %d throttled, %d refused", c.Answered, c.Throttled, c.Refused)
		if o.Receipts {
			text += fmt.Sprintf(", %d receipts", c.Receipts)
		}
		if o.MO > 0 {
			text += fmt.Sprintf(", %d mobile-originated messages", c.MO)
		}
		p.Show(c.Accepted, text)
	}
	load := func() (*loadtest.LoadResult, error) { return loadtest.Load(ctx, o) }
	if o.Protocol == "http" {
		byHTTP := httpload.Options{LoadOptions: o}
		if stream {
			byHTTP.Way = httpload.Stream
		}
		load = func() (*loadtest.LoadResult, error) { return httpload.Load(ctx, byHTTP) }
	}
	r, err := load()
	p.End()
	if err != nil {
		return err
	}
	if err := printSummary(cmd.OutOrStdout(), asJSON, r); err != nil {
		return err
	}
	return console.ProblemsError(r.Problems())
}

// printSummary prints a result as JSON, or else a row for each of its fields, by the name in JSON.
// Zeros of counters with longer names are left out.
func printSummary(w io.Writer, asJSON bool, result any) error {
	if asJSON {
		return json.NewEncoder(w).Encode(result)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	v := reflect.ValueOf(result).Elem()
	for i := range v.NumField() {
		name := strings.ReplaceAll(strings.ReplaceAll(v.Type().Field(i).Tag.Get("json"), "_per_second", "/s"), "_", " ")
		if name == "" || v.Field(i).IsZero() && strings.ContainsAny(name, " /") {
			continue
		}
		switch x := v.Field(i).Interface().(type) {
		case map[string]int64:
			for _, key := range slices.Sorted(maps.Keys(x)) {
				fmt.Fprintf(table, "  %s\t%d\n", key, x[key])
			}
		case loadtest.Latency:
			fmt.Fprintf(
				table, "%s\tp50 %.0f us, p90 %.0f us, p99 %.0f us, p99.9 %.0f us, max %.0f us\n", name, x.P50, x.P90, x.P99,
				x.P999, x.Max,
			)
		case float64:
			decimals := 0
			if name == "seconds" {
				decimals = 3
			}
			fmt.Fprintf(table, "%s\t%.*f\n", name, decimals, x)
		default:
			fmt.Fprintf(table, "%s\t%v\n", name, x)
		}
	}
	return table.Flush()
}
