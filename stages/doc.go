// Package stages is the gateway's pipeline: twelve stages, each in its own file, in the order of the table in
// pipeline.go. The stages know no protocol. They call the connector's driver and session.
//
// # Start reading
//
// pipeline.go (the table), job.go (the jobs between stages), handle.go and gate.go (a
// session and when it is read), then reader.go to writer.go in the order of the table.
package stages
