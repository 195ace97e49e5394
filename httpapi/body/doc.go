// Package body reads the bodies of requests while there is memory for them: those of all clients together, and those of each
// account, have a bound, and what they take is counted with everything else in limits.memory.
//
// # Start reading
//
// room.go: Room, Claim.
package body
