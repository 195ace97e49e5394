//go:build race

package testutil

// Race reports whether the race detector is on. With it, sync.Pool drops a quarter of its items.
const Race = true
