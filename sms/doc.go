// Package sms is the protocol-neutral SMS: a message, its addresses and the
// result of trying to move it. It knows no protocol, no socket and no clock.
//
// # Start reading
//
// message.go (what a message is and who owns its bytes), then code.go (results).
package sms
