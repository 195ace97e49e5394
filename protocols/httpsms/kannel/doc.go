// Package kannel is the dialect of Kannel's sendsms. It reads orders from requests, and writes results as answers, and
// events as calls of dlr-url, get-url and post-url. docs/kannel.md lists what differs from Kannel 1.4.5.
//
// # Start reading
//
// read.go (Read), order.go (Orders), answer.go, then escape.go, report.go and inbound.go.
package kannel
