// Package sock makes non-blocking sockets for pollers: listening sockets, accepted
// connections, and connections that package net has opened. Small writes are not delayed,
// and keep-alive is on.
//
// # Start reading
//
// sock.go (from Listen to Take), rw_linux.go for why reads and writes are system
// calls of their own, limit.go (descriptors).
package sock
