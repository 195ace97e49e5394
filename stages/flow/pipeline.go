package flow

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A Pipeline is a running table of stages.
type Pipeline[J any] struct {
	rows    []*row[J]   // all rows, in the order of the table
	groups  [][]*row[J] // the rows of each group by their index in the table; shared rows are in each
	pool    *Pool[J]
	onPanic func(out *Out[J], stage string, j *J, value any, stack []byte)

	start   time.Time
	startNS int64
	running atomic.Int32 // number of goroutines that work on rows
	procs   int32        // value of GOMAXPROCS
	inline  int          // Options.Inline, with its default
	yield   uint32       // bit mask: rows that yield to all other rows
	stop    chan struct{}
	failed  chan error // buffered for one error
	done    sync.WaitGroup
}

// A row is a stage at run time.
type row[J any] struct {
	p      *Pipeline[J]
	name   string
	index  int
	number int       // number of its group, from 0
	shared bool      // the row is in all groups
	group  []*row[J] // the rows of its group
	to     uint32    // bit mask: rows to which this row may pass jobs
	stage  Stage[J]

	flusher Flusher[J] // flusher, ticker and source are the stage itself, or nil if the stage does not implement them
	ticker  Ticker[J]
	source  Source[J]

	inbox inbox[J]
	waits *waits[J]
	woken chan struct{} // passes the claim to the row's own goroutine
	timer *time.Timer

	// The fields below belong to the goroutine that holds the claim.
	spare  []*J // empty list for inbox.take
	at     int  // index in the batch of the current job
	out    Out[J]
	stats  Stats // counts since the last inbox.take
	tickNS int64 // when Tick is due; 0: Tick is not due
}

// Now returns the time of the pipeline's clock; see Out.Now.
func (p *Pipeline[J]) Now() int64 { return p.startNS + int64(time.Since(p.start)) }

// insert passes jobs to the row from outside of the stages.
func (r *row[J]) insert(jobs ...*J) {
	if r.inbox.put(jobs...) {
		r.wake()
	}
}

// Failed returns a channel that receives one error when a stage cannot work any more. Jobs
// for that stage are not worked on then, so the process should end.
func (p *Pipeline[J]) Failed() <-chan error { return p.failed }

// fail stores the first failure until Failed is received from.
func (p *Pipeline[J]) fail(err error) {
	select {
	case p.failed <- err:
	default:
	}
}

// Close ends the pipeline: it stops the goroutines, works on the remaining jobs, and closes
// the stages in order. The caller must make sure that no more work comes from outside.
func (p *Pipeline[J]) Close() error {
	close(p.stop)
	for _, r := range p.rows {
		if r.source != nil {
			r.source.Wake()
		}
	}
	p.done.Wait()
	p.workOnRest() // first, because functions outside of the stages may wait for one of these jobs
	for more := true; more; more = p.workOnRest() {
		for _, r := range p.rows {
			r.waits.wg.Wait()
		}
	}
	return p.closeStages()
}

// workOnRest works on the remaining jobs until there are none, after the goroutines of the rows
// have ended. It reports whether there were any jobs.
func (p *Pipeline[J]) workOnRest() (any bool) {
	for dry := false; !dry; {
		dry = true
		for _, r := range p.rows {
			if _, waiting := r.inbox.stats(); waiting > 0 {
				dry, any = false, true
				claims, _ := p.runBatch(r)
				p.workOn(r.group, claims)
			}
		}
	}
	return any
}

func (p *Pipeline[J]) closeStages() (first error) {
	for _, r := range p.rows {
		if c, ok := r.stage.(Closer); ok {
			if err := c.Close(); err != nil && first == nil {
				first = fmt.Errorf("cannot close stage %s: %w", r.name, err)
			}
		}
		r.out.cache.Drain()
		r.inbox.count(&r.stats)
		r.stats = Stats{}
	}
	return first
}
