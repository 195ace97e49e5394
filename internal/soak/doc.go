// Package soak runs a whole gateway for long, with peers that misbehave: an SMS
// centre that throttles and hangs up, clients that send garbage, stop in the
// middle of a PDU, never read and go without a word. Meanwhile others send load,
// and every message of theirs must arrive; at the end nothing may be left. It
// holds tests only.
//
//	make soak DURATION=10m
//
// # Start reading
//
// soak_test.go (the gateway and what must hold), then faults_test.go.
package soak
