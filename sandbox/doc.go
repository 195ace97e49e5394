// Package sandbox is an SMSC without a socket, for connectors of protocol test: messages do not leave. Package testsms says
// what becomes of each.
//
// # Start reading
//
// SMSC (smsc.go), then schedule.go (what the SMSC will bring).
package sandbox
