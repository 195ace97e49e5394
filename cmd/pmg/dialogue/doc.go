// Package dialogue is a session with an SMSC, or with a gateway, for commands that log in as a client.
//
// # Start reading
//
// dialogue.go (Dialogue), dial.go (Address).
package dialogue
