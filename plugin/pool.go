package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"pmg/internal/turns"
)

// Options are the limits of a pool.
type Options struct {
	Name      string
	Workers   int           // maximum number of questions under way
	Queue     int           // maximum number of further questions that wait for a place
	Deadline  time.Duration // time limit of a question, including the wait for a place
	OnFailure string        // decision about a message without a verdict: Pass, Refuse or Hold
}

// A Pool asks one plugin. Questions that wait for a place take turns by account. It is safe for concurrent use.
type Pool struct {
	Options
	plugin  Plugin
	quick   Quick // nil: the plugin may wait, so Try is not possible
	turns   *turns.Turns[string]
	breaker breaker

	inFlight                                               atomic.Int64
	asked, failed, rested, crowded, refused, held, changed atomic.Int64

	work, wait timer
	informed   informed
	failure    atomic.Pointer[string]
}

// NewPool makes the pool of a plugin.
func NewPool(p Plugin, o Options) *Pool {
	o.Workers = max(o.Workers, 1)
	quick, _ := p.(Quick)
	return &Pool{Options: o, plugin: p, quick: quick, turns: turns.New[string](o.Workers, o.Queue)}
}

// Waits reports whether the plugin may have to wait, so that Try never decides.
func (p *Pool) Waits() bool { return p.quick == nil }

// Close closes the plugin. Ask and Try are not called any more.
func (p *Pool) Close() { p.informed.end(p.plugin.Close) }

// Errors of a pool.
var (
	errFull  = errors.New("its queue is full (queue), or no place was free in time")
	errRests = errors.New("it rests after failures in a row")
	errLate  = errors.New("it has not answered within its deadline")
)

// A Decision is the verdict about a message. Failure is the reason if the plugin did not decide, nil if it did.
type Decision struct {
	Verdict
	Failure error
	Crowded bool // too many questions wait, so the plugin was not asked: the message must be submitted again
}

// Try asks the plugin without waiting, for callers such as stages. It reports false if the answer takes longer: then
// Ask follows.
func (p *Pool) Try(m *Message) (Decision, bool) {
	if p.quick == nil {
		return Decision{}, false
	}
	var began time.Time
	n := p.asked.Add(1)
	if n%sampled == 1 {
		began = time.Now()
	}
	v, done, err := p.call(context.Background(), m, true)
	if !done {
		p.asked.Add(-1)
		return Decision{}, false
	}
	if n%sampled == 1 {
		p.work.add(began, time.Since(began))
	}
	return p.decision(v, err), true
}

// Ask asks the plugin. Without an answer OnFailure decides. Without a place the message is refused with a temporary error,
// whatever OnFailure is. The plugin is not at fault, and a message must not pass unchecked because its account sends too much.
func (p *Pool) Ask(m *Message) Decision { return p.AskFor(cmp.Or(m.Account, m.Connector), m) }

// AskFor asks about a message in the name of an owner, usually an account. Waiting questions are taken from the owners in turn.
func (p *Pool) AskFor(owner string, m *Message) Decision { return p.decision(p.ask(owner, m)) }

// decision counts the outcome of a question, and returns the decision.
func (p *Pool) decision(v Verdict, err error) Decision {
	switch {
	case errors.Is(err, errFull):
		p.crowded.Add(1)
		why := "plugin " + p.Name + " has too many messages"
		return Decision{Verdict{Do: Refuse, Status: "throttled", Why: why}, fmt.Errorf("plugin %s: %w", p.Name, err), true}
	case errors.Is(err, errRests):
		p.rested.Add(1)
	case err != nil:
		p.fail(err)
	case v.Do == Refuse:
		p.refused.Add(1)
	case v.Do == Hold:
		p.held.Add(1)
	case v.Do == Delay || v.From != nil || v.To != nil || v.Text != nil || len(v.Tags) > 0 || v.Network != "":
		p.changed.Add(1)
	}
	if err != nil {
		return Decision{Verdict: p.Instead(), Failure: fmt.Errorf("plugin %s: %w", p.Name, err)}
	}
	return Decision{Verdict: v}
}

// fail counts a failure.
func (p *Pool) fail(err error) {
	p.failed.Add(1)
	text := err.Error()
	p.failure.Store(&text)
}

// Instead returns the verdict that replaces a missing verdict.
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

// sampled is the number of questions for each question whose time is measured, if the plugin does not wait: reading
// the clock twice takes half as long as an expression.
const sampled = 64

// ask waits for a place, and asks a question. Plugins that do not wait have no breaker, because their failures depend
// on the message.
func (p *Pool) ask(owner string, m *Message) (v Verdict, err error) {
	began := time.Now()
	ok, trial := p.quick != nil, false
	if !ok {
		ok, trial = p.breaker.may(began)
	}
	if !ok {
		return v, errRests
	}
	if err = p.place(owner); err != nil {
		if p.quick == nil {
			p.breaker.unasked(trial)
		}
		return v, err
	}
	defer p.turns.Give()
	p.inFlight.Add(1)
	defer p.inFlight.Add(-1)
	p.asked.Add(1)
	now := time.Now()
	p.wait.add(now, now.Sub(began))
	ctx, cancel := context.WithTimeout(context.Background(), p.Deadline)
	defer cancel()
	if v, _, err = p.call(ctx, m, false); errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w of %v", errLate, p.Deadline)
	}
	p.work.add(now, time.Since(now))
	if p.quick == nil {
		p.breaker.done(time.Now(), trial, err)
	}
	return v, err
}

// place waits for a place among the questions under way.
func (p *Pool) place(owner string) error {
	ctx, cancel := context.WithTimeout(context.Background(), p.Deadline)
	defer cancel()
	if !p.turns.Take(owner, ctx.Done()) {
		return errFull
	}
	return nil
}

// call asks the plugin, directly or by Try, and checks the answer.
func (p *Pool) call(ctx context.Context, m *Message, try bool) (v Verdict, done bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, done, err = Verdict{}, true, fmt.Errorf("it panics: %v", r)
		}
	}()
	if done = true; try {
		v, done, err = p.quick.Try(m)
	} else {
		v, err = p.plugin.Ask(ctx, m)
	}
	if err == nil {
		err = v.Check()
	}
	if err == nil {
		err = v.checkAt(m.Hook)
	}
	if err != nil {
		v = Verdict{}
	}
	return v, done, err
}

// Figures returns the figures of the pool.
func (p *Pool) Figures() Figures {
	now := time.Now()
	f := Figures{
		Asked: p.asked.Load(), Failed: p.failed.Load(), Rested: p.rested.Load(), Crowded: p.crowded.Load(),
		Refused: p.refused.Load(), Held: p.held.Load(), Changed: p.changed.Load(),
		InFlight: int(p.inFlight.Load()), Waiting: p.turns.Waiting(), Work: p.work.times(now), Wait: p.wait.times(now),
	}
	f.RestsUntil, f.FailsSince, f.Failures = p.breaker.rests()
	if text := p.failure.Load(); text != nil {
		f.Failure = *text
	}
	return f
}
