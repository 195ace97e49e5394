// Package server reads the requests of a connector of protocol http and writes their answers, whatever their dialect:
// connections, logins, bodies, and the pdu log.
//
// # Goroutines
//
// Connections are those of net/http, which has a goroutine for each. Their number is that of the connector's instances;
// limits.prebind and limits.prebind_per_address count those on which nobody has logged in yet.
//
// # Start reading
//
// listener.go (Listen), admitting.go (who may connect), exchange.go (a request and its answer).
package server
