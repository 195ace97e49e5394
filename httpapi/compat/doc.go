// Package compat answers the clients of other gateways, Kannel and Jasmin, in the form that they expect. Their octets are
// read and written by protocols/httpsms/kannel and protocols/httpsms/jasmin.
//
// # Start reading
//
// kannel.go (sendsms), then jasmin.go and status.go.
package compat
