// Package sample has places for each kind of mutant.
package sample

import "errors"

// Limit is the most that Clamp returns.
const Limit = 10

var errNegative = errors.New("negative")

// Clamp returns n, and Limit if that is less.
func Clamp(n int) (int, error) {
	if n < 0 {
		return 0, errNegative
	}
	if n > Limit {
		n = Limit
	}
	return n, nil
}

// Counter counts.
type Counter struct{ n, calls int }

// Add adds n, unless the counter is closed or n is odd.
func (c *Counter) Add(n int, closed, odd bool) bool {
	c.calls++
	if closed || odd {
		return false
	}
	c.n += n
	return true
}

// Unused is executed by no test.
func Unused(a, b bool) bool { return a && !b }
