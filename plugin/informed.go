package plugin

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// informed are the messages of which a plugin is informed, without waiting for a verdict.
type informed struct {
	under sync.WaitGroup

	mu     sync.Mutex
	taken  int            // number of places taken
	owners map[string]int // number of places by account
	closed bool           // Close was called
}

// generous is the multiple of the free places that an account may take. So a single account gets nearly all
// places, and another account still finds some.
const generous = 4

// take takes one of a number of places for an account. It reports false if the account may not take one.
func (f *informed) take(owner string, places int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.owners[owner] >= generous*(places-f.taken) {
		return false
	}
	if f.owners == nil {
		f.owners = map[string]int{}
	}
	f.owners[owner]++
	f.taken++
	return true
}

// give gives a place back.
func (f *informed) give(owner string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken--
	if f.owners[owner]--; f.owners[owner] == 0 {
		delete(f.owners, owner)
	}
}

// lastWord is the time that Close waits for a plugin that is being informed.
const lastWord = time.Second

// errClosed means that a plugin was closed before it was informed.
var errClosed = errors.New("the plugin is closed")

// Reserve takes a place for an account among the messages that the plugin is informed of, without waiting. An
// error means that there is no place, and the message is left out. Otherwise Inform follows.
func (p *Pool) Reserve(owner string) error {
	if p.informed.take(owner, p.Workers+p.Queue) {
		return nil
	}
	p.crowded.Add(1)
	return fmt.Errorf("plugin %s: %w", p.Name, errFull)
}

// Inform asks the plugin on another goroutine, and ignores its verdict. failed is called if there is no
// verdict. Inform releases the place of the account.
func (p *Pool) Inform(owner string, m *Message, failed func(error)) {
	if !p.informed.goes(func() {
		defer p.informed.give(owner)
		if d := p.AskFor(owner, m); d.Failure != nil {
			failed(d.Failure)
		}
	}) {
		p.fail(errClosed)
		failed(fmt.Errorf("plugin %s: %w", p.Name, errClosed))
	}
}

// goes calls inform on a new goroutine. It reports false if the plugin is closed.
func (f *informed) goes(inform func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.under.Go(inform)
	return true
}

// end waits up to lastWord for running calls of inform, and then calls stop, which ends the plugin's work.
func (f *informed) end(stop func()) {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	done := make(chan struct{})
	go func() { f.under.Wait(); close(done) }()
	timer := time.NewTimer(lastWord)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	stop()
	<-done
}
