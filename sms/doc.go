// Package sms defines the protocol-neutral SMS: a message, its addresses, and the
// result of an attempt to send it. It knows no protocol, no socket and no clock.
//
// # Start reading
//
// message.go (a message and the storage of its octets), then code.go (results).
package sms
