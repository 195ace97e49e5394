// Package session is the gateway's side of its sessions, whichever architecture moves the octets: a Conversation does
// what the sessions' state machines ask for, and reaches the stages through a Port, as it does the simulation. It knows no
// protocol and no socket.
//
// Sessions is what all sessions share: which clients may connect, the counts and log entries of a session's life,
// and how many submits wait for room. A Conversation belongs to one goroutine. A gateway may have several, over
// which its sessions are spread; package accept keeps the receipts of a message in order over them.
//
// # Start reading
//
// conversation.go (the actions of sessions) and its parts: entrance.go and recipients.go (what comes, for package
// accept), executor.go (where that goes on), waitroom.go and pressing.go (what has no room), pairer.go (answers of peers),
// logins.go, backlog.go, replies.go (what peers are sent); sockets.go, session.go, timers.go, links.go, logout.go and
// peers.go (the life of a session).
package session
