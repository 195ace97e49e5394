// Package body reads the bodies of requests while memory is free. It limits the memory of all bodies together, and
// of the bodies of each account. This memory counts towards limits.memory.
//
// # Start reading
//
// room.go: Room, Claim.
package body
