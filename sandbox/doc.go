// Package sandbox is an SMSC without a socket, for connectors of protocol test: messages do not leave. Package testsms decides
// how each message ends.
//
// # Start reading
//
// SMSC (smsc.go), then schedule.go (later deliveries).
package sandbox
