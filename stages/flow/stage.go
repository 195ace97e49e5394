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

// A Ticker is a Stage whose Tick is called once when the pipeline starts. Tick is called again
// after the duration that it returned, or after a duration passed to Out.TickIn. If Tick returns 0,
// it is called again only after TickIn.
type Ticker[J any] interface {
	Tick(out *Out[J]) time.Duration
}

// A Source is a Stage that also waits for outside events. Only its own goroutine works on
// it.
type Source[J any] interface {
	Stage[J]
	// Wait waits for an outside event, for Wake, or for the time until. until has a monotonic clock
	// reading; the zero time means that the wait has no time limit. An error ends the stage's work, and
	// makes the pipeline fail.
	Wait(until time.Time) error
	// Wake ends the current Wait. If there is no current Wait, it ends the next one. Any goroutine may
	// call it.
	Wake()
	// Poll handles the outside events that are ready, without waiting.
	Poll(out *Out[J])
}

// A Closer is a Stage whose Close is called when the pipeline ends.
type Closer interface{ Close() error }

// A Spec is the specification of one row of the pipeline.
type Spec[D, J any] struct {
	Name   string   // used as metric label, log attribute, and name in the diagram
	Doc    string   // one line of text, for ARCHITECTURE.md and `pmg stages`
	To     []string // names of the rows to which the row passes jobs
	Ends   []string // names of further rows, to which the row passes jobs when something ends
	Yields bool     // a goroutine works on the row only if it has no other rows to work on
	Shared bool     // there is one row for all groups
	Waits  int      // how many functions of the row may run at the same time (Out.Go); 0: 16
	New    func(D) (Stage[J], error)
}

// An Out passes on the jobs of a stage. Each stage has its own Out.
type Out[J any] struct {
	row    *row[J]
	near   sending[J]   // jobs for rows of the own group and for shared rows
	groups []sending[J] // jobs for rows of each group; nil if there is one group
	now    int64
	cache  Cache[J]
}

// A sending holds jobs on their way to rows.
type sending[J any] struct {
	lists [][]*J // jobs by target row
	used  uint32 // bit mask: rows whose list is not empty
}

func (s *sending[J]) add(row int, j *J) {
	s.lists[row] = append(s.lists[row], j)
	s.used |= 1 << row
}

// To passes j to the row with this index in the table: a shared row, or that of the own group.
func (o *Out[J]) To(row int, j *J) {
	o.row.p.check(o.row, row, j)
	o.row.p.checkNear(o.row, row)
	o.near.add(row, j)
}

// ToGroup passes j to a row of a group. A shared row gets it whatever the group is.
func (o *Out[J]) ToGroup(group, row int, j *J) {
	r := o.row
	if o.groups == nil || r.group[row].shared || !r.shared && group == r.number {
		o.To(row, j)
		return
	}
	r.p.check(r, row, j)
	o.groups[group].add(row, j)
}

// Group returns the number of the stage's group. That of a shared row is 0.
func (o *Out[J]) Group() int { return o.row.number }

// Now returns the time of the batch in Unix nanoseconds. The time never goes back, because it is
// the wall clock at the pipeline's start plus the monotonic time since then. It is meant for
// deadlines and durations. It differs from the wall clock after the wall clock was set.
func (o *Out[J]) Now() int64 { return o.now }

// Get returns an empty job.
func (o *Out[J]) Get() *J { return o.cache.Get() }

// Release releases one reference to j. Releasing the last reference returns j to the pool.
func (o *Out[J]) Release(j *J) { o.cache.Release(j) }

// Forget leaves j to the garbage collector. It is for use after a panic, when it is not
// known whether the stage still holds j.
func (o *Out[J]) Forget(j *J) { o.cache.forget() }

// CountRef counts a change of a reference count that several stages share.
func (o *Out[J]) CountRef() { o.row.stats.Refs++ }

// TickIn requests a call of Tick after d at the latest.
func (o *Out[J]) TickIn(d time.Duration) { o.row.tickAt(o.now + int64(d)) }
