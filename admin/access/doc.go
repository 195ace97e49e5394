// Package access decides which callers may use which requests of the admin listener.
//
// A request over the unix socket may do everything, because the mode of the socket's file limits who may open
// it. A request over TCP may do what the scope of its token allows. If the configuration has no tokens,
// requests may only look, and only on a loopback address.
//
// # Start reading
//
// guard.go (callers and their scopes), audit.go (the audit log), token.go, then socket.go.
package access
