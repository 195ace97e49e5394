package httpcall

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"pmg/protocols/httpsms"
)

// SenderOptions are how a Sender reaches its server.
type SenderOptions struct {
	TLS            *tls.Config   // of https; nil: the machine's authorities
	Connections    int           // that may be open at the same time
	ConnectTimeout time.Duration // of a connection, until it is encrypted
	Timeout        time.Duration // of a call
	Holds          func() bool   // whether anything may be sent; nil: always
}

// A Sender makes calls that must not be made twice, to a server that the configuration names. It is safe for concurrent
// use.
type Sender struct {
	options   SenderOptions
	transport *http.Transport
	secure    *tls.Config
	dialer    net.Dialer
}

// NewSender returns a Sender.
func NewSender(o SenderOptions) *Sender {
	s := &Sender{options: o, dialer: net.Dialer{Timeout: o.ConnectTimeout}, secure: &tls.Config{MinVersion: tls.VersionTLS12}}
	if o.TLS != nil {
		s.secure = o.TLS.Clone()
	}
	s.transport = &http.Transport{ // without Proxy: none is taken from the environment
		DialContext:            whileHolds(o.Holds, s.dialer.DialContext),
		TLSClientConfig:        s.secure,
		TLSHandshakeTimeout:    o.ConnectTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
		MaxConnsPerHost:        o.Connections,
		MaxIdleConns:           o.Connections,
		MaxIdleConnsPerHost:    o.Connections,
		IdleConnTimeout:        idleFor,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // nothing that is read here can grow
	}
	return s
}

// Close closes the connections that wait for another call.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }

// An Answer is the answer to a call, or the reason why there is none.
type Answer struct {
	Status     int // 0: there was none
	Header     http.Header
	Body       []byte // of the answer, up to 64 KiB
	RetryAfter time.Duration
	Sent       bool   // the server may have the call
	Err        string // why there is no answer, in words that follow the name of a server
}

// Send makes a call. No part of it is sent a second time: a call that fails when it was on its way may have arrived.
func (s *Sender) Send(ctx context.Context, call *httpsms.Call) (a Answer) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Timeout, errSlow)
	defer cancel()
	if err := mayCall(s.options.Holds); err != nil {
		return Answer{Err: err.Error()}
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := s.request(ctx, call)
	if err != nil {
		return Answer{Err: "cannot be called: " + err.Error()}
	}
	answer, err := s.transport.RoundTrip(req)
	if err != nil {
		return Answer{Sent: sent.Load(), Err: s.failed(ctx, err)}
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	a = Answer{Status: answer.StatusCode, Header: answer.Header, Body: body, Sent: true}
	if err != nil {
		a.Status, a.Err = 0, s.failed(ctx, err)
	}
	a.RetryAfter = retryAfter(answer.Header.Get("Retry-After"), time.Now())
	return a
}

// errURL says that the URL of a call cannot be read. The URL itself may have secrets.
var errURL = errors.New("its URL cannot be read")

// once is a body that cannot be sent again. The transport repeats a GET without a body, or with one that it can get
// anew, when a kept connection turns out to be closed. The server may have got the first one then.
type once struct{ *bytes.Reader }

// Close implements io.Closer.
func (once) Close() error { return nil }

func (s *Sender) request(ctx context.Context, call *httpsms.Call) (*http.Request, error) {
	if u, err := url.Parse(call.URL); err != nil || u.Host == "" {
		return nil, errURL
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, call.URL, once{bytes.NewReader(call.Body)})
	if err != nil {
		return nil, errURL
	}
	req.ContentLength = int64(len(call.Body))
	req.Header = http.Header{}
	for _, h := range call.Header {
		req.Header.Set(h[0], h[1])
	}
	return req, nil
}

// failed returns why a call was not answered, in words.
func (s *Sender) failed(ctx context.Context, err error) string {
	switch {
	case context.Cause(ctx) == errSlow:
		return "did not answer within " + s.options.Timeout.String()
	case ctx.Err() != nil:
		return "was not waited for"
	}
	text, _ := words(err)
	return text
}

// Try opens a connection to a server and closes it. It returns an empty string if that succeeds, else why it does not.
func (s *Sender) Try(ctx context.Context, u *url.URL) string {
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.ConnectTimeout, errSlow)
	defer cancel()
	port := u.Port()
	if port == "" {
		port = u.Scheme // the name of its service
	}
	conn, err := s.dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err == nil && u.Scheme == "https" {
		defer func(c net.Conn) { _ = c.Close() }(conn)
		secure := s.secure.Clone()
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
