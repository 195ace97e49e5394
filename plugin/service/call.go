package service

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"pmg/internal/httpcall"
	"pmg/plugin"
)

// Bounds of a call, and of the connections that are kept for the next one.
const (
	longestCall = time.Minute // beside the deadlines of those who wait for it
	maxIdle     = 1024
	idleFor     = time.Minute
	maxHeader   = 64 << 10 // of an answer, in octets
	maxError    = 160      // of what net/http says, in octets: it may quote the answer
)

// newTransport returns a transport that follows no redirect, takes no proxy from the environment and unpacks nothing.
func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdle,
		IdleConnTimeout:        idleFor,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true,
	}
}

// call asks about messages in JSON, and returns as many verdicts.
func (s *Service) call(ctx context.Context, messages [][]byte) ([]*plugin.Verdict, error) {
	req, err := s.request(ctx, messages)
	if err != nil {
		return nil, err
	}
	answer, err := s.transport.RoundTrip(req)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }() // which closes the connection if there is more of the body
	body, err := io.ReadAll(io.LimitReader(answer.Body, plugin.MaxAnswer+1))
	switch {
	case err != nil:
		return nil, s.failed(ctx, err)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answers %d %s: %s", answer.StatusCode, http.StatusText(answer.StatusCode), plugin.Quote(body))
	case len(body) > plugin.MaxAnswer:
		return nil, fmt.Errorf("it answers more than %d octets", plugin.MaxAnswer)
	}
	return read(body, len(messages))
}

// request returns the call about messages, signed.
func (s *Service) request(ctx context.Context, messages [][]byte) (*http.Request, error) {
	body := []byte(`{"messages":[`)
	body = append(body, bytes.Join(messages, []byte{','})...)
	body = append(body, "]}"...)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.options.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	signed, err := httpcall.Sign(strings.Fields(s.options.Key), rand.Text(), time.Now(), body)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	// Idempotency-Key without a value is not sent. The transport may try once more when a kept connection turns out to be
	// closed: the service knows it by webhook-id.
	req.Header = http.Header{"User-Agent": {"pmg"}, "Content-Type": {"application/json"}, "Idempotency-Key": nil}
	for _, h := range signed {
		req.Header.Set(h[0], h[1])
	}
	return req, nil
}

// failed returns why there is no answer.
func (s *Service) failed(ctx context.Context, err error) error {
	switch {
	case s.ctx.Err() != nil:
		return errClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it closes the connection before its answer is whole")
	}
	text := strings.ToValidUTF8(err.Error(), "?")
	return fmt.Errorf("there is no answer: %.*s", maxError, text)
}

// read reads as many verdicts as there were messages.
func read(body []byte, n int) ([]*plugin.Verdict, error) {
	var answer struct {
		Verdicts []*plugin.Verdict `json:"verdicts"`
	}
	if err := plugin.ReadAnswer(body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Verdicts) != n {
		return nil, fmt.Errorf("it answers with %d verdicts, not %d: %s", len(answer.Verdicts), n, plugin.Quote(body))
	}
	for i, v := range answer.Verdicts {
		if v == nil {
			return nil, fmt.Errorf("its verdict %d is null", i+1)
		}
	}
	return answer.Verdicts, nil
}
