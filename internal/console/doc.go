// Package console has what the programs share that a person runs at a terminal and waits
// for: an end at the first interrupt, progress, and an error made of problems.
//
// # Start reading
//
// progress.go; console.go has the rest.
package console
