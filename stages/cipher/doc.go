// Package cipher turns a session's octets into those of TLS and back. It knows no socket: what the peer
// has sent is given to a Conn, and what the peer is to be sent is taken from it. Nothing blocks, and no goroutine
// belongs to a Conn once its handshake is done, so one goroutine serves any number of sessions.
//
// # Start reading
//
// conn.go.
package cipher
