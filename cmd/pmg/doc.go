// Command pmg is an SMS protocol gateway with the tools to test, measure and operate it.
//
// The package contains the wiring of protocols and the pipeline, and a file for each
// subcommand. "pmg help" lists the subcommands.
//
// # Exit status
//
//	0  the command succeeded
//	1  it failed, or found a problem such as a missing message or a configuration that
//	   cannot be used. The reason is on standard error.
//
// "pmg serve -h" lists two more.
//
// # Start reading
//
// main.go (the subcommands), server.go (a gateway from its configuration), then
// serve.go.
package main
