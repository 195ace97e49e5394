// Package convert makes messages ones that the peers of a lane take: their addresses by the rules of rewrite,
// their protocol, their alphabet, their length. It does so when a message comes in, and again when it leaves, because
// it may leave by another connector than it came in for.
//
// # Start reading
//
// converter.go, encode.go (read and written), text.go, long.go and overlong.go (parts), lost.go (between protocols),
// addresses.go.
package convert
