// Package bench measures a gateway that runs as a process of its own: what it
// moves, how late it answers and what it costs, for one architecture against
// another and against a plain TCP relay. Load and sink run in this process.
//
//	this process                 child process            this process
//	Load ── submit_sm ──► gateway, or haproxy ── submit_sm ──► Sink
//	                         │
//	    /proc, its CPU clock, /metrics and /status, before and after
//
// # One run
//
// Every run has a fresh child and a fresh sink, so peak memory is the run's own.
// A quarter of the messages goes ahead to warm up. Then all connections bind,
// the child is looked at, the messages are sent, and when the last is answered
// and has come to the sink the child is looked at again: the costs of logging
// in and out are not in the figures, nor is the looking.
//
// # Noise
//
// Machines drift. Whatever is compared alternates run by run, in the matrix every
// other round backwards; the figures are medians over the rounds, with their
// spread. Compare within one set of results, never across.
//
// # Start reading
//
// setting.go (what is varied), sample.go (what is measured), run.go (one run),
// matrix.go (all of them); relay.go, latency.go, isolation.go and backlog.go ask
// something else. results.go and check.go hold what came out against the
// targets; table.go, chart.go, report.go and markdown.go show it.
package bench
