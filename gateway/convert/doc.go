// Package convert converts messages to what the peers of a lane accept: addresses (by the rules of rewrite), protocol,
// alphabet and length. It converts a message when it comes in, and again when it leaves, because the message may leave by
// another connector than it came in for.
//
// # Start reading
//
// converter.go, encode.go (read and written), text.go, long.go and overlong.go (parts), lost.go (between protocols),
// addresses.go.
package convert
