// Package httpsms is the protocol http: requests that submit messages, and calls of clients with
// the events of these.
//
// An Order is what a request asks for, in any dialect; a Context is the part of it that the client
// gets back with each call. The dialects are packages below this one. Each reads requests, and
// writes answers and calls, in the form of its peers. Like every driver they are pure: octets go in
// and out, and no dialect knows a socket.
//
// # Start reading
//
// order.go (Order), context.go (Context), event.go (Event, Call), then driver.go.
package httpsms
