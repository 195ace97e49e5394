package flow

import "sync"

// An inbox holds the jobs in front of a row until the row's worker takes them, all
// together. It also decides which goroutine the worker is: the one that holds the row's
// claim, so that two never work on one row at the same time.
//
//	            put, setTick                 take
//	  ┌────┐   (the caller now   ┌───────┐  (the holder   ┌───────┐ take (finds jobs
//	─►│idle├───────────────────►│claimed├───────────────►│running├─┐ or a tick):
//	  └────┘   holds the claim)  └───────┘   begins)      └───────┘ │ the next batch
//	     ▲                                                  │   ▲   │
//	     └──────────────────────────────────────────────────┘   └───┘
//	                     take (finds nothing)
//
// The holder of a claim works on the row itself, or passes the claim to the row's own
// goroutine (row.wake). Jobs that are put while the row is claimed or running change
// nothing about the claim, because its holder takes them before it gives up the claim.
type inbox[J any] struct {
	mu      sync.Mutex
	state   inboxState
	jobs    []*J
	tickDue bool
	counted Stats // counts of the row's workers up to their latest take
}

type inboxState uint8

const (
	idle    inboxState = iota // no goroutine works on the row, and the row has nothing to do
	claimed                   // a goroutine has the claim on the row but has not begun to work
	running                   // a goroutine works on the row
)

// put appends jobs and reports whether the caller now holds the claim.
func (b *inbox[J]) put(jobs ...*J) (claim bool) {
	b.mu.Lock()
	b.jobs = append(b.jobs, jobs...)
	b.counted.Locks++
	claim = b.claim()
	b.mu.Unlock()
	return claim
}

// setTick records that Tick is due and reports whether the caller now holds the claim.
func (b *inbox[J]) setTick() (claim bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tickDue = true
	return b.claim()
}

// claim takes the claim if the row is idle, and reports whether it did. The caller holds
// the lock.
func (b *inbox[J]) claim() bool {
	if b.state != idle {
		return false
	}
	b.state = claimed
	return true
}

// take returns the jobs, and whether Tick is due. If there are no jobs and no Tick is due, ok is
// false and the caller has lost its claim. The inbox uses the empty list spare for the next jobs.
// take adds the counts of done to the inbox's counts.
func (b *inbox[J]) take(spare []*J, done *Stats) (jobs []*J, tick, ok bool) {
	b.mu.Lock()
	b.counted.add(done)
	*done = Stats{} // reset here, because without the claim done belongs to the next worker
	b.counted.Locks++
	jobs, tick = b.jobs, b.tickDue
	if len(jobs) == 0 && !tick {
		b.state = idle
		b.mu.Unlock()
		return nil, false, false
	}
	b.state, b.jobs, b.tickDue = running, spare, false
	b.mu.Unlock()
	return jobs, tick, true
}

func (b *inbox[J]) count(done *Stats) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted.add(done)
}

// stats returns the counts, and the number of waiting jobs.
func (b *inbox[J]) stats() (counted Stats, waiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counted, len(b.jobs)
}
