// Package reference shows people the contract of our own API: its operations with their members, examples and problems.
//
// # Start reading
//
// pages.go (Pages), contract.go (what the page shows of the contract), examples.go.
package reference
