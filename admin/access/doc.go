// Package access has the ways to the admin listener, and what those who come by them may ask for.
//
// # Start reading
//
// socket.go (the unix socket, whose mode decides who may open it).
package access
