// Package sock makes non-blocking sockets for pollers: listening, accepted and
// connecting ones, all without delay of small writes and with keep-alive.
//
// # Start reading
//
// sock.go (from Listen to Connected), rw_linux.go for why reads and writes are system
// calls of their own, limit.go (descriptors).
package sock
