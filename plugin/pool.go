package plugin

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Options are the bounds of a pool.
type Options struct {
	Name      string
	Workers   int           // questions under way at the same time
	Queue     int           // further ones that wait
	Deadline  time.Duration // of a question, with its wait
	OnFailure string        // Pass, Refuse or Hold: what happens to a message without a verdict
}

// A Pool asks one plugin. It is safe for concurrent use.
type Pool struct {
	Options
	plugin  Plugin
	places  chan struct{} // one for each question under way
	waiting atomic.Int64
	breaker breaker

	asked, failed, refused, held, changed atomic.Int64
	work, wait                            timer
	informed                              informed
	failure                               atomic.Pointer[string]
}

// NewPool makes the pool of a plugin.
func NewPool(p Plugin, o Options) *Pool {
	return &Pool{Options: o, plugin: p, places: make(chan struct{}, max(o.Workers, 1))}
}

// Waits reports whether Ask waits for others. Otherwise a stage of the pipeline may call it.
func (p *Pool) Waits() bool { return p.plugin.Waits() }

// Close closes the plugin, when nothing is asked any more.
func (p *Pool) Close() { p.informed.end(p.plugin.Close) }

// Errors of a pool.
var (
	errFull  = errors.New("as many messages wait for it as may (queue)")
	errRests = errors.New("it rests after failures in a row")
	errLate  = errors.New("it has not answered within its deadline")
)

// A Decision is the verdict about a message, and why the plugin did not make it: nil if it did.
type Decision struct {
	Verdict
	Failure error
}

// Ask asks the plugin. Without an answer the decision is that of OnFailure.
func (p *Pool) Ask(m *Message) Decision {
	v, err := p.ask(m, p.asked.Add(1))
	if err != nil {
		p.fail(err)
		return Decision{p.Instead(), fmt.Errorf("plugin %s: %w", p.Name, err)}
	}
	switch {
	case v.Do == Refuse:
		p.refused.Add(1)
	case v.Do == Hold:
		p.held.Add(1)
	case v.Do == Delay || v.From != nil || v.To != nil || v.Text != nil || len(v.Tags) > 0 || v.Network != "":
		p.changed.Add(1)
	}
	return Decision{Verdict: v}
}

// fail counts a failure.
func (p *Pool) fail(err error) {
	p.failed.Add(1)
	text := err.Error()
	p.failure.Store(&text)
}

// Instead returns the verdict where there is none.
func (p *Pool) Instead() Verdict {
	switch why := "plugin " + p.Name + " has not answered"; p.OnFailure {
	case Pass:
		return Verdict{}
	case Hold:
		return Verdict{Do: Hold, Why: why}
	default:
		return Verdict{Do: Refuse, Status: "temporary_failure", Why: why}
	}
}

// sampled is how many questions have one whose time is measured, if the plugin does not wait: to ask for the time twice takes
// as long as half an expression.
const sampled = 64

// ask asks the n-th question.
func (p *Pool) ask(m *Message, n int64) (v Verdict, err error) {
	if !p.plugin.Waits() {
		if n%sampled != 1 {
			return p.call(context.Background(), m)
		}
		began := time.Now()
		v, err = p.call(context.Background(), m)
		p.work.note(began, time.Since(began))
		return v, err
	}
	began := time.Now()
	ok, trial := p.breaker.may(began)
	if !ok {
		return v, errRests
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.Deadline)
	defer cancel()
	if err = p.place(ctx); err == nil {
		now := time.Now()
		p.wait.note(now, now.Sub(began))
		v, err = p.call(ctx, m)
		<-p.places
		p.work.note(now, time.Since(now))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errLate
	}
	p.breaker.done(time.Now(), trial, err)
	return v, err
}

// place waits for a place among the questions under way.
func (p *Pool) place(ctx context.Context) error {
	select {
	case p.places <- struct{}{}:
		return nil
	default:
	}
	defer p.waiting.Add(-1)
	if p.waiting.Add(1) > int64(p.Queue) {
		return errFull
	}
	select {
	case p.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call asks the plugin, and checks what it answers.
func (p *Pool) call(ctx context.Context, m *Message) (v Verdict, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = Verdict{}, fmt.Errorf("it panics: %v", r)
		}
	}()
	if v, err = p.plugin.Ask(ctx, m); err == nil {
		err = v.Check()
	}
	if err == nil {
		err = v.checkAt(m.Hook)
	}
	if err != nil {
		v = Verdict{}
	}
	return v, err
}

// Figures returns what the pool has done.
func (p *Pool) Figures() Figures {
	now := time.Now()
	f := Figures{
		Asked: p.asked.Load(), Failed: p.failed.Load(), Refused: p.refused.Load(), Held: p.held.Load(), Changed: p.changed.Load(),
		InFlight: len(p.places), Waiting: int(p.waiting.Load()), Work: p.work.times(now), Wait: p.wait.times(now),
		RestsUntil: p.breaker.restsUntil(),
	}
	if text := p.failure.Load(); text != nil {
		f.Failure = *text
	}
	return f
}
