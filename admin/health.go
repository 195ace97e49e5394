package admin

import (
	"fmt"
	"sync"
	"time"

	"pmg/stages/flow"
)

// stallTime is the time after which a stage with jobs and without a finished batch counts as stalled.
const stallTime = 5 * time.Second

// A Progress detects stalled stages by comparing their counters at each request. It takes two requests, stallTime apart, to
// detect a stage.
type Progress struct {
	mu    sync.Mutex
	waits map[string]wait
}

// A wait records when a stage was first seen with jobs in its inbox and this number of
// finished batches.
type wait struct {
	batches int64
	since   time.Time
}

// NewProgress returns a Progress that has seen no stage yet.
func NewProgress() *Progress { return &Progress{waits: map[string]wait{}} }

// Stalled returns a line for each stalled stage.
func (p *Progress) Stalled(stages []flow.Stats) (problems []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for _, s := range stages {
		w, waited := p.waits[s.Name]
		switch {
		case s.Depth == 0:
			delete(p.waits, s.Name)
		case !waited || w.batches != s.Batches:
			p.waits[s.Name] = wait{s.Batches, now}
		case now.Sub(w.since) >= stallTime:
			problems = append(problems, fmt.Sprintf("stage %s has made no progress for %s with %d jobs in its inbox",
				s.Name, now.Sub(w.since).Round(time.Second), s.Depth))
		}
	}
	return problems
}
