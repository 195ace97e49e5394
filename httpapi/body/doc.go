// Package body reads the bodies of requests while memory is free: the bodies of all clients together, and
// those of each account, are limited, and their memory is counted in limits.memory with everything else.
//
// # Start reading
//
// room.go: Room, Claim.
package body
