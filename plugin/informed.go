package plugin

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// informed are the messages that a plugin is informed of: nobody waits for what it says.
type informed struct {
	places atomic.Int64 // taken by Reserve
	under  sync.WaitGroup

	mu     sync.Mutex
	closed bool // Close was called
}

// lastWord is how long Close waits for a plugin that is being informed.
const lastWord = time.Second

// errClosed is that a plugin was closed before it was informed.
var errClosed = errors.New("it is closed")

// Reserve takes a place among the messages that the plugin is informed of, and does not wait for one. With an error, which says
// that there is none, the message is left out. Otherwise Inform follows.
func (p *Pool) Reserve() error {
	if p.informed.places.Add(1) <= int64(p.Workers+p.Queue) {
		return nil
	}
	p.informed.places.Add(-1)
	p.crowded.Add(1)
	return fmt.Errorf("plugin %s: %w", p.Name, errFull)
}

// Inform asks the plugin on another goroutine, and ignores its verdict. failed is called if there is none.
func (p *Pool) Inform(m *Message, failed func(error)) {
	p.informed.mu.Lock()
	defer p.informed.mu.Unlock()
	if p.informed.closed {
		p.fail(errClosed)
		failed(fmt.Errorf("plugin %s: %w", p.Name, errClosed))
		return
	}
	p.informed.under.Go(func() {
		defer p.informed.places.Add(-1)
		if d := p.Ask(m); d.Failure != nil {
			failed(d.Failure)
		}
	})
}

// end waits a moment for a plugin that is being informed, and calls stop, which ends that.
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
