package main

import "testing"

// H15: memory is given back once after a large backlog has been sent.
func TestShouldTrim(t *testing.T) {
	peak := int64(0)
	for i, step := range []struct {
		used int64
		want bool
	}{
		{1 << 20, false}, {100, false}, {1 << 30, false}, {1 << 29, false}, {1 << 20, true}, {1 << 20, false}, {100, false},
		{trimFrom, false}, {trimFrom / 5, true},
	} {
		var trim bool
		if peak, trim = shouldTrim(peak, step.used); trim != step.want {
			t.Errorf("step %d: trim %t at %d", i, trim, step.used)
		}
	}
}
