// Command pmg is an SMS protocol gateway, and what tests, measures and watches it.
//
// Here is only the wiring: which protocols and architectures there are, and a
// file for each subcommand. "pmg help" lists the subcommands.
//
// # Exit status
//
//	0  the command did what was asked
//	1  it could not, or what it found is not as it should be: a message missing,
//	   a configuration that cannot be used. The reason is on standard error.
//
// # Start reading
//
// main.go (the subcommands), server.go (a gateway from its configuration), then
// serve.go.
package main
