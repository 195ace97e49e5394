package flow

import (
	"fmt"
	"math/bits"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Pipeline is a running table of stages.
type Pipeline[J any] struct {
	rows    []*row[J]
	pool    *Pool[J]
	waiters waiters
	onPanic func(out *Out[J], stage string, j *J, value any, stack []byte)

	start   time.Time
	startNS int64
	running atomic.Int32 // goroutines at work on rows
	procs   int32
	inline  int
	yield   uint32 // rows that yield to all others
	stop    chan struct{}
	done    sync.WaitGroup
}

// A row is one stage at run time.
type row[J any] struct {
	p     *Pipeline[J]
	name  string
	index int
	to    uint32 // rows it may hand to
	stage Stage[J]

	flusher Flusher[J]
	ticker  Ticker[J]
	source  Source[J]

	mu      sync.Mutex
	ring    []*J // jobs nobody has taken yet
	busy    bool // somebody works on this row, or has been woken to
	tickDue bool
	shared  Stats // what was counted up to the last swap

	// The rest belongs to whoever works on the row.
	spare  []*J
	at     int // index of the job at work
	out    Out[J]
	stats  Stats
	wake   chan struct{}
	timer  *time.Timer
	tickNS int64 // when Tick is due; 0: never
}

// Options are a pipeline's few settings.
type Options[J any] struct {
	// Inline is the longest batch that is worked on by its producer's goroutine
	// while processors are free; longer ones wake the stage's own. 0: 256.
	Inline int
	// OnPanic is told when a stage panicked. j is the job it was at, nil when the
	// job had already been handed on or there was none. It may use out.
	OnPanic func(out *Out[J], stage string, j *J, value any, stack []byte)
}

// Start builds and starts the stages of a table, in its order.
func Start[D, J any](table []Spec[D, J], deps D, pool *Pool[J], o Options[J]) (*Pipeline[J], error) {
	p := &Pipeline[J]{
		pool: pool, onPanic: o.OnPanic, inline: o.Inline,
		start: time.Now(), procs: int32(runtime.GOMAXPROCS(0)), stop: make(chan struct{}),
	}
	if p.inline == 0 {
		p.inline = 256
	}
	p.startNS = p.start.UnixNano()
	index := make(map[string]int, len(table))
	for i, s := range table {
		index[s.Name] = i
	}
	for i, s := range table {
		stage, err := s.New(deps)
		if err != nil {
			p.closeStages()
			return nil, fmt.Errorf("cannot start stage %s: %w", s.Name, err)
		}
		r := &row[J]{p: p, name: s.Name, index: i, stage: stage, wake: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
		if s.Yields {
			p.yield |= 1 << i
		}
		for _, to := range slices.Concat(s.To, s.Ends) {
			r.to |= 1 << index[to]
		}
		r.out = Out[J]{row: r, lists: make([][]*J, len(table)), cache: pool.NewCache()}
		r.flusher, _ = stage.(Flusher[J])
		r.ticker, _ = stage.(Ticker[J])
		r.source, _ = stage.(Source[J])
		r.timer.Stop()
		r.tickDue = r.ticker != nil
		p.rows = append(p.rows, r)
	}
	for _, r := range p.rows { // before anybody hands them jobs
		if r.tickDue && r.source == nil {
			r.busy = true
			r.wake <- struct{}{}
		}
	}
	for _, r := range p.rows {
		p.done.Add(1)
		if r.source != nil {
			go p.runSource(r)
		} else {
			go p.runRow(r)
		}
	}
	return p, nil
}

// Now is the pipeline's clock; see Out.Now.
func (p *Pipeline[J]) Now() int64 { return p.startNS + int64(time.Since(p.start)) }

// Inject hands a job to a row from outside the stages.
func (p *Pipeline[J]) Inject(row int, j *J) {
	if r := p.rows[row]; r.push(j) {
		r.rouse()
	}
}

// push appends jobs to the ring and tells whether the caller has become
// responsible for the row's being worked on.
func (r *row[J]) push(jobs ...*J) bool {
	r.mu.Lock()
	r.ring = append(r.ring, jobs...)
	r.shared.Locks++
	claimed := !r.busy
	r.busy = true
	r.mu.Unlock()
	return claimed
}

// depth is how many jobs nobody has taken yet.
func (r *row[J]) depth() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ring)
}

// rouse passes the claim on the row to its own goroutine.
func (r *row[J]) rouse() {
	if r.source != nil {
		r.source.Wake()
		return
	}
	r.wake <- struct{}{}
}

func (p *Pipeline[J]) runRow(r *row[J]) {
	defer p.done.Done()
	defer r.timer.Stop()
	for {
		select {
		case <-r.wake:
		case <-r.timer.C:
			if !r.claimTick() {
				continue
			}
		case <-p.stop:
			return
		}
		p.work(1 << r.index)
	}
}

func (r *row[J]) claimTick() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tickDue = true
	claimed := !r.busy
	r.busy = true
	return claimed
}

func (p *Pipeline[J]) runSource(r *row[J]) {
	defer p.done.Done()
	yielded := p.Now()
	for {
		p.running.Add(1)
		if r.tickNS != 0 && p.Now() >= r.tickNS {
			r.claimTick()
		}
		claimed, more := p.step(r)
		claimed |= p.poll(r)
		p.workOn(claimed)
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
		if !more {
			r.source.Wait(r.tickNS)
		}
	}
}

func (p *Pipeline[J]) poll(r *row[J]) (claimed uint32) {
	begin := p.Now()
	r.out.now = begin
	out := r.stats.Out
	p.guard(r, func() { r.source.Poll(&r.out) })
	claimed = p.flush(r)
	if r.stats.Out != out {
		r.stats.batch(0, p.Now()-begin)
	}
	return claimed
}

// work runs the rows of mask and whatever falls to this goroutine from them.
func (p *Pipeline[J]) work(mask uint32) {
	p.running.Add(1)
	p.workOn(mask)
	p.running.Add(-1)
}

// workOn takes the last row first, those that yield after all others, so that what
// is nearest to the outside goes out first and the rings in front of it gather a
// batch. After so many turns it passes what is left to the rows' own goroutines: the
// caller's own row must not wait for others that never run dry.
func (p *Pipeline[J]) workOn(mask uint32) {
	for turn := 0; mask != 0; turn++ {
		if turn == maxTurns {
			p.rouse(mask)
			return
		}
		first := mask &^ p.yield
		if first == 0 {
			first = mask
		}
		i := bits.Len32(first) - 1
		claimed, more := p.step(p.rows[i])
		if !more {
			mask &^= 1 << i
		}
		mask |= claimed
	}
}

// maxTurns is how many batches a goroutine works on before it looks at its own row again.
const maxTurns = 128

// rouse passes the claims on rows to their own goroutines.
func (p *Pipeline[J]) rouse(mask uint32) {
	for ; mask != 0; mask &= mask - 1 {
		p.rows[bits.TrailingZeros32(mask)].rouse()
	}
}

// step works on one batch of a row. It returns the rows that fell to the caller,
// and whether r still does: if not, it has been let go.
func (p *Pipeline[J]) step(r *row[J]) (claimed uint32, more bool) {
	r.mu.Lock()
	batch := r.ring
	tick := r.tickDue
	r.shared.add(&r.stats)
	r.stats = Stats{}
	r.shared.Locks++
	if len(batch) == 0 && !tick {
		r.busy = false
		r.mu.Unlock()
		return 0, false
	}
	r.ring = r.spare[:0]
	r.tickDue = false
	r.mu.Unlock()

	begin := p.Now()
	r.out.now = begin
	if tick || r.tickNS != 0 && begin >= r.tickNS {
		r.tick()
	}
	for i := 0; i < len(batch); {
		i = r.workFrom(batch, i)
	}
	if r.flusher != nil && len(batch) > 0 {
		p.guard(r, func() { r.flusher.Flush(&r.out) })
	}
	clear(batch)
	if cap(batch) > maxSpare {
		batch = nil
	}
	r.spare = batch
	claimed = p.flush(r)
	r.stats.batch(len(batch), p.Now()-begin)
	return claimed, true
}

// maxSpare is the longest ring that is kept after a burst.
const maxSpare = 1 << 16

// workFrom is the panic boundary: it works on batch[i:] and returns where to go on.
func (r *row[J]) workFrom(batch []*J, i int) (next int) {
	defer func() {
		if v := recover(); v != nil {
			next = r.at + 1
			r.p.panicked(r, batch[r.at], v)
		}
	}()
	for ; i < len(batch); i++ {
		r.at = i
		r.p.check(r, r.index, batch[i])
		r.stage.Work(&r.out, batch[i])
	}
	return i
}

// guard runs the parts of a stage that are not about one job.
func (p *Pipeline[J]) guard(r *row[J], f func()) {
	defer func() {
		if v := recover(); v != nil {
			p.panicked(r, nil, v)
		}
	}()
	f()
}

func (p *Pipeline[J]) panicked(r *row[J], j *J, v any) {
	r.stats.Panics++
	for _, list := range r.out.lists {
		for _, sent := range list {
			if sent == j {
				j = nil // somebody else's by now
			}
		}
	}
	if p.onPanic == nil {
		return
	}
	defer func() {
		if again := recover(); again != nil && j != nil {
			p.panicked(r, nil, again) // tell of that too, without the job
		}
	}()
	p.onPanic(&r.out, r.name, j, v, debug.Stack())
}

// await runs f, which may wait, outside the stages, and hands j on.
func (p *Pipeline[J]) await(r *row[J], to int, j *J, f func()) {
	defer func() {
		if v := recover(); v != nil {
			p.panickedOutside(r, j, v)
		}
	}()
	f()
	p.Inject(to, j)
}

// panickedOutside is panicked for a goroutine that does not work on r, and so needs
// an Out of its own.
func (p *Pipeline[J]) panickedOutside(r *row[J], j *J, v any) {
	own := &row[J]{p: p, name: r.name, index: r.index, to: r.to}
	own.out = Out[J]{row: own, lists: make([][]*J, len(p.rows)), now: p.Now(), cache: p.pool.NewCache()}
	p.panicked(own, j, v)
	claimed := p.flush(own)
	own.out.cache.Drain()
	r.mu.Lock()
	r.shared.add(&own.stats)
	r.mu.Unlock()
	p.rouse(claimed)
}

func (r *row[J]) tick() {
	r.tickNS = 0
	var d time.Duration
	r.p.guard(r, func() { d = r.ticker.Tick(&r.out) })
	if d > 0 {
		r.tickAt(r.out.now + int64(d))
	}
}

func (r *row[J]) tickAt(ns int64) {
	if r.tickNS != 0 && r.tickNS <= ns {
		return
	}
	r.tickNS = ns
	if r.source == nil { // a source waits until tickNS by itself
		r.timer.Reset(time.Duration(ns - r.p.Now()))
	}
}

// flush appends what the stage sent to the rings of its targets and returns the
// rows that fell to this goroutine.
func (p *Pipeline[J]) flush(r *row[J]) (claimed uint32) {
	o := &r.out
	for o.used != 0 {
		i := bits.TrailingZeros32(o.used)
		o.used &^= 1 << i
		list := o.lists[i]
		r.stats.Out += int64(len(list))
		target := p.rows[i]
		if target.push(list...) {
			if target.source != nil || len(list) > p.inline && p.running.Load() < p.procs {
				target.rouse()
			} else {
				claimed |= 1 << i
			}
		}
		clear(list)
		o.lists[i] = list[:0]
	}
	return claimed
}

// Close ends the pipeline: the goroutines stop, the rings are run dry, the
// stages closed in order. The caller has seen to it that no more work comes.
func (p *Pipeline[J]) Close() error {
	close(p.stop)
	for _, r := range p.rows {
		if r.source != nil {
			r.source.Wake()
		}
	}
	p.done.Wait()
	for dry := false; !dry; {
		dry = true
		p.waiters.wait()
		for _, r := range p.rows {
			if r.depth() > 0 {
				dry = false
				claimed, _ := p.step(r)
				p.workOn(claimed)
			}
		}
	}
	return p.closeStages()
}

func (p *Pipeline[J]) closeStages() (first error) {
	for _, r := range p.rows {
		if c, ok := r.stage.(Closer); ok {
			if err := c.Close(); err != nil && first == nil {
				first = fmt.Errorf("cannot close stage %s: %w", r.name, err)
			}
		}
		r.out.cache.Drain()
		r.mu.Lock()
		r.shared.add(&r.stats)
		r.stats = Stats{}
		r.mu.Unlock()
	}
	return first
}
