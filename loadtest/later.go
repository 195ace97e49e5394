package loadtest

import (
	"slices"
	"sync"
	"time"
)

// later holds deliveries until their time comes. They wait in batches, one for each
// millisecond.
type later struct {
	sink *Sink
	wake chan struct{}

	mu    sync.Mutex
	ticks []int64 // the milliseconds of the batches, the latest first
	at    map[int64][]delivery
}

func newLater(s *Sink) *later {
	return &later{sink: s, wake: make(chan struct{}, 1), at: map[int64][]delivery{}}
}

const tick = int64(time.Millisecond)

// add has a delivery dispatched after a time.
func (l *later) add(after time.Duration, d *delivery) {
	at := (l.sink.now()+int64(after))/tick + 1
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, known := l.at[at]
	l.at[at] = append(batch, *d)
	if known {
		return
	}
	i, _ := slices.BinarySearchFunc(l.ticks, at, func(a, b int64) int { return int(b - a) })
	l.ticks = slices.Insert(l.ticks, i, at)
	if i == len(l.ticks)-1 { // it is now the first that is due
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// due takes the batches whose time has come, and returns how long it is to the next one.
func (l *later) due(now int64) (batches [][]delivery, next time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := len(l.ticks) - 1; n >= 0; n-- {
		at := l.ticks[n]
		if at*tick > now {
			return batches, time.Duration(at*tick - now)
		}
		batches = append(batches, l.at[at])
		delete(l.at, at)
		l.ticks = l.ticks[:n]
	}
	return batches, time.Hour
}

// run dispatches deliveries until the sink closes.
func (l *later) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		batches, next := l.due(l.sink.now())
		for _, batch := range batches {
			l.sink.dispatch(batch)
		}
		timer.Reset(next)
		select {
		case <-timer.C:
		case <-l.wake:
		case <-l.sink.closing:
			return
		}
	}
}
