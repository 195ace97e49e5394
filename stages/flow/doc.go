// Package flow runs a pipeline: an ordered table of stages that pass jobs to each other.
// It knows nothing of SMS.
//
// Each stage has one goroutine and one inbox, whatever the load. A producer puts a whole
// list of jobs into the inbox under one lock. If no other goroutine works on the stage, the
// producer gets the claim on it. It then works on the stage itself, which is the usual case
// at low load and saves a wake-up. If the batch is long and a processor is free, it wakes
// the stage's own goroutine instead. At most one goroutine works on a stage at any time, so
// a stage's fields need no locks.
//
//	producer ──put──► inbox ──take──► batch ──Work──► lists per target ──put──► next inboxes
//	         1 lock          1 lock                                     1 lock each
//
// The worker takes the whole list and leaves an empty one, so locks are taken per batch
// and not per job. Inboxes have no limit and putting never blocks, because a table may have
// cycles, in which stages could wait for each other's inboxes forever. The number of jobs
// must be limited at the sources.
//
// # Groups
//
// A table can run in several groups (Options.Groups): each has its own rows, with goroutines and inboxes, but for the
// shared rows, which are in all of them. A goroutine works on the rows of one group, or on shared rows.
//
// # Start reading
//
// stage.go (the interface of a stage), inbox.go (the claim and its states), schedule.go
// (which goroutine works on which stage), panic.go, timer.go, wait.go (blocking work),
// start.go and pipeline.go (start and end), yield.go (a break for Go's scheduler), pool.go
// (jobs and their count).
package flow
