package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	mostWaiting  = 4096 // traces; further ones are dropped
	mostTogether = 256  // traces in a request
	gather       = time.Second
	callTimeout  = 10 * time.Second
	closeWait    = 2 * time.Second
	mostAnswer   = 64 << 10 // octets of an answer that are read
)

// Options are the options of an Exporter.
type Options struct {
	URL           string // of the collector, without /v1/traces
	Authorization string // the header; empty: there is none
	Service       string
	Failed        func(error) // is called for each request that fails, on the exporter's goroutine; nil: nothing is
}

// An Exporter sends traces from one goroutine. What the collector does not take is dropped and counted: traces are
// not worth the gateway's memory.
type Exporter struct {
	Sent, Dropped, Errors atomic.Int64 // spans, spans, requests

	o      Options
	client http.Client
	queue  chan []Span
	cancel context.CancelFunc
	ended  chan struct{}
	once   sync.Once
	quit   chan struct{}
}

// Start begins to send.
func Start(o Options) *Exporter {
	return start(o, &http.Transport{MaxIdleConns: 1, IdleConnTimeout: time.Minute})
}

func start(o Options, t http.RoundTripper) *Exporter {
	ctx, cancel := context.WithCancel(context.Background())
	e := &Exporter{
		o: o, queue: make(chan []Span, mostWaiting), cancel: cancel, ended: make(chan struct{}), quit: make(chan struct{}),
	}
	e.client = http.Client{
		Timeout: callTimeout, Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	go e.run(ctx)
	return e
}

// Add queues the spans of a trace to be sent. It does not wait. The spans are the exporter's from
// now on.
func (e *Exporter) Add(trace []Span) {
	select {
	case e.queue <- trace:
	default:
		e.Dropped.Add(int64(len(trace)))
	}
}

// Close sends what waits, for a short time, and ends the exporter. No Add may follow.
func (e *Exporter) Close() {
	e.once.Do(func() { close(e.quit) })
	late := time.AfterFunc(closeWait, e.cancel)
	<-e.ended
	late.Stop()
	e.cancel()
	e.client.CloseIdleConnections()
}

func (e *Exporter) run(ctx context.Context) {
	defer close(e.ended)
	tick := time.NewTicker(gather)
	defer tick.Stop()
	for closing := false; !closing; {
		select {
		case <-tick.C:
		case <-e.quit:
			closing = true
		}
		for spans := e.take(); len(spans) > 0; spans = e.take() {
			e.send(ctx, spans)
		}
	}
}

func (e *Exporter) take() (spans []Span) {
	for range mostTogether {
		select {
		case trace := <-e.queue:
			spans = append(spans, trace...)
		default:
			return spans
		}
	}
	return spans
}

func (e *Exporter) send(ctx context.Context, spans []Span) {
	if err := e.call(ctx, spans); err != nil {
		e.Dropped.Add(int64(len(spans)))
		e.Errors.Add(1)
		if e.o.Failed != nil {
			e.o.Failed(err)
		}
		return
	}
	e.Sent.Add(int64(len(spans)))
}

func (e *Exporter) call(ctx context.Context, spans []Span) error {
	body, err := encode(e.o.Service, spans)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(
		ctx, http.MethodPost, strings.TrimSuffix(e.o.URL, "/")+"/v1/traces", bytes.NewReader(body),
	)
	if err != nil {
		return err
	}
	if e.o.Authorization != "" {
		req.Header.Set("Authorization", e.o.Authorization)
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := e.client.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, mostAnswer)); err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answered %s", answer.Status)
	}
	return nil
}
