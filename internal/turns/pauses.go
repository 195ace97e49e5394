package turns

import (
	"maps"
	"sync"
	"time"
)

// Bounds on work that costs by what is asked for.
const (
	pauseFactor = 4               // how much longer an owner pauses behind a piece of work than that took
	shortTime   = time.Second / 4 // an owner does not pause after a piece that took less than this time
)

// Pauses are turns for work that costs by what is asked for, such as the days of statistics: an owner pauses behind a piece by
// what it took. It is safe for concurrent use.
type Pauses struct {
	turns *Turns[string]

	mu    sync.Mutex
	after map[string]time.Time // until when owners pause
}

// NewPauses returns places for work, and room for most pieces of work that wait for a place.
func NewPauses(places, most int) *Pauses {
	return &Pauses{turns: New[string](places, most), after: map[string]time.Time{}}
}

// Begin waits for a place until gone is closed. It returns nil if there is none, or if the owner pauses; otherwise done follows.
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
