package httpcall

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"

	"pmg/protocols/httpsms"
)

// Options define how a Sender reaches servers, and limit what a Sender accepts from them.
type Options struct {
	TLS            *tls.Config   // configuration of https; nil: the machine's authorities
	Dial           Dial          // opens connections; nil: to the host of the URL
	Proxy          bool          // the environment may name a proxy; otherwise none is used
	Connections    int           // connections that may be open to a server at the same time; 0: any number
	Idle           int           // connections to a server that wait for another call; 0: Connections, or 16
	ConnectTimeout time.Duration // limit for opening a connection, including TLS; 0: Timeout
	Timeout        time.Duration // of a call, from the look-up of the name to the end of the answer; 0: 15 s
	MaxBody        int64         // octets of an answer that are read before the connection is closed; 0: 64 KiB
	Repeat         bool          // calls may come twice: a call is repeated if a reused connection turns out to be closed
	Holds          func() bool   // whether anything may be sent; nil: always

	resolver *net.Resolver // of names; nil: the machine's. Tests have others
	check    Control       // checks each address before connecting; nil: any address is allowed
}

// A Dial opens a connection.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// A Control is called with each address, after name resolution. An error forbids the connection.
type Control func(network, address string, c syscall.RawConn) error

// Bounds of a call, and of the connections that are kept for the next one.
const (
	defaultTimeout = 15 * time.Second
	defaultBody    = 64 << 10
	defaultIdle    = 16
	maxIdle        = 1024     // connections to all servers
	maxHeader      = 64 << 10 // maximum header of an answer, in octets
	idleTime       = time.Minute
)

// A Sender calls URLs. It follows no redirect. It is safe for concurrent use.
type Sender struct {
	options   Options
	transport *http.Transport
	dial      Dial
}

// New returns a Sender.
func New(o Options) *Sender {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, o.Timeout)
	o.MaxBody = cmp.Or(o.MaxBody, defaultBody)
	if o.TLS == nil {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	s := &Sender{options: o, dial: o.Dial}
	if s.dial == nil {
		s.dial = (&net.Dialer{Timeout: o.ConnectTimeout, Resolver: o.resolver, Control: o.check}).DialContext
	}
	idle := cmp.Or(o.Idle, o.Connections, defaultIdle)
	s.transport = &http.Transport{
		DialContext:            whileHolds(o.Holds, s.dial),
		TLSClientConfig:        o.TLS.Clone(),
		TLSHandshakeTimeout:    o.ConnectTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
		MaxConnsPerHost:        o.Connections,
		MaxIdleConns:           max(maxIdle, idle),
		MaxIdleConnsPerHost:    idle,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // so that answers cannot grow by decompression
	}
	if o.Proxy {
		s.transport.Proxy = http.ProxyFromEnvironment
	}
	return s
}

// Close closes the connections that wait for another call. Calls that are under way go on.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }

// An Answer is the answer to a call, or the reason why there is none.
type Answer struct {
	Status     int    // status of the answer; 0: there was no answer
	Line       string // the status as the server writes it: 200 OK
	Header     http.Header
	Body       []byte
	RetryAfter time.Duration // time for which the server asks for no calls; 0: it does not ask
	Sent       bool          // the server may have the call
	Err        string        // the reason why there is no answer, as text that follows the name of a server
	Cause      error         // error that Err describes

	slow  bool // a person must solve the problem
	never bool // the call cannot be made, now or later
}

// errSlow is the reason why the context of a slow call ends.
var errSlow = errors.New("the call has taken too long")

// Send makes a call. Unless calls may come twice, no part of a call is sent a second time: a call that fails
// on its way may have arrived.
func (s *Sender) Send(ctx context.Context, call *httpsms.Call) Answer {
	a := s.send(ctx, call)
	if a.Err != "" {
		a.Status = 0
	}
	return a
}

// send makes a call. An answer that is truncated after its header has a status and an error.
func (s *Sender) send(ctx context.Context, call *httpsms.Call) (a Answer) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Timeout, errSlow)
	defer cancel()
	if err := mayCall(s.options.Holds); err != nil {
		return Answer{Err: err.Error(), Cause: err}
	}
	var sent atomic.Bool
	req, err := s.request(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}), call)
	if err != nil {
		return Answer{Err: "cannot be called: " + err.Error(), Cause: err, never: true}
	}
	answer, err := s.transport.RoundTrip(req)
	if err != nil {
		a.Sent = sent.Load()
		s.failed(ctx, &a, err)
		return a
	}
	defer func() { _ = answer.Body.Close() }() // Close closes the connection if the body was not read to its end
	a = Answer{Status: answer.StatusCode, Line: answer.Status, Header: answer.Header, Sent: true}
	a.RetryAfter = retryAfter(answer.Header.Get("Retry-After"), time.Now())
	if a.Body, err = io.ReadAll(io.LimitReader(answer.Body, s.options.MaxBody)); err != nil {
		s.failed(ctx, &a, err)
	}
	return a
}

// errURL says that the URL of a call cannot be read. The URL itself may have secrets.
var errURL = errors.New("its URL cannot be read")

// once is a body that cannot be sent again. If a kept connection turns out to be closed, the transport repeats a GET whose body
// is missing or can be read again. Then the server may have got the first GET.
type once struct{ *bytes.Reader }

// Close implements io.Closer.
func (once) Close() error { return nil }

func (s *Sender) request(ctx context.Context, call *httpsms.Call) (*http.Request, error) {
	if u, err := url.Parse(call.URL); err != nil || u.Host == "" {
		return nil, errURL
	}
	var body io.Reader = once{bytes.NewReader(call.Body)}
	if s.options.Repeat {
		body = bytes.NewReader(call.Body)
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, call.URL, body)
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(len(call.Body))
	if req.Header = (http.Header{"User-Agent": {"pmg"}}); s.options.Repeat {
		req.Header["Idempotency-Key"] = nil // the header is not sent: a nil value allows the transport to repeat a POST
	}
	for _, h := range call.Header {
		req.Header.Set(h[0], h[1])
	}
	return req, nil
}

// failed says why a call was not answered.
func (s *Sender) failed(ctx context.Context, a *Answer, err error) {
	a.Cause = err
	switch {
	case context.Cause(ctx) == errSlow:
		a.Err = "did not answer within " + s.options.Timeout.String()
	case ctx.Err() != nil:
		a.Err = "was not waited for"
	default:
		a.Err, a.slow = words(err)
	}
}

// HTTP returns a client with the bounds of the Sender, for libraries that make calls of their own. A GET
// follows at most redirects redirects; other calls, which may contain secrets, follow none.
func (s *Sender) HTTP(redirects int) *http.Client {
	return &http.Client{
		Timeout: s.options.Timeout, Transport: bounded{s.transport, s.options.MaxBody},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if via[0].Method != http.MethodGet || len(via) > redirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// A bounded transport cuts long answers.
type bounded struct {
	http.RoundTripper
	maxBody int64
}

// RoundTrip implements http.RoundTripper.
func (t bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		a.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(a.Body, t.maxBody), a.Body}
	}
	return a, err
}

// Try opens a connection to a server and closes it. It returns "" if that succeeds, and otherwise the reason of the failure.
func (s *Sender) Try(ctx context.Context, u *url.URL) string {
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.ConnectTimeout, errSlow)
	defer cancel()
	port := u.Port()
	if port == "" {
		port = u.Scheme // the name of the scheme's service
	}
	conn, err := s.dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err == nil && u.Scheme == "https" {
		defer func(c net.Conn) { _ = c.Close() }(conn)
		secure := s.options.TLS.Clone()
		if secure.ServerName == "" {
			secure.ServerName = u.Hostname()
		}
		conn = tls.Client(conn, secure)
		err = conn.(*tls.Conn).HandshakeContext(ctx)
	}
	if err != nil {
		if context.Cause(ctx) == errSlow {
			return "cannot be reached within " + s.options.ConnectTimeout.String()
		}
		text, _ := words(err)
		return text
	}
	_ = conn.Close()
	return ""
}
