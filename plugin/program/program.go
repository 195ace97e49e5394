// Package program is the plugin that runs a program, and exchanges lines of JSON with it: questions on its stdin,
// verdicts on its stdout.
//
// # Start reading
//
// program.go (workers and their back-off), process.go (one process), attributes_linux.go (attributes of a process).
package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"pmg/plugin"
)

// Options are the command and the limits of a program.
type Options struct {
	Command []string          // the program and its arguments
	Dir     string            // working directory; "": the gateway's
	User    string            // user that the program runs as; "": the gateway's user. Another user needs root
	Workers int               // processes; 0: 1
	Log     func(line string) // is called with lines of the program's stderr; nil: the lines are dropped
}

// The back-off of a worker whose process has failed: it doubles until there is an answer.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 30 * time.Second
)

// A Program asks the processes of a program. It is safe for concurrent use.
//
// Each worker has up to one process. A process is started if no other process is free for a question. It gets one
// question at a time. A process that fails is killed, and its worker pauses.
type Program struct {
	options     Options
	log         stderrLog
	ready, idle chan *worker // free workers: with a process, and without a process
	ctx         context.Context
	cancel      context.CancelFunc
	failure     atomic.Pointer[string] // text of the latest failure; nil: there was an answer since then
	running     sync.WaitGroup         // goroutines of processes

	mu        sync.Mutex
	processes map[*process]bool // processes that may be running; nil: the program is closed
}

// A worker is used by one goroutine at a time, the one that has taken it.
type worker struct {
	process *process // nil: none
	asked   uint64   // number of questions
	pause   time.Duration
	from    time.Time // earliest time for starting the next process
}

// New makes a plugin. The program starts at the first question.
func New(o Options) *Program {
	o.Workers = max(o.Workers, 1)
	p := &Program{
		options: o, log: stderrLog{to: o.Log}, ready: make(chan *worker, o.Workers), idle: make(chan *worker, o.Workers),
		processes: map[*process]bool{},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for range o.Workers {
		p.idle <- &worker{}
	}
	return p
}

var errClosed = errors.New("it is closed")

// Ask implements plugin.Plugin. If ctx ends while a process works on the message, that process is killed.
func (p *Program) Ask(ctx context.Context, m *plugin.Message) (plugin.Verdict, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return plugin.Verdict{}, err
	}
	w, err := p.take(ctx)
	if err != nil {
		return plugin.Verdict{}, err
	}
	v, err := p.ask(ctx, w, text)
	if err != nil {
		text := err.Error()
		p.failure.Store(&text)
		w.fail(time.Now())
		p.rest(w)
		return plugin.Verdict{}, err
	}
	p.failure.Store(nil)
	w.pause = 0
	p.ready <- w
	return v, nil
}

// take returns a worker for a question.
func (p *Program) take(ctx context.Context) (*worker, error) {
	for {
		w, err := p.next(ctx)
		if err != nil {
			return nil, err
		}
		if w.process != nil && w.process.hasEnded() {
			w.fail(w.process.at)
		}
		if time.Now().Before(w.from) {
			p.rest(w)
			continue
		}
		return w, nil
	}
}

// next returns a free worker, one with a process if there is any.
func (p *Program) next(ctx context.Context) (*worker, error) {
	if p.ctx.Err() != nil {
		return nil, errClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case w := <-p.ready:
		return w, nil
	default:
	}
	select {
	case w := <-p.ready:
		return w, nil
	case w := <-p.idle:
		return w, nil
	case <-p.ctx.Done():
		return nil, errClosed
	case <-ctx.Done():
		if text := p.failure.Load(); text != nil {
			return nil, fmt.Errorf("the program has failed, and no process was free before the deadline: %s", *text)
		}
		return nil, ctx.Err()
	}
}

// fail removes the process of a worker, and sets its back-off from a time on.
func (w *worker) fail(at time.Time) {
	w.pause = min(max(2*w.pause, firstPause), longestPause)
	w.process, w.from = nil, at.Add(w.pause)
}

// rest makes a worker available again after its back-off.
func (p *Program) rest(w *worker) {
	time.AfterFunc(time.Until(w.from), func() { p.idle <- w })
}

// ask asks the process of a worker, which is started if there is none.
func (p *Program) ask(ctx context.Context, w *worker, message []byte) (v plugin.Verdict, err error) {
	if w.process == nil {
		if w.process, err = p.start(); err != nil {
			return v, err
		}
	}
	w.asked++
	return w.process.ask(ctx, w.asked, message)
}

// start starts a process.
func (p *Program) start() (*process, error) {
	user, err := credential(p.options.User)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.processes == nil {
		return nil, errClosed
	}
	started, process := make(chan error, 1), newProcess()
	p.running.Go(func() {
		process.run(&p.options, user, &p.log, started)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.processes, process)
	})
	if err := <-started; err != nil {
		return nil, fmt.Errorf("cannot start it: %w", err)
	}
	p.processes[process] = true
	return process, nil
}

// Close implements plugin.Plugin. It kills the processes, and returns when they have ended.
func (p *Program) Close() {
	p.cancel()
	p.mu.Lock()
	all := p.processes
	p.processes = nil
	p.mu.Unlock()
	for process := range all {
		process.kill(errClosed)
	}
	p.running.Wait()
}

// signalGroup kills a process and its group.
func signalGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
