//go:build race

package store

// The race detector, with which pebble also checks itself, makes the long tests take ten times
// as long. What they find without it they would not find more of.
const (
	crashSeeds  = 20
	damageSeeds = 20
	faultSteps  = 4
)
