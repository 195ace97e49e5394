// Package httpsms is the protocol http: requests that submit messages, and calls of clients with
// the events of these.
//
// An Order is a message that a request asks for, in any dialect; a Context is the part of the order that the
// client gets back with each call. The dialects are packages below this one. Each dialect reads requests, and
// writes answers and calls, in the form of its peers. Like every driver, a dialect has no side effects and no
// socket.
//
// # Start reading
//
// order.go (Order), context.go (Context), event.go (Event, Call), then driver.go.
package httpsms
