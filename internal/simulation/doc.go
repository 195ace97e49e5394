// Package simulation runs whole nodes on a virtual clock, with one seed for everything that
// happens: the octets' delays, the peers' faults, the disk's faults, the crashes. The gateway's own code
// runs (conversations, lanes, policy, committer, recovery, loads, outcomes, and sessions of the SMPP
// driver at both ends); the simulation takes the place of an architecture, of the network, of the
// disk, of the clients and of the SMSCs.
//
// All of it happens on one goroutine, in a bubble of testing/synctest. The gateway's own goroutines
// (committer, loads, recovery) run between two events only, and one at a time, because what
// they wait for is an event too.
//
// A seed's history has two phases. In the first everything fails now and then. Before the second
// everything is mended, and within 20 minutes each stored message must have reached its end;
// within 3 hours where there are delivery times, because the wall clock may have been set back.
//
//	go test -v -run TestSimulation ./internal/simulation -args -seed 17
//
// replays the history of a seed, and prints it.
//
// # Start reading
//
// world_test.go, then node_test.go. oracle_test.go has what must hold.
package simulation
