// Package flow runs a pipeline: an ordered table of stages that pass jobs to
// each other. It has never heard of SMS.
//
// One goroutine stands behind each stage, whatever the load. A stage has one
// inbox. A producer puts jobs into it under one lock, a whole list at a time, and
// holds the claim on the stage when no other goroutine works on it. It then works on the stage
// itself (the usual case at low load, which saves a wake-up), or wakes the stage's own
// goroutine when the batch is long and a processor is free. At most one goroutine
// works on a stage at any time, so a stage's fields need no locks.
//
//	producer ──put──► inbox ──take──► batch ──Work──► lists per target ──put──► next inboxes
//	         1 lock          1 lock                                     1 lock each
//
// The worker takes the whole list and leaves its empty one, so locks are taken per
// batch and not per job. Inboxes grow without a limit and putting never blocks, because
// a table may have cycles, in which inboxes with a limit could wait for each other.
// What enters the pipeline must be limited at its sources.
//
// # Start reading
//
// stage.go (what a stage is), inbox.go (the claim and its states), schedule.go (which
// goroutine works on what), panic.go, timer.go, wait.go (work that must wait), start.go and pipeline.go
// (beginning and end), yield.go (what the Go scheduler must not do meanwhile), pool.go
// (jobs and their count).
package flow
