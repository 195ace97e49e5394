package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pmg/internal/httpcall"
	"pmg/protocols/httpsms"
)

const (
	mostWaiting  = 4096 // traces that wait; further traces are dropped
	mostTogether = 256  // traces in a request
	gather       = time.Second
	callTimeout  = 10 * time.Second
	closeWait    = 2 * time.Second
)

// Options are the options of an Exporter.
type Options struct {
	URL           string // URL of the collector, without /v1/traces
	Authorization string // value of the header Authorization; empty: no header
	Service       string
	Failed        func(error) // is called for each failed request, on the exporter's goroutine; nil: not called
}

// An Exporter sends traces from its goroutine. It drops and counts spans that the collector does not accept, because they are
// not worth the gateway's memory.
type Exporter struct {
	Sent, Dropped, Errors atomic.Int64 // numbers of spans, spans, and requests

	o      Options
	sender *httpcall.Sender
	queue  chan []Span
	cancel context.CancelFunc
	ended  chan struct{}
	once   sync.Once
	quit   chan struct{}
}

// Start begins to send.
func Start(o Options) *Exporter {
	return start(o, httpcall.New(httpcall.Options{Timeout: callTimeout, Repeat: true})) // a span that is sent twice counts once
}

func start(o Options, s *httpcall.Sender) *Exporter {
	ctx, cancel := context.WithCancel(context.Background())
	e := &Exporter{
		o: o, sender: s, queue: make(chan []Span, mostWaiting), cancel: cancel, ended: make(chan struct{}),
		quit: make(chan struct{}),
	}
	go e.run(ctx)
	return e
}

// Add queues the spans of a trace. It does not wait. The caller must not use the spans any more.
func (e *Exporter) Add(trace []Span) {
	select {
	case e.queue <- trace:
	default:
		e.Dropped.Add(int64(len(trace)))
	}
}

// Close sends the queued spans, for a short time, and ends the exporter. Add must not be called any more.
func (e *Exporter) Close() {
	e.once.Do(func() { close(e.quit) })
	late := time.AfterFunc(closeWait, e.cancel)
	<-e.ended
	late.Stop()
	e.cancel()
	e.sender.Close()
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
	call := &httpsms.Call{
		Method: http.MethodPost, URL: strings.TrimSuffix(e.o.URL, "/") + "/v1/traces", Body: body,
		Header: [][2]string{{"Content-Type", "application/json"}},
	}
	if e.o.Authorization != "" {
		call.Header = append(call.Header, [2]string{"Authorization", e.o.Authorization})
	}
	switch answer := e.sender.Send(ctx, call); {
	case answer.Status == 0:
		return errors.New("the collector " + answer.Err)
	case answer.Status/100 != 2:
		return fmt.Errorf("the collector answered %s", answer.Line)
	}
	return nil
}
