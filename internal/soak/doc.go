// Package soak runs a whole gateway for long, with peers that misbehave.
//
//	the SMS centre    throttles, unbinds and closes in the middle of a window,
//	                  closes behind a login, answers late and twice, and never
//	                  has room for one destination
//	clients           send garbage, stop in the middle of a PDU, never read,
//	                  guess passwords and go without a word
//	further clients   log in, send a few messages, log out and come again
//
// Meanwhile others send load. Every message that was accepted must arrive, but
// those for the one destination, which are given up. A message may come twice
// only if its connection was lost or its answer late, and that is counted.
// Goroutines, heap, live jobs and descriptors must not grow, and at the end
// nothing may be left. The package holds tests only.
//
//	make soak DURATION=10m
//
// # Start reading
//
// soak_test.go (the gateway and what must hold), then faults_test.go and
// again_test.go (the clients), and watch_test.go (what must not grow).
package soak
