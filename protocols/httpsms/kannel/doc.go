// Package kannel is the dialect of Kannel's sendsms: its requests become orders, results its answers, events the
// calls of its dlr-url, get-url and post-url. docs/kannel.md lists what differs from Kannel 1.4.5.
//
// # Start reading
//
// read.go (Read), order.go (Orders), answer.go, then escape.go, report.go and inbound.go.
package kannel
