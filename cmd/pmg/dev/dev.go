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

// The login of the client, and the key of its webhook.
const (
	name       = "dev"
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
	return fmt.Sprintf(`
log: {level: warn}
store: {dir: %q, ballast: 0, min_free: 1MiB}
pdulog: {dir: %q}
admin: {address: "127.0.0.1:%d"}
accounts:
  - {system_id: %s, password: %s, connectors: [api], bind: [transmitter], %s}
  - {system_id: smpp, password: %s, connectors: [smpp]}
connectors:
  - {name: smpp, direction: in, address: "127.0.0.1:%d"}
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:%d"}
  - {name: sandbox, direction: out, protocol: test, receipt_delay: %s}
routes:
  - {from: sandbox, to: {account: %s}}
  - {to: sandbox}
`, filepath.Join(dir, "store"), filepath.Join(dir, "pdulog"), o.pages, name, password, events, password, o.smpp, o.http, o.delay, name)
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
	phones, smsc := phone.New(), g.Sandbox("sandbox")
	smsc.Watch(phones.Show)
	server := &http.Server{ReadHeaderTimeout: stopTimeout, Handler: phone.Handler(phones, func(from, to, text string) string {
		if r := smsc.FromMobile(from, to, text); r.Code != sms.OK {
			return "refused by the gateway: " + r.Code.String()
		}
		return ""
	})}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listening) }()
	defer server.Close()
	o.print(cmd.OutOrStdout(), g, listening.Addr().String())
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("cannot show phones: %w", err)
	case err := <-g.Failed():
		return fmt.Errorf("cannot go on: %w", err)
	}
}

// print writes how to use the gateway.
func (o *options) print(out io.Writer, g Gateway, phones string) {
	api := g.Address("api")
	fmt.Fprintf(out, `A gateway for tries. No message leaves this machine; Ctrl-C ends it.

  HTTP API        http://%s/v1/docs    user %s, password %s
  SMPP            %s              system_id smpp, password %s
  phones          http://%s/
  operators       http://%s/ui/
`, api, name, password, g.Address("smpp"), password, phones, g.Address(""))
	if o.webhook != "" {
		fmt.Fprintf(out, "  webhook         %s    signed with %s\n", o.webhook, webhookKey)
	}
	fmt.Fprintf(out, `
  curl -u %s:%s http://%s/v1/messages -H 'Content-Type: application/json' \
    -d '{"from": "1234", "to": "+46700000001", "text": "Hello"}'
`, name, password, api)
	if o.webhook == "" {
		fmt.Fprintf(out, "  curl -u %s:%s 'http://%s/v1/events?wait=10s'\n", name, password, api)
	}
	fmt.Fprint(out, `
Numbers that end with 2 are undelivered, with 3 expired, 4 refused, 5 throttled first, 6 without a receipt,
7 late, 8 answered by the mobile; others are delivered. Replies are told to user dev.
`)
}
