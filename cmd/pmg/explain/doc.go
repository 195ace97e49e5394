// Package explain says what a gateway with a configuration would do with a message: the
// rules that change its addresses, the lists, the route, the peers that it may leave by,
// and the coding of its text. It needs no running gateway, so it does not know which peers
// are connected.
//
// # Start reading
//
// Ask (explain.go), then text.go, which writes an Answer in English.
package explain
