// Package probe finds out what an SMSC is like: whether it can be reached, its certificates, whether it
// takes a login, how fast it answers, and how many messages it takes together. It writes what it finds as it
// goes, and then the options of a connector to it.
//
// # Start reading
//
// Command (command.go), Run (probe.go), tls.go (certificates), dialogue.go (a session).
package probe
