//go:build race

package store

// The race detector, with which pebble also checks itself, makes the long tests take ten times
// as long. They look for lost messages, which the detector does not help to find.
const (
	crashSeeds  = 20
	damageSeeds = 20
	faultSteps  = 4
)
