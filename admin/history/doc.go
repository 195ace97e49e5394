// Package history keeps the figures of a gateway for the last hour, in memory.
//
// A Recorder looks at the counters of the connectors every ten seconds and makes a Sample of each connector, and one of the
// whole gateway. Samples are in rings of a fixed size. Rates are differences between two readings; a counter that goes back,
// because its connector was created again, counts as 0.
//
// # Start reading
//
// Recorder in recorder.go, then sample.go (how a sample is made of counts) and series.go (what is shown).
package history
