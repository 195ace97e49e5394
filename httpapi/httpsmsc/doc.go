// Package httpsmsc is the client of SMSCs that are called by HTTP: it sends a lane's messages, keeps the tokens that calls
// need, and takes the receipts and messages from mobiles that an SMSC brings.
//
// # Start reading
//
// smsc.go (SMSC), then courier.go, inbound.go and tokens.go.
package httpsmsc
