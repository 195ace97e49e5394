// Package probe tests an SMSC: whether it can be reached, its certificates, whether it accepts a login, how fast it
// answers, and how many unanswered messages it accepts. It writes each result when it has it, and then the options of
// a connector to the SMSC.
//
// # Start reading
//
// Command (command.go), Run (probe.go). The session is in package dialogue.
package probe
