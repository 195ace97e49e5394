// Package httpsms is the protocol http: requests that submit messages, and calls that tell clients
// what became of them.
//
// An Order is what a request asks for, whichever dialect it is written in; a Context is what of that
// the client is to get back with each call. The dialects are packages of their own below this one:
// each reads requests, and writes answers and calls, as its peers have them. Like every driver they
// are pure: octets go in and out, and no dialect knows a socket.
//
// # Start reading
//
// order.go (Order), context.go (Context), event.go (Event, Call), then driver.go.
package httpsms
