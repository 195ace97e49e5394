// Package testsms is the protocol of connectors that lead to no SMSC: the last digit of the recipient decides
// the outcome of a message. Package sandbox is the SMSC.
//
// # Start reading
//
// Endings (ending.go), then ConnectorOptions.
package testsms
