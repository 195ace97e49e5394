package flow

import (
	"fmt"
	"math/bits"
)

const (
	// maxTurns is how many batches a goroutine works on before it checks its own row again.
	maxTurns = 128
	// maxSpare is the longest list that an inbox keeps after a burst.
	maxSpare = 1 << 16
)

// runRow is the main function of the goroutine of a row that is not a source.
func (p *Pipeline[J]) runRow(r *row[J]) {
	defer p.done.Done()
	defer r.timer.Stop()
	for {
		select {
		case <-r.woken:
		case <-r.timer.C:
			if !r.inbox.setTick() {
				continue // the goroutine that works on the row will find the job
			}
		case <-p.stop:
			return
		}
		p.running.Add(1)
		p.workOn(r.group, 1<<r.index)
		p.running.Add(-1)
	}
}

// runSource is the main function of a source's goroutine, the only one that works on the source.
func (p *Pipeline[J]) runSource(r *row[J]) {
	defer p.done.Done()
	yielded := p.Now()
	for {
		p.running.Add(1)
		if r.tickNS != 0 && p.Now() >= r.tickNS {
			r.inbox.setTick()
		}
		claims, more := p.runBatch(r)
		claims |= p.poll(r)
		p.workOn(r.group, claims)
		p.running.Add(-1)
		if r.out.now-yielded >= yieldEvery {
			yielded = r.out.now
			goyield()
		}
		select {
		case <-p.stop:
			return
		default:
		}
		if more {
			continue
		}
		if err := r.source.Wait(p.time(r.tickNS)); err != nil {
			p.fail(fmt.Errorf("cannot continue stage %s: %w", r.name, err))
			<-p.stop
			return
		}
	}
}

// poll calls a source's Poll, and returns the claims that the caller has got by passing on jobs.
func (p *Pipeline[J]) poll(r *row[J]) (claims uint32) {
	begin := p.Now()
	r.out.now = begin
	out := r.stats.Out
	r.guard(func() { r.source.Poll(&r.out) })
	claims = p.deliver(r)
	if r.stats.Out != out {
		r.stats.batch(0, p.Now()-begin)
	}
	return claims
}

// workOn works on the rows of a group whose claims the caller holds, and on those whose claims it gets
// meanwhile. It takes the last row first, and rows that yield after all other rows. So the jobs
// closest to the end of the pipeline leave first, and the inboxes of earlier rows gather larger
// batches. After maxTurns it passes the remaining claims to the rows' own goroutines, because
// otherwise the caller's own row could wait forever for rows that always have jobs.
func (p *Pipeline[J]) workOn(group []*row[J], claims uint32) {
	for turn := 0; claims != 0; turn++ {
		if turn == maxTurns {
			wake(group, claims)
			return
		}
		first := claims &^ p.yield
		if first == 0 {
			first = claims
		}
		i := bits.Len32(first) - 1
		more, held := p.runBatch(group[i])
		if !held {
			claims &^= 1 << i
		}
		claims |= more
	}
}

// runBatch works on one batch of a row whose claim the caller holds. It returns the claims
// that the caller has got, and whether it still holds the claim on r.
func (p *Pipeline[J]) runBatch(r *row[J]) (claims uint32, held bool) {
	batch, tick, ok := r.inbox.take(r.spare[:0], &r.stats)
	if !ok {
		return 0, false
	}
	begin := p.Now()
	r.out.now = begin
	if tick || r.tickNS != 0 && begin >= r.tickNS {
		r.tick()
	}
	for i := 0; i < len(batch); {
		i = r.workFrom(batch, i)
	}
	if r.flusher != nil && len(batch) > 0 {
		r.guard(func() { r.flusher.Flush(&r.out) })
	}
	clear(batch)
	r.spare = batch
	if cap(batch) > maxSpare {
		r.spare = nil
	}
	claims = p.deliver(r)
	r.stats.batch(len(batch), p.Now()-begin)
	return claims, true
}

// deliver puts the jobs that the stage sent into their targets' inboxes, and returns the
// claims that the caller now holds. Rows get their jobs in the order of the table, so that a login is answered
// before the dispatcher gives its session a message.
func (p *Pipeline[J]) deliver(r *row[J]) (claims uint32) {
	claims = p.put(r, &r.out.near, r.group)
	for i := range r.out.groups {
		p.put(r, &r.out.groups[i], p.groups[i])
	}
	return claims
}

// put puts jobs for rows of a group into their inboxes, and returns the claims that the caller now holds. It passes
// a claim on immediately if the target is a source or does not work beside r, or if the batch is long and a processor is
// free.
func (p *Pipeline[J]) put(r *row[J], s *sending[J], group []*row[J]) (claims uint32) {
	for s.used != 0 {
		i := bits.TrailingZeros32(s.used)
		s.used &^= 1 << i
		list := s.lists[i]
		r.stats.Out += int64(len(list))
		target := group[i]
		if target.inbox.put(list...) {
			if target.source != nil || !r.beside(target) || len(list) > p.inline && p.running.Load() < p.procs {
				target.wake()
			} else {
				claims |= 1 << i
			}
		}
		clear(list)
		s.lists[i] = list[:0]
	}
	return claims
}

// beside reports whether a goroutine that works on r may also work on the target. It may work on the rows of one group,
// or on shared rows: otherwise one group would wait while its goroutine works for another.
func (r *row[J]) beside(target *row[J]) bool {
	return len(r.p.groups) == 1 || r.shared == target.shared && r.number == target.number
}

// wake passes the caller's claims on rows of a group on to the rows' own goroutines.
func wake[J any](group []*row[J], claims uint32) {
	for ; claims != 0; claims &= claims - 1 {
		group[bits.TrailingZeros32(claims)].wake()
	}
}

// wake wakes the row's own goroutine, which gets the claim that the caller holds on the row.
func (r *row[J]) wake() {
	if r.source != nil {
		r.source.Wake()
		return
	}
	r.woken <- struct{}{} // never blocks, because a row has only one claim
}
