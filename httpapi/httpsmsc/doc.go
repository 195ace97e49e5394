// Package httpsmsc is the client of SMSCs with an HTTP API: it sends a lane's messages, manages the tokens of calls, and
// accepts the receipts and messages from mobiles that an SMSC delivers by callbacks.
//
// # Start reading
//
// smsc.go (SMSC), then courier.go, inbound.go and tokens.go.
package httpsmsc
