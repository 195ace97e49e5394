// Package webdemo is the clients of pmg demo that speak HTTP: they send a load, one of them sends a message as curl
// does, and their webhook is called with its end.
//
// # Start reading
//
// webdemo.go (Start, Send, Tell).
package webdemo

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

	"pmg/internal/httpcall"
	"pmg/loadtest"
	"pmg/loadtest/httpload"
	"pmg/loadtest/httpsink"
	"pmg/protocols/httpsms"
)

// message is what Send sends.
const message = `{"from": "Shop", "to": "+46700000002", "text": "Hello, world"}`

// Clients are the clients of an account, and their server.
type Clients struct {
	key    string
	server *httpsink.Sink
	told   chan httpsink.Event // what became of the message

	url, status, answer string // of the message
	event               httpsink.Event
}

// Start starts the server.
func Start() (*Clients, error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	c := &Clients{key: "whsec_" + base64.StdEncoding.EncodeToString(secret), told: make(chan httpsink.Event, 1)}
	o := httpsink.Options{WebhookKey: c.key, Told: c.hear}
	o.Listen = "127.0.0.1:0"
	var err error
	c.server, err = httpsink.Start(o)
	return c, err
}

// hear is called with each event.
func (c *Clients) hear(e httpsink.Event) error {
	select {
	case c.told <- e:
	default: // one is enough
	}
	return nil
}

// Close ends the server.
func (c *Clients) Close() error { return c.server.Close() }

// Account returns the options of the account that belong to the server, as the configuration has them.
func (c *Clients) Account() string {
	return fmt.Sprintf(`, webhook: "http://%s/webhook", webhook_key: %s`, c.server.Addr(), c.key)
}

// pause is how long a message waits that did not fit into a queue.
const pause = 10 * time.Millisecond

// Load sends messages as lines of streams.
func (c *Clients) Load(ctx context.Context, o loadtest.LoadOptions) (*loadtest.LoadResult, error) {
	o.Retry = pause
	return httpload.Load(ctx, httpload.Options{LoadOptions: o, Way: httpload.Stream})
}

// Send sends a message to a gateway, and returns when the server was called with what became of it.
func (c *Clients) Send(ctx context.Context, address, name, password string) error {
	c.url = "http://" + address + "/v1/messages"
	sender := httpcall.New(httpcall.Options{})
	defer sender.Close() // a connection that waits would hold up the end of the gateway
	answer := sender.Send(ctx, &httpsms.Call{
		Method: http.MethodPost, URL: c.url, Body: []byte(message), Header: [][2]string{
			{"Content-Type", "application/json"},
			{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))},
		},
	})
	if answer.Status == 0 {
		return fmt.Errorf("cannot send a message: the gateway %s", answer.Err)
	}
	if c.status, c.answer = answer.Line, strings.TrimSpace(string(answer.Body)); answer.Status != http.StatusAccepted {
		return fmt.Errorf("cannot send a message: %s %s", c.status, c.answer)
	}
	select {
	case c.event = <-c.told:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("cannot hear what became of the message: %w", ctx.Err())
	}
}

// Tell prints how the message was sent, the SMSC's lines that lines prints, and the webhook's request.
func (c *Clients) Tell(out io.Writer, lines func() error) error {
	fmt.Fprintf(out, "A client sends a message, and is answered when it is on disk:\n\n")
	fmt.Fprintf(
		out, "  $ curl -u load:secret %s -H 'Content-Type: application/json' \\\n      -d '%s'\n  %s\n  %s\n", c.url,
		message, c.status, c.answer,
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
