package flow

import "time"

// A Stage turns jobs into jobs. Work is never called concurrently on one value,
// so its fields need no locks. It owns the job it is given and gives it up
// exactly once: hands it on with Out.To, releases it, or keeps it until it can
// do either.
type Stage[J any] interface {
	Work(out *Out[J], j *J)
}

// A Flusher is a Stage whose Flush is called at the end of each batch.
type Flusher[J any] interface{ Flush(out *Out[J]) }

// A Ticker is a Stage whose Tick is called once when the pipeline starts, and again
// when the duration that it returned last has passed, or one asked for with
// Out.TickIn. 0 means: not before a TickIn.
type Ticker[J any] interface {
	Tick(out *Out[J]) time.Duration
}

// A Source is a Stage that also waits for the outside. Its work is done on its
// own goroutine only.
type Source[J any] interface {
	Stage[J]
	// Wait parks until something outside is ready, Wake is called, or the time until
	// has come. until has a monotonic clock reading; the zero time means forever.
	// An error ends the stage's work for good, and makes the pipeline fail.
	Wait(until time.Time) error
	// Wake ends a Wait, or the next one if none is going on. Any goroutine may call it.
	Wake()
	// Poll handles what is ready outside, without waiting.
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
	Yields bool     // a goroutine works on it after all other rows that it has to work on
	Waits  int      // how many of its functions may run together (Out.Go); 0: 16
	New    func(D) (Stage[J], error)
}

// Out is what a stage hands its jobs on with. It belongs to the stage.
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

// Now is the time of the batch in Unix nanoseconds. It never goes back, because it is
// the wall clock at the pipeline's start plus the monotonic time since: good for
// deadlines and durations. It differs from the wall clock when that has been set.
func (o *Out[J]) Now() int64 { return o.now }

// Get takes an empty job.
func (o *Out[J]) Get() *J { return o.cache.Get() }

// Release gives up one reference to j; the last one sends it back to the pool.
func (o *Out[J]) Release(j *J) { o.cache.Release(j) }

// Forget leaves j to the garbage collector, when a panic hides what else may hold it.
func (o *Out[J]) Forget(j *J) { o.cache.forget() }

// CountRef notes that the stage changed a reference count that stages share.
func (o *Out[J]) CountRef() { o.row.stats.Refs++ }

// TickIn asks for a call of Tick after d at the latest.
func (o *Out[J]) TickIn(d time.Duration) { o.row.tickAt(o.now + int64(d)) }
