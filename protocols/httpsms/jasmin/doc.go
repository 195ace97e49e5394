// Package jasmin is the dialect of Jasmin's HTTP and REST interfaces. It reads orders from requests, and writes results
// as answers, and events as calls of dlr-url. docs/jasmin.md lists what differs from Jasmin.
//
// # Start reading
//
// read.go (Read), fields.go, order.go (Orders), answer.go, then batch.go and report.go, inbound.go.
package jasmin
