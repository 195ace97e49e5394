//go:build !linux

package bench

import "errors"

// usageOf returns an error, because only Linux has the counters.
func usageOf(int) (usage, error) {
	return usage{}, errors.New("cannot measure a process: only Linux has the necessary counters")
}
