//go:build !race

package store

// How much the long tests do.
const (
	crashSeeds  = 200
	damageSeeds = 200
	faultSteps  = 40 // up to which operation each one is failed; behind it some are left out
)
