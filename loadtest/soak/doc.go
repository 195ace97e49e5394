// Package soak runs a whole gateway for long, with peers that misbehave.
//
//	the SMSC    throttles, unbinds and closes in the middle of a window, closes
//	                  after a login, answers late and twice, and never has room for
//	                  one destination
//	clients           send garbage, stop in the middle of a PDU, never read, guess
//	                  passwords and disconnect without a logout
//	further clients   log in, send a few messages, log out and connect again
//
// Meanwhile other clients send load. Every accepted message must arrive, except those for
// the one destination, which are given up. A message may arrive twice only if its
// connection was lost or its answer late, and the test counts those cases. Goroutines,
// heap, live jobs and descriptors must not grow, and at the end none may be left. The
// package contains tests only.
//
//	make soak DURATION=10m
//
// # Start reading
//
// soak_test.go (the gateway and what must hold), then faults_test.go and
// again_test.go (the clients), and watch_test.go (the resources that must not grow).
package soak
