// Package service is the plugin that asks a service over HTTP: it posts messages in JSON, and reads a verdict about each.
//
// # Start reading
//
// service.go (batches), call.go (one call).
package service

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"pmg/internal/httpcall"
	"pmg/plugin"
)

// Options are the URL of a service, and the limits of calls.
type Options struct {
	URL   string
	Key   string // keys that sign the questions, separated by a space; "": unsigned
	Batch int    // maximum messages in a call; 0: 1
	Calls int    // with fewer calls under way, a message does not wait for a batch; 0: 2
}

// Limits of calls and batches.
const (
	usualCalls    = 2
	longestGather = 5 * time.Millisecond
	longestCall   = time.Minute // limit of a call, in addition to the deadlines of the callers that wait for it
	maxIdle       = 1024        // idle connections that are kept
)

// A Service asks one service. It is safe for concurrent use.
//
// A message joins the batch that is open. The batch leaves when it is full, when fewer than Calls are under way, or after
// longestGather. So batches grow by themselves when the service is busy, and a call that hangs does not hold others. There
// are at most as many calls as there are callers of Ask, because a call ends when the last of its callers has left.
type Service struct {
	options Options
	sender  *httpcall.Sender
	gather  time.Duration   // time after which a batch is sent even if all calls are slow
	ctx     context.Context // context of all calls, which Close cancels
	cancel  context.CancelFunc
	running sync.WaitGroup // running calls

	mu     sync.Mutex
	open   *batch // the batch that collects messages; nil: none
	calls  int    // calls under way
	closed bool
}

// A batch contains the messages of a call.
type batch struct {
	messages [][]byte // in JSON; guarded by Service.mu until the batch leaves
	asking   int      // number of callers that wait for the batch; guarded by Service.mu
	timer    *time.Timer
	ctx      context.Context
	cancel   context.CancelFunc

	done     chan struct{} // closed when verdicts or err is set
	verdicts []*plugin.Verdict
	err      error
}

// New makes a plugin. It connects at the first question.
func New(o Options) *Service {
	o.Batch = max(o.Batch, 1)
	if o.Calls <= 0 {
		o.Calls = usualCalls
	}
	s := &Service{options: o, gather: longestGather}
	s.sender = httpcall.New(httpcall.Options{Idle: maxIdle, Timeout: longestCall, MaxBody: plugin.MaxAnswer + 1, Repeat: true})
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

var errClosed = errors.New("it is closed")

// Ask implements plugin.Plugin. The message is not used after Ask has returned.
func (s *Service) Ask(ctx context.Context, m *plugin.Message) (plugin.Verdict, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return plugin.Verdict{}, err
	}
	b, i, err := s.join(text)
	if err != nil {
		return plugin.Verdict{}, err
	}
	defer s.leave(b)
	select {
	case <-b.done:
	case <-ctx.Done():
		return plugin.Verdict{}, ctx.Err()
	}
	if b.err != nil {
		return plugin.Verdict{}, b.err
	}
	return *b.verdicts[i], nil
}

// join adds a message to the open batch, and returns the batch and the message's index.
func (s *Service) join(text []byte) (b *batch, i int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, 0, errClosed
	}
	if b = s.open; b == nil {
		b = &batch{done: make(chan struct{})}
		b.ctx, b.cancel = context.WithCancel(s.ctx)
		s.open = b
	}
	i = len(b.messages)
	b.messages = append(b.messages, text)
	b.asking++
	switch {
	case len(b.messages) >= s.options.Batch || s.calls < s.options.Calls:
		s.start(b)
	case i == 0:
		b.timer = time.AfterFunc(s.gather, func() { s.flush(b) })
	}
	return b, i, nil
}

// start starts the call of a batch.
func (s *Service) start(b *batch) {
	s.open = nil
	if b.timer != nil {
		b.timer.Stop()
	}
	s.calls++
	s.running.Go(func() {
		b.verdicts, b.err = s.call(b.ctx, b.messages)
		close(b.done)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls--; s.open != nil && s.calls < s.options.Calls {
			s.start(s.open)
		}
	})
}

// flush starts the call of a batch after longestGather.
func (s *Service) flush(b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == b {
		s.start(b)
	}
}

// leave cancels the call of a batch when the last of its callers has left.
func (s *Service) leave(b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.asking--; b.asking > 0 {
		return
	}
	b.cancel()
	if s.open == b {
		s.open = nil
		b.timer.Stop()
	}
}

// Close implements plugin.Plugin. It cancels the calls, and returns when they have ended.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	if b := s.open; b != nil {
		s.open, b.err = nil, errClosed
		b.timer.Stop()
		close(b.done)
	}
	s.mu.Unlock()
	s.cancel()
	s.running.Wait()
	s.sender.Close()
}
