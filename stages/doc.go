// Package stages is the gateway's pipeline: ten stages, a file each, in the
// order of the table in pipeline.go. None of them knows a protocol: they call
// the connector's driver and session.
//
// # Start reading
//
// pipeline.go (the table), job.go (what is passed), handle.go and gate.go (a session
// and when it is read), then reader.go to writer.go in the order of the table.
package stages
