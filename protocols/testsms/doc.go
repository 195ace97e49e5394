// Package testsms is the protocol of connectors that lead to no SMSC: what becomes of a message is decided by the last digit of
// its recipient. Package sandbox is the SMSC.
//
// # Start reading
//
// Endings (ending.go), then ConnectorOptions.
package testsms
