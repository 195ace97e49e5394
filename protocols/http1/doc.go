// Package http1 reads requests of HTTP/1.1 and of HTTP/1.0 (RFC 9112), and writes answers to them. Section signs in comments
// refer to sections of RFC 9112.
//
// Like every driver, it has no socket, clock, goroutine or log: it reads octets that are in memory, and appends octets. It
// allocates nothing.
//
// # Foreign requests
//
// The package takes only a request whose end and meaning cannot be read in two ways. Everything else is foreign: also what
// is legal but rare, and what is illegal. A foreign request is no error. The connection is handed over, with all octets
// that were received behind the latest request taken, to a general server, which answers as it always has. So
// nothing that this package refuses changes for a client, and what it takes must be what net/http reads from the same octets.
//
// A caller that serves only some paths hands over a taken request with another path in the same way.
//
// net/http skips up to four CR and LF before a request that follows a POST. Here these octets are foreign. A general
// server that gets the connection has not seen the POST, so the caller removes them when it hands over behind one.
//
// # Start reading
//
// request.go (Extent, Read, Request), head.go (how the head is read), fields.go (which fields are foreign), then answer.go.
package http1
