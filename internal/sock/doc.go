// Package sock makes non-blocking sockets for pollers: listening, accepted and
// connecting ones, with the options a messaging gateway wants on all of them:
// no delay of small writes, and keep-alive.
//
// # Start reading
//
// sock.go (from Listen to Connected), then rw_linux.go for why reads and writes are
// system calls of their own.
package sock
