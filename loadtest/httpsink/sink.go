package httpsink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"pmg/loadtest"
)

// Options are those of a sink. Of SinkOptions those have no meaning that are about sessions and messages from mobiles.
type Options struct {
	loadtest.SinkOptions
	// what webhooks are signed with: whsec_ and a secret, or whpk_ and a public key; empty: it is not checked
	WebhookKey string
	// called with each event that comes for the first time, when not nil; an error makes it malformed
	Told func(Event) error
}

// A Sink is a server that runs.
type Sink struct {
	o        Options
	key      *key // nil: signatures are not checked
	listener net.Listener
	server   http.Server
	began    time.Time
	closing  chan struct{}
	closed   sync.Once
	done     chan struct{}
	doneOnce sync.Once
	running  sync.WaitGroup

	seen       loadtest.Numbers
	counts     counts
	lastID     atomic.Uint64
	receipts   *caller           // nil: none are sent
	references *recent[uint64]   // ids of messages, by account and client_reference
	events     *recent[struct{}] // webhook-ids of events
	types      types
	shown      struct {
		messages ring[shownMessage]
		events   ring[shownEvent]
	}
}

// counts are the counters of a sink.
type counts struct {
	underWay                      atomic.Int64 // requests
	submits, accepted, repeated   atomic.Int64
	throttled, refused, dropped   atomic.Int64
	late, malformed, unnumbered   atomic.Int64
	receipts, answered, again     atomic.Int64
	receiptsRefused, answersLater atomic.Int64
	calls, events, eventsAgain    atomic.Int64
	eventsRefused, forged         atomic.Int64
	first, last                   atomic.Int64 // times of submits
}

func (o *Options) check() error {
	f := &o.Faults
	switch {
	case o.Protocol != "" && o.Protocol != "http":
		return fmt.Errorf("this sink speaks http, not %s", o.Protocol)
	case f.UnbindEvery > 0 || f.TwiceEvery > 0 || f.CloseBindEvery > 0:
		return errors.New("http has no sessions and one answer: unbind-every, twice-every and close-bind-every have no meaning")
	case o.MO.Rate > 0 || o.MO.Count > 0 || o.MO.From != "" || len(o.MO.To) > 0:
		return errors.New("messages from mobiles are not sent by http")
	case o.Content != nil:
		return errors.New("texts are not checked with http")
	case o.Receipt.Format != loadtest.ReceiptBoth || o.Receipt.OtherSession:
		return errors.New("receipts have one form and no session with http")
	case o.Receipt.First && (o.Delay > 0 || f.LateEvery > 0):
		return errors.New("a receipt that comes before the answer needs an answer without delay")
	case o.Window < 1 || o.Window > maxCalls:
		return fmt.Errorf("the window must be 1 to %d, not %d", maxCalls, o.Window)
	case o.Delay < 0 || o.Late < 0 || o.Messages < 0:
		return errors.New("numbers and times cannot be negative")
	}
	return o.Receipt.Check()
}

const (
	maxHeader   = 64 << 10
	readTime    = 30 * time.Second // for a request
	idleTime    = 3 * time.Minute
	closingTime = 2 * time.Second // for answers that are being written when the sink closes
)

// Start listens and serves until Close.
func Start(o Options) (*Sink, error) {
	if o.Window == 0 {
		o.Window = loadtest.DefaultWindow
	}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("cannot start sink: %w", err)
	}
	k, err := readKey(o.WebhookKey)
	if err != nil {
		return nil, fmt.Errorf("cannot start sink: the key of the webhook %w", err)
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("cannot start sink: %w", err)
	}
	s := &Sink{
		o: o, key: k, listener: l, began: time.Now(), closing: make(chan struct{}), done: make(chan struct{}),
		references: newRecent[uint64](maxRemembered), events: newRecent[struct{}](maxRemembered),
	}
	s.lastID.Store(uint64(s.began.UnixMicro())) // ids differ from those of the last run
	if o.Receipts {
		s.receipts = newCaller(s)
	}
	s.server = http.Server{
		Handler: s.routes(), MaxHeaderBytes: maxHeader, ReadTimeout: readTime, IdleTimeout: idleTime,
		ErrorLog: log.New(io.Discard, "", 0), // what peers do wrong is counted
	}
	s.running.Go(func() { _ = s.server.Serve(l) }) // Close ends it
	return s, nil
}

// Addr returns the address that the sink listens on.
func (s *Sink) Addr() string { return s.listener.Addr().String() }

// Done returns a channel that is closed when SinkOptions.Messages messages have arrived and were answered, and their receipts
// were too. It stays open if no number is given.
func (s *Sink) Done() <-chan struct{} { return s.done }

// Await waits until unique different messages have arrived, or ctx ends.
func (s *Sink) Await(ctx context.Context, unique int64) error {
	return s.await(ctx, unique, "messages", s.seen.Unique)
}

// AwaitEvents waits until that many different events have come, or ctx ends.
func (s *Sink) AwaitEvents(ctx context.Context, events int64) error {
	return s.await(ctx, events, "events", s.counts.events.Load)
}

func (s *Sink) await(ctx context.Context, n int64, of string, count func() int64) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for count() < n {
		select {
		case <-ctx.Done():
			return fmt.Errorf("cannot receive %d %s, only %d arrived: %w", n, of, count(), ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// Close stops listening, and returns when requests are answered and calls have ended. Answers that wait are given without their
// delay, and receipts that wait are not sent.
func (s *Sink) Close() error {
	var err error
	s.closed.Do(func() {
		close(s.closing)
		ctx, cancel := context.WithTimeout(context.Background(), closingTime)
		defer cancel()
		if err = s.server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
			err = s.server.Close()
		}
		if s.receipts != nil {
			s.receipts.close()
		}
		s.running.Wait()
	})
	return err
}

// now returns the time since the sink began, never 0.
func (s *Sink) now() int64 { return max(int64(time.Since(s.began)), 1) }

// ended is called when something has been answered.
func (s *Sink) ended() {
	c := &s.counts
	if s.o.Messages == 0 || s.seen.Unique() < s.o.Messages || c.answersLater.Load() > 0 {
		return
	}
	if c.answered.Load()+c.receiptsRefused.Load() >= c.receipts.Load() {
		s.doneOnce.Do(func() { close(s.done) })
	}
}
