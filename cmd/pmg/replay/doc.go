// Package replay sends the submits of pdu logs again, in a session of its own.
//
// # Start reading
//
// player.go (Player).
package replay
