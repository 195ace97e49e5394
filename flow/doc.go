// Package flow runs a pipeline: an ordered table of stages that pass jobs to
// each other over rings. It has never heard of SMS.
//
// One goroutine stands behind each stage, whatever the load. A stage has one
// ring; whoever has jobs for it appends them under one lock and, when nobody is
// working on that stage, becomes its worker: either by running the stage on the
// spot (the usual case at low load, which saves a wake-up) or, when the batch is
// long and a processor is free, by waking the stage's own goroutine. At most one
// goroutine works on a stage at any time, so a stage's fields need no locks.
//
//	producer ──append──► ring ──swap──► batch ──Work──► lists per target ──append──► next rings
//	           1 lock           1 lock                                    1 lock each
//
// The consumer swaps the whole ring for its empty spare, so locks are taken per
// batch and not per job.
//
// # Start reading
//
// stage.go (what a stage is), run.go (how it is run), yield.go (what the Go scheduler
// must not do meanwhile), pool.go (jobs and their count).
package flow
