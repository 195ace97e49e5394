// Package console has functions for programs that a person runs at a terminal: a context
// that an interrupt ends, a progress bar, a table, and an error made from a list of problems.
//
// # Start reading
//
// progress.go, then console.go.
package console
