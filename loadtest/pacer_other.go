//go:build !linux

package loadtest

import "time"

// A pacer wakes its goroutine once a slot. Where there is no kernel timer to be
// had as a file, it is as exact as Go's own timers are.
type pacer struct {
	ticker *time.Ticker
	closed chan struct{}
}

func newPacer(slot time.Duration) (*pacer, error) {
	return &pacer{time.NewTicker(slot), make(chan struct{})}, nil
}

// wait sleeps until the next slot, or not at all when one has passed already.
// It tells false once the pacer is closed.
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
