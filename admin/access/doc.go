// Package access decides who may ask the admin listener for what.
//
// A request over the unix socket may do everything, because the mode of its file says who may open it. One over TCP
// may do what the scope of its token allows. Where the configuration has no tokens, it may look, on a loopback address
// alone.
//
// # Start reading
//
// guard.go (who asks, and what they may), audit.go (what they did), token.go, then socket.go.
package access
