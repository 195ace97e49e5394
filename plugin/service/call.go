package service

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pmg/internal/httpcall"
	"pmg/plugin"
	"pmg/protocols/httpsms"
)

// call asks about messages in JSON, and returns a verdict for each.
func (s *Service) call(ctx context.Context, messages [][]byte) ([]*plugin.Verdict, error) {
	body := []byte(`{"messages":[`)
	body = append(body, bytes.Join(messages, []byte{','})...)
	body = append(body, "]}"...)
	// A call may be repeated: the service recognises it by its webhook-id.
	signed, err := httpcall.Sign(strings.Fields(s.options.Key), rand.Text(), time.Now(), body)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	answer := s.sender.Send(ctx, &httpsms.Call{
		Method: http.MethodPost, URL: s.options.URL, Body: body,
		Header: append(signed, [2]string{"Content-Type", "application/json"}),
	})
	switch {
	case s.ctx.Err() != nil && answer.Status == 0:
		return nil, errClosed
	case answer.Status == 0:
		return nil, errors.New("it " + answer.Err)
	case answer.Status != http.StatusOK:
		return nil, fmt.Errorf("it answers %d %s: %s", answer.Status, http.StatusText(answer.Status), plugin.Quote(answer.Body))
	case len(answer.Body) > plugin.MaxAnswer:
		return nil, fmt.Errorf("it answers more than %d octets", plugin.MaxAnswer)
	}
	return read(answer.Body, len(messages))
}

// read reads a verdict for each message.
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
