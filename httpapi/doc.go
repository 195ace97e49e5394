// Package httpapi serves the connectors of protocol http: it reads requests, has their clients log in, and has
// what they ask for carried out by the gateway's rooms, which decide about it as they do for any other protocol.
// Each dialect is a file of its own, over the package that knows its octets.
//
// # Goroutines
//
// Connections are those of net/http, which has a goroutine for each. Their number is that of the connector's
// instances; limits.prebind and limits.prebind_per_address count those on which nobody has logged in yet.
//
// # Start reading
//
// engine.go (Over), listener.go (connections), exchange.go (a request and its answer), then own.go.
package httpapi
