// Package bench measures a gateway that runs as a process of its own: throughput, latency
// and cost, of one architecture compared with another and with a plain TCP relay. Load and
// sink run in this process.
//
//	this process                 child process            this process
//	Load ── submit_sm ──► gateway, or haproxy ── submit_sm ──► Sink
//	                         │
//	    /proc, its CPU clock, /metrics and /status, before and after
//
// # One run
//
// Every run has a new child and a new sink, so that the peak of memory belongs to the run.
// First a quarter of the messages is sent to warm up. Then all connections bind, the
// child's counters are read, the messages are sent, and when the last one is answered and
// has arrived at the sink, the counters are read again. So the figures do not include the
// costs of logging in and out, and the cost of reading the counters is subtracted.
//
// # Noise
//
// The speed of machines changes with time. So runs that are compared alternate, and the
// matrix runs backwards in every other round. The figures are medians over the rounds,
// with their spread. Compare figures within one set of results only.
//
// # Start reading
//
// setting.go (the settings that vary), sample.go (the metrics), run.go (one run),
// matrix.go (all runs); relay.go, latency.go, isolation.go and backlog.go are further
// measurements. results.go and check.go compare the results with the targets; table.go,
// chart.go, report.go and markdown.go show them.
package bench
