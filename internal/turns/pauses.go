package turns

import (
	"maps"
	"sync"
	"time"
)

// Pauses after expensive work.
const (
	pauseFactor = 4               // length of a pause, relative to the duration of the work before it
	shortTime   = time.Second / 4 // there is no pause after work that took less than this time
)

// Pauses are turns for work whose duration depends on the request, such as statistics. After the work, the owner pauses for a
// multiple of the work's duration. It is safe for concurrent use.
type Pauses struct {
	turns *Turns[string]

	mu    sync.Mutex
	after map[string]time.Time // time until which each owner pauses
}

// NewPauses returns a number of places for work, and room for most waiting pieces of work.
func NewPauses(places, most int) *Pauses {
	return &Pauses{turns: New[string](places, most), after: map[string]time.Time{}}
}

// Begin waits for a place until gone is closed. It returns nil if there is none, or if the owner pauses; otherwise the caller
// must call done.
func (p *Pauses) Begin(owner string, gone <-chan struct{}) (done func()) {
	p.mu.Lock()
	pauses := time.Now().Before(p.after[owner])
	p.mu.Unlock()
	if pauses || !p.turns.Take(owner, gone) {
		return nil
	}
	began := time.Now()
	return func() {
		p.turns.Give()
		p.mu.Lock()
		defer p.mu.Unlock()
		now := time.Now()
		maps.DeleteFunc(p.after, func(_ string, until time.Time) bool { return !now.Before(until) })
		if took := now.Sub(began); took > shortTime {
			p.after[owner] = now.Add(pauseFactor * took)
		}
	}
}
