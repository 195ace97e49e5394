// Package dev runs a gateway for developers of clients: pmg dev.
//
// # Start reading
//
// Command, then options.configuration.
package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pmg/internal/console"
	"pmg/sandbox"
	"pmg/sandbox/phone"
	"pmg/sms"
)

// A Gateway is a running gateway.
type Gateway interface {
	// Address returns the address on which a connector listens; for "", the address of the operators' pages.
	Address(connector string) string
	Sandbox(connector string) *sandbox.SMSC
	Stop(ctx context.Context) error
	Failed() <-chan error
}

// A Start starts a gateway with a configuration. log is the writer for its log.
type Start func(yaml string, log io.Writer) (Gateway, error)

// The accounts of clients, their password, and the key of the webhook.
const (
	name       = "dev"  // by HTTP
	smppName   = "smpp" // by SMPP
	poorName   = "poor" // by HTTP, with little money
	password   = "secret"
	webhookKey = "whsec_cG1nIGRldjogdGhpcyBpcyBub3QgYSBzZWNyZXQhISE="
)

// stopTimeout is the time limit for ending the gateway.
const stopTimeout = 5 * time.Second

// options are the flags of pmg dev.
type options struct {
	http, smpp, pages, phones int
	webhook                   string
	delay                     time.Duration
}

// Command returns pmg dev.
func Command(start Start) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Try the HTTP API and SMPP without an SMSC: a gateway, test numbers and phones",
		Long: `Runs a gateway for developers of clients, only on loopback: the HTTP API, SMPP, the
operators' pages, and a page with the texts that mobiles would show, with a field for replies.
No message leaves: the last digit of a number decides the outcome of a message (docs/http.md,
"Try it without an SMSC"). It needs no configuration, and leaves no files behind.

Texts of mobiles go to the client that has sent to them, by HTTP or by SMPP, or to the one
that the page of phones names. STOP puts a number on a list, so that the next message to it is
refused, and START removes it. The account poor has money for two messages; the third is
refused (402). On the page of phones the SMSC can also be made to send receipts late, twice or
out of order, to throttle, or to be closed.

With --webhook a URL is called with events, which may be on this machine; without it, clients
fetch events with GET /v1/events.

An interrupt ends it.`,
		Example: "  pmg dev\n  pmg dev --webhook http://127.0.0.1:3000/sms",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd, start) },
	}
	f := cmd.Flags()
	f.IntVar(&o.http, "http", 8080, "port of the HTTP API; 0: any")
	f.IntVar(&o.smpp, "smpp", 2775, "port of SMPP; 0: any")
	f.IntVar(&o.pages, "pages", 2780, "port of the operators' pages; 0: any")
	f.IntVar(&o.phones, "phones", 8081, "port of the page of phones; 0: any")
	f.StringVar(&o.webhook, "webhook", "", "the URL that is called with events")
	f.DurationVar(&o.delay, "receipt-delay", 2*time.Second, "time between a message and its receipt")
	return cmd
}

// configuration returns the configuration of the gateway, whose files are in dir.
func (o *options) configuration(dir string) string {
	events := "pull: true"
	if o.webhook != "" {
		events = fmt.Sprintf("webhook: %q, webhook_key: %q", o.webhook, webhookKey)
	}
	return strings.NewReplacer(
		"STORE", quoted(dir, "store"), "PDULOG", quoted(dir, "pdulog"),
		"PRICES", quoted(dir, pricesFile), "OPTOUTS", quoted(dir, optOutsFile),
		"PAGES", strconv.Itoa(o.pages), "SMPP", strconv.Itoa(o.smpp), "HTTP", strconv.Itoa(o.http), "DELAY", o.delay.String(),
		"EVENTS", events, "PASSWORD", password,
	).Replace(`
log: {level: warn}
store: {dir: STORE, ballast: 0, min_free: 1MiB}
pdulog: {dir: PDULOG}
admin: {address: "127.0.0.1:PAGES"}
prices: [{name: standard, currency: EUR, file: PRICES}]
lists: [{name: optouts, file: OPTOUTS, opt_out_from: [sandbox-dev, sandbox-smpp], stop_reply: Goodbye., start_reply: Welcome back.}]
accounts:
  - {system_id: dev, password: PASSWORD, block: [optouts], connectors: [api], bind: [transmitter], prices: standard, show_price: true, EVENTS}
  - {system_id: poor, password: PASSWORD, block: [optouts], connectors: [api], bind: [transmitter], prices: standard, show_price: true, balance: {mode: postpaid, limit: "0.10"}}
  - {system_id: smpp, password: PASSWORD, block: [optouts], connectors: [smpp]}
connectors:
  - {name: smpp, direction: in, address: "127.0.0.1:SMPP"}
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:HTTP"}
  - {name: sandbox-dev, direction: out, protocol: test, receipt_delay: DELAY}
  - {name: sandbox-smpp, direction: out, protocol: test, receipt_delay: DELAY}
routes:
  - {from: sandbox-dev, to: {account: dev}}
  - {from: sandbox-smpp, to: {account: smpp}}
  - {account: smpp, to: sandbox-smpp}
  - {to: sandbox-dev}
`)
}

// quoted returns the path of a file as a value of the configuration.
func quoted(dir, file string) string { return strconv.Quote(filepath.Join(dir, file)) }

// The files that the configuration names.
const (
	pricesFile  = "prices.csv"
	optOutsFile = "optouts.txt"
)

// prepare writes the files that the configuration names: each message costs the same, and nobody has opted out.
func prepare(dir string) error {
	return errors.Join(
		os.WriteFile(filepath.Join(dir, pricesFile), []byte("for,price\n*,0.04\n"), 0o600),
		os.WriteFile(filepath.Join(dir, optOutsFile), []byte("# numbers that have sent STOP\n"), 0o600),
	)
}

// mobiles are the SMSCs behind the phones, by the accounts of their clients.
type mobiles map[string]*sandbox.SMSC

// Clients implements phone.Gateway.
func (mobiles) Clients() []string { return []string{name, smppName} }

// Send implements phone.Gateway.
func (m mobiles) Send(client, from, to, text string) string {
	if r := m[client].FromMobile(from, to, text); r.Code != sms.OK {
		return "refused by the gateway: " + r.Code.String()
	}
	return ""
}

// Script implements phone.Gateway.
func (m mobiles) Script() sandbox.Script { return m[name].Script() }

// Play implements phone.Gateway.
func (m mobiles) Play(s sandbox.Script) {
	for _, one := range m {
		one.Play(s)
	}
}

// run runs the gateway until it is interrupted.
func (o *options) run(cmd *cobra.Command, start Start) (err error) {
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	dir, err := os.MkdirTemp("", "pmg-dev-")
	if err != nil {
		return fmt.Errorf("cannot keep messages: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := prepare(dir); err != nil {
		return fmt.Errorf("cannot write files: %w", err)
	}
	listening, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", o.phones))
	if err != nil {
		return fmt.Errorf("cannot show phones: %w; --phones names another port", err)
	}
	defer listening.Close()
	g, err := start(o.configuration(dir), cmd.ErrOrStderr())
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("%w; --http, --smpp and --pages name other ports", err)
		}
		return err
	}
	defer func() {
		ctx, done := context.WithTimeout(context.Background(), stopTimeout)
		defer done()
		if serr := g.Stop(ctx); err == nil {
			err = serr
		}
	}()
	phones, smscs := phone.New(), mobiles{}
	for _, client := range smscs.Clients() {
		smscs[client] = g.Sandbox("sandbox-" + client)
		smscs[client].Watch(func(t sandbox.Text) { phones.Show(client, t) })
	}
	server := &http.Server{ReadHeaderTimeout: stopTimeout, Handler: phone.Handler(phones, smscs)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listening) }()
	defer server.Close()
	o.print(cmd.OutOrStdout(), g, listening.Addr().String(), dir)
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("cannot show phones: %w", err)
	case err := <-g.Failed():
		return fmt.Errorf("cannot go on: %w", err)
	}
}

// print writes how to use the gateway, whose files are in dir.
func (o *options) print(out io.Writer, g Gateway, phones, dir string) {
	events := fmt.Sprintf("webhook         %s    signed with %s", o.webhook, webhookKey)
	fetch := "" // the command that fetches events
	if o.webhook == "" {
		events = "events          fetched with GET /v1/events; --webhook URL has them called"
		fetch = "  curl -u dev:{password} 'http://{api}/v1/events?wait=10s'\n"
	}
	fmt.Fprint(out, strings.NewReplacer(
		"{events}", events, "{api}", g.Address("api"), "{smpp}", g.Address("smpp"), "{phones}", phones,
		"{pages}", g.Address(""), "{password}", password, "{dir}", filepath.Join(dir, "pdulog"),
	).Replace(strings.Replace(guide, "{fetch}", fetch, 1)))
}

// guide is what the command prints.
const guide = `A gateway for tries. No message leaves this machine; Ctrl-C ends it.

  HTTP API        http://{api}/v1/docs    user dev, password {password}
  SMPP            {smpp}              system_id smpp, password {password}
  phones          http://{phones}/
  operators       http://{pages}/ui/
  {events}

Try a message, and what has become of it:

  curl -u dev:{password} http://{api}/v1/messages -H 'Content-Type: application/json' \
    -d '{"from": "1234", "to": "+46700000001", "text": "Hello"}'
{fetch}  SMSC_PASSWORD={password} pmg probe {smpp} --system-id smpp --from 1234 --to 46700000001 --messages 1

Then a recipient who has sent STOP to 1234 on the page of phones; an account without money, at the third message (402);
and an SMSC that is late, repeats itself, throttles or is closed, on the page of phones:

  curl -u poor:{password} http://{api}/v1/messages -H 'Content-Type: application/json' \
    -d '{"from": "1234", "to": "+46700000001", "text": "Hello"}'

What the gateway does, and each PDU:

  pmg status --address {pages}
  pmg log -f --dir {dir}

Numbers that end with 2 are undelivered, with 3 expired, 4 refused, 5 throttled first, 6 without a receipt,
7 late, 8 answered by the mobile; others are delivered. Replies go to the client that has sent the message.
`
