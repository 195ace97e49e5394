// Package peers runs the gateway against programs that others wrote: SMPP and UCP libraries as
// clients and as SMSCs, and Kannel. It has nothing but tests.
//
// One table (peers) has a row for each peer, and two (clientScenarios, smscScenarios) have one
// for each thing that a peer does. Every scenario is run with every peer and checked from both
// ends: what the library reports, and what the test's own client or SMSC has seen behind the
// gateway. make peers prints what came of each, and writes it to docs/compatibility.md. Where a
// library cannot do something, the row of the peer says why, and the scenario is not run.
//
// A library is driven by a small program in its own language, which reads requests as lines of
// JSON and prints events (wire_test.go). To add a peer takes such a program and a row.
//
// # Start reading
//
// peers_test.go, then client_test.go and wire_test.go.
package peers
