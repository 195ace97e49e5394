//go:build !race

package testutil

// Race says whether the race detector looks on. It has sync.Pool forget a quarter of what it is given.
const Race = false
