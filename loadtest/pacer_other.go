//go:build !linux

package loadtest

import "time"

// A pacer wakes its goroutine once per slot. On systems without kernel timers as files it
// is as exact as Go's own timers are.
type pacer struct {
	ticker *time.Ticker
	closed chan struct{}
}

func newPacer(slot time.Duration) (*pacer, error) {
	return &pacer{time.NewTicker(slot), make(chan struct{})}, nil
}

// wait sleeps until the next slot, or not at all when one has passed already.
// It returns false once the pacer is closed.
func (p *pacer) wait() bool {
	select {
	case <-p.ticker.C:
		return true
	case <-p.closed:
		return false
	}
}

func (p *pacer) close() {
	p.ticker.Stop()
	close(p.closed)
}
