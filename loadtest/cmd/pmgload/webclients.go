package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"pmg/loadtest"
	"pmg/loadtest/httpload"
	"pmg/loadtest/httpsink"
)

// webMessage is what send sends.
const webMessage = `{"from": "Shop", "to": "+46700000002", "text": "Hello, world"}`

// webClients are the clients of an account that speak HTTP: they send a load, one of them sends a message as curl does, and
// their server is called with its end.
type webClients struct {
	key    string
	server *httpsink.Sink
	ended  chan httpsink.Event // what became of the message

	url, status, answer string // of the message
	event               httpsink.Event
}

// startWebClients starts the server.
func startWebClients() (*webClients, error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	c := &webClients{key: "whsec_" + base64.StdEncoding.EncodeToString(secret), ended: make(chan httpsink.Event, 1)}
	o := httpsink.Options{WebhookKey: c.key, Told: c.hear}
	o.Listen = "127.0.0.1:0"
	var err error
	c.server, err = httpsink.Start(o)
	return c, err
}

// hear is called with each event.
func (c *webClients) hear(e httpsink.Event) error {
	select {
	case c.ended <- e:
	default: // one is enough
	}
	return nil
}

// close ends the server.
func (c *webClients) close() error { return c.server.Close() }

// account returns the options of the account that belong to the server, as the configuration has them.
func (c *webClients) account() string {
	return fmt.Sprintf(`, webhook: "http://%s/webhook", webhook_key: %s`, c.server.Addr(), c.key)
}

// pause is how long a message waits that did not fit into a queue.
const pause = 10 * time.Millisecond

// load sends messages as lines of streams.
func (c *webClients) load(ctx context.Context, o loadtest.LoadOptions) (*loadtest.LoadResult, error) {
	o.Retry = pause
	return httpload.Load(ctx, httpload.Options{LoadOptions: o, Way: httpload.Stream})
}

// send sends a message to a gateway, and returns when the server was called with what became of it.
func (c *webClients) send(ctx context.Context, address, name, password string) error {
	c.url = "http://" + address + "/v1/messages"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(webMessage))
	if err != nil {
		return fmt.Errorf("cannot send a message: %w", err)
	}
	r.Close = true // a connection that waits would hold up the end of the gateway
	r.SetBasicAuth(name, password)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("cannot send a message: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("cannot read the answer to a message: %w", err)
	}
	if c.status, c.answer = answer.Status, strings.TrimSpace(string(body)); answer.StatusCode != http.StatusAccepted {
		return fmt.Errorf("cannot send a message: %s %s", c.status, c.answer)
	}
	select {
	case c.event = <-c.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("cannot hear what became of the message: %w", ctx.Err())
	}
}

// print prints how the message was sent, the SMSC's lines that lines prints, and the webhook's request.
func (c *webClients) print(out io.Writer, lines func() error) error {
	fmt.Fprintf(out, "A client sends a message, and is answered when it is on disk:\n\n")
	fmt.Fprintf(
		out, "  $ curl -u load:secret %s -H 'Content-Type: application/json' \\\n      -d '%s'\n  %s\n  %s\n", c.url,
		webMessage, c.status, c.answer,
	)
	fmt.Fprintf(out, "\nThe SMSC has it, and reports that it was delivered:\n\n")
	if err := lines(); err != nil {
		return err
	}
	id := c.event.ID
	c.event.ID = "" // it is in a header
	event, err := json.Marshal(c.event)
	if err != nil {
		return fmt.Errorf("cannot show the call of the webhook: %w", err)
	}
	fmt.Fprintf(out, "\nThe client's server is called, and knows the gateway by its signature:\n\n")
	_, err = fmt.Fprintf(out, "  POST http://%s/webhook\n  webhook-id: %s\n  %s\n", c.server.Addr(), id, event)
	return err
}
