// Package mail sends mail to customers by the SMTP server of the operator (section mail).
//
//	Add ──► waiting, in memory ──► attempt ──► sent
//	                  ▲               │
//	                  └── later ◄─────┴──► lost: refused for good, or too old
//
// The client is net/smtp. It is frozen, which means that it gets no new features, and all that is missing here is the mechanism
// LOGIN (login.go). It refuses line ends in commands, and works on a connection of ours, on which one deadline ends every wait.
//
// # Start reading
//
// sender.go, then attempt.go.
package mail
