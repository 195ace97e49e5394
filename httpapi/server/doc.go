// Package server reads the requests of a connector of protocol http and writes their answers, whatever their dialect:
// connections, logins, bodies, and the pdu log.
//
// # Goroutines
//
// The pipeline has a connection until a request comes that it leaves to net/http (socket.go), which has a goroutine for each
// of its connections. There may be as many connections as the connector has instances; limits.prebind and
// limits.prebind_per_address limit those on which nobody has logged in yet.
//
// # Start reading
//
// listener.go (Listen), admitting.go (who may connect), exchange.go (a request and its answer).
package server
