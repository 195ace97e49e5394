package httpcall

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// Options are what a Caller may be given.
type Options struct {
	Timeout     time.Duration  // of a call, from the look-up of the name to the end of the answer; 0: 15 s
	Resolver    *net.Resolver  // of names; nil: the machine's
	Authorities *x509.CertPool // that the certificates of servers must be of; nil: those that the machine trusts
	Holds       func() bool    // whether anything may be sent; nil: always
}

// Bounds of a call, and of the connections that are kept for the next one.
const (
	defaultTimeout = 15 * time.Second
	maxHeader      = 64 << 10 // of an answer, in octets
	maxBody        = 64 << 10 // that is read of an answer; then the connection is closed
	keptBody       = 256      // that an Outcome has of it
	idlePerHost    = 16
	idleTotal      = 1024
	idleFor        = time.Minute
)

// A Caller calls URLs. It is safe for concurrent use.
type Caller struct {
	options Options

	mu         sync.Mutex
	transports map[class]*http.Transport
}

// New returns a Caller.
func New(o Options) *Caller {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return &Caller{options: o, transports: map[class]*http.Transport{}}
}

// Close closes the connections that wait for another call. Calls that are under way go on.
func (c *Caller) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
}

// errSlow is why a context ends whose call has taken too long.
var errSlow = errors.New("the call has taken too long")

// Do makes a call, and returns what came of it. It makes no second attempt.
func (c *Caller) Do(ctx context.Context, call *httpsms.Call, to Target) Outcome {
	start := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.Timeout, errSlow)
	defer cancel()
	o := c.do(ctx, call, to)
	o.Took = time.Since(start)
	return o
}

func (c *Caller) do(ctx context.Context, call *httpsms.Call, to Target) Outcome {
	req, err := c.request(ctx, call, to)
	if err != nil {
		return Outcome{Code: sms.Rejected, Err: err.Error()}
	}
	if err := mayCall(c.options.Holds); err != nil {
		return Outcome{Code: sms.TemporaryFailure, Err: err.Error()}
	}
	answer, err := c.transport(to).RoundTrip(req)
	if err != nil {
		return c.failed(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }() // which closes the connection if there is more of the body
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	if err != nil && (call.Taken != nil || call.Replied != nil) { // without them the status alone counts, which has come
		return c.failed(ctx, err)
	}
	o := judge(call, answer, body)
	if o.Code == sms.OK && call.Replied != nil {
		call.Replied(answer.Header.Get("Content-Type"), body)
	}
	return o
}

func (c *Caller) request(ctx context.Context, call *httpsms.Call, to Target) (*http.Request, error) {
	p, err := readURL(call.URL)
	if err == nil && !to.Trusted {
		err = p.checkPort()
	}
	if err != nil {
		return nil, errors.New("its URL " + err.Error())
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, call.URL, bytes.NewReader(call.Body))
	if err != nil {
		return nil, err
	}
	// Idempotency-Key without a value is not sent. The transport may try once more when a kept connection turns out
	// to be closed, because events may come twice.
	req.Header = http.Header{"User-Agent": {"pmg"}, "Idempotency-Key": nil}
	for _, h := range call.Header {
		req.Header.Set(h[0], h[1])
	}
	return req, nil
}

// AddTrace makes a call continue a trace, unless parent is empty.
func AddTrace(request *httpsms.Call, parent string) {
	if parent != "" {
		request.Header = append(request.Header, [2]string{"Traceparent", parent})
	}
}
