package flow

import "time"

// A Stage turns jobs into jobs. Work is never called concurrently on one value, so a
// stage's fields need no locks. Work owns its job, and must do one of these exactly once:
// hand it on with Out.To, release it, or keep it until it can do either.
type Stage[J any] interface {
	Work(out *Out[J], j *J)
}

// A Flusher is a Stage whose Flush is called at the end of each batch.
type Flusher[J any] interface{ Flush(out *Out[J]) }

// A Ticker is a Stage whose Tick is called once when the pipeline starts, and again after
// the duration that it returned, or after one passed to Out.TickIn. If it returns 0, it is
// called again only after TickIn.
type Ticker[J any] interface {
	Tick(out *Out[J]) time.Duration
}

// A Source is a Stage that also waits for outside events. Only its own goroutine works on
// it.
type Source[J any] interface {
	Stage[J]
	// Wait waits for an outside event, for Wake, or for the time until. until has a
	// monotonic clock reading; the zero time means forever. An error ends the stage's
	// work, and makes the pipeline fail.
	Wait(until time.Time) error
	// Wake ends the current Wait, or the next one if there is none. Any goroutine may call
	// it.
	Wake()
	// Poll handles the outside events that are ready, without waiting.
	Poll(out *Out[J])
}

// A Closer is a Stage whose Close is called when the pipeline ends.
type Closer interface{ Close() error }

// A Spec is one row of the pipeline.
type Spec[D, J any] struct {
	Name   string   // metric label, log attribute, row of the diagram
	Doc    string   // one line, for ARCHITECTURE.md and `pmg stages`
	To     []string // the rows it hands jobs to
	Ends   []string // further rows, to which it hands jobs when something ends
	Yields bool     // a goroutine works on it only when it has no other rows to work on
	Waits  int      // how many of its functions may run together (Out.Go); 0: 16
	New    func(D) (Stage[J], error)
}

// An Out hands on the jobs of a stage. It belongs to the stage.
type Out[J any] struct {
	row   *row[J]
	lists [][]*J // by target row
	used  uint32 // rows whose list is not empty
	now   int64
	cache Cache[J]
}

// To hands j to the row with that index in the table.
func (o *Out[J]) To(row int, j *J) {
	o.row.p.check(o.row, row, j)
	o.lists[row] = append(o.lists[row], j)
	o.used |= 1 << row
}

// Now returns the time of the batch in Unix nanoseconds. It never goes back, because it is
// the wall clock at the pipeline's start plus the monotonic time since then. It is meant
// for deadlines and durations, and differs from the wall clock after that was set.
func (o *Out[J]) Now() int64 { return o.now }

// Get returns an empty job.
func (o *Out[J]) Get() *J { return o.cache.Get() }

// Release releases one reference to j. The last one returns j to the pool.
func (o *Out[J]) Release(j *J) { o.cache.Release(j) }

// Forget leaves j to the garbage collector. It is for use after a panic, when it is not
// known whether the stage still holds j.
func (o *Out[J]) Forget(j *J) { o.cache.forget() }

// CountRef counts a change of a reference count that stages share.
func (o *Out[J]) CountRef() { o.row.stats.Refs++ }

// TickIn asks for a call of Tick after d at the latest.
func (o *Out[J]) TickIn(d time.Duration) { o.row.tickAt(o.now + int64(d)) }
