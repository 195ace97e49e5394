package flow

import (
	"cmp"
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
	// Groups is how many groups of rows there are. Each has the rows of the table that are not shared. 0 means 1.
	Groups int
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
	p.groups = make([][]*row[J], max(o.Groups, 1))
	for g := range p.groups {
		p.groups[g] = make([]*row[J], len(table))
	}
	for i, s := range table {
		if s.Yields {
			p.yield |= 1 << i
		}
		for g, group := range p.groups {
			if s.Shared && g > 0 {
				group[i] = p.groups[0][i]
				continue
			}
			stage, err := s.New(deps)
			if err != nil {
				_ = p.closeStages()
				return nil, fmt.Errorf("cannot start stage %s: %w", s.Name, err)
			}
			group[i] = &row[J]{
				p: p, name: s.Name, index: i, number: g, shared: s.Shared, group: group, to: targets[i],
				waits: &waits[J]{limit: cmp.Or(s.Waits, defaultWaits)},
			}
			if n := group[i].label(); n > 0 {
				group[i].name = fmt.Sprintf("%s/%d", s.Name, n)
			}
			group[i].begin(stage)
			p.rows = append(p.rows, group[i])
		}
	}
	return p, nil
}

// label returns the number of the row's group for people, from 1; 0: the row is shared, or there is one group.
func (r *row[J]) label() int {
	if len(r.p.groups) == 1 || r.shared {
		return 0
	}
	return r.number + 1
}

// begin gives the row its stage.
func (r *row[J]) begin(stage Stage[J]) {
	r.stage, r.woken, r.timer = stage, make(chan struct{}, 1), time.NewTimer(time.Hour)
	r.timer.Stop()
	r.out = r.newOut()
	r.flusher, _ = stage.(Flusher[J])
	r.ticker, _ = stage.(Ticker[J])
	r.source, _ = stage.(Source[J])
}

// newOut makes an Out for the row.
func (r *row[J]) newOut() Out[J] {
	o := Out[J]{row: r, near: sending[J]{lists: make([][]*J, len(r.group))}, cache: r.p.pool.NewCache()}
	if n := len(r.p.groups); n > 1 {
		o.groups = make([]sending[J], n)
		for g := range o.groups {
			o.groups[g].lists = make([][]*J, len(r.group))
		}
	}
	return o
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
