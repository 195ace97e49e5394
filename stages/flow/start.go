package flow

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Options are the settings of a pipeline.
type Options[J any] struct {
	// Inline is the longest batch that the producer's goroutine works on while processors are free. A
	// longer batch wakes the stage's own goroutine. 0 means 256.
	Inline int
	// OnPanic is called after a stage's panic. j is the job on which the stage worked. j is nil if
	// there was no job, or if the stage had already passed it on. OnPanic may use out.
	OnPanic func(out *Out[J], stage string, j *J, value any, stack []byte)
}

// maxRows is the maximum number of rows: the number of bits in a mask of rows.
const maxRows = 32

// Start makes and starts the stages of a table, in order. If the table is wrong or a stage
// cannot be made, it returns an error and nothing is running.
func Start[D, J any](table []Spec[D, J], deps D, pool *Pool[J], o Options[J]) (*Pipeline[J], error) {
	p, err := build(table, deps, pool, o)
	if err != nil {
		return nil, err
	}
	p.run()
	return p, nil
}

func build[D, J any](table []Spec[D, J], deps D, pool *Pool[J], o Options[J]) (*Pipeline[J], error) {
	targets, err := edges(table)
	if err != nil {
		return nil, err
	}
	p := &Pipeline[J]{
		pool: pool, onPanic: o.OnPanic, inline: o.Inline,
		start: time.Now(), procs: int32(runtime.GOMAXPROCS(0)), stop: make(chan struct{}), failed: make(chan error, 1),
	}
	if p.inline == 0 {
		p.inline = 256
	}
	p.startNS = p.start.UnixNano()
	for i, s := range table {
		stage, err := s.New(deps)
		if err != nil {
			_ = p.closeStages()
			return nil, fmt.Errorf("cannot start stage %s: %w", s.Name, err)
		}
		r := &row[J]{
			p: p, name: s.Name, index: i, to: targets[i], stage: stage, woken: make(chan struct{}, 1),
			timer: time.NewTimer(time.Hour),
		}
		r.timer.Stop()
		r.waits = &waits[J]{limit: s.Waits}
		if s.Waits == 0 {
			r.waits.limit = defaultWaits
		}
		r.out = Out[J]{row: r, lists: make([][]*J, len(table)), cache: pool.NewCache()}
		r.flusher, _ = stage.(Flusher[J])
		r.ticker, _ = stage.(Ticker[J])
		r.source, _ = stage.(Source[J])
		if s.Yields {
			p.yield |= 1 << i
		}
		p.rows = append(p.rows, r)
	}
	return p, nil
}

// edges checks the names of a table. It returns, for each row, the mask of the rows to which the
// row may pass jobs.
func edges[D, J any](table []Spec[D, J]) ([]uint32, error) {
	if len(table) > maxRows {
		return nil, fmt.Errorf("cannot start pipeline: the table has %d stages, at most %d are possible", len(table), maxRows)
	}
	index := make(map[string]int, len(table))
	for i, s := range table {
		if first, ok := index[s.Name]; ok {
			return nil, fmt.Errorf("cannot start pipeline: rows %d and %d of the table have the same name %q", first, i, s.Name)
		}
		index[s.Name] = i
	}
	targets := make([]uint32, len(table))
	for i, s := range table {
		for _, name := range slices.Concat(s.To, s.Ends) {
			to, ok := index[name]
			if !ok {
				return nil, fmt.Errorf("cannot start stage %s: it hands jobs to %q, which is not in the table", s.Name, name)
			}
			targets[i] |= 1 << to
		}
	}
	return targets, nil
}

// run starts the goroutines. It first takes the claims for the first ticks, before any goroutine
// can pass a job to another row.
func (p *Pipeline[J]) run() {
	for _, r := range p.rows {
		if r.ticker != nil && r.inbox.setTick() && r.source == nil { // a source makes its first tick on its own goroutine
			r.wake()
		}
	}
	p.done.Add(len(p.rows))
	for _, r := range p.rows {
		if r.source != nil {
			go p.runSource(r)
		} else {
			go p.runRow(r)
		}
	}
}
