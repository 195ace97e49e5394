// Package system tests pmg as it is run: as a process of its own, under the load of package loadtest. It is killed, stopped,
// handed its sockets, starved of descriptors and disk, upgraded, and three of it are a cluster. Nothing that was accepted may be
// missing behind that.
//
// # Start reading
//
// system_test.go (the program), kill_test.go, then cluster_test.go.
package system
