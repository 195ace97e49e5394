package loadtest

import (
	"testing"
	"time"
)

// A message is due from the time that it is planned for, and the plan keeps the rate.
func TestPlan(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0.1, 1, 60, 99.5, 1000, 3000, 7777, 100_000, 1_000_000} {
		p := newPlan(1000, rate)
		if slot := time.Duration(p.slot); slot < minSlot || slot > maxSlot {
			t.Errorf("rate %g: slot of %v", rate, slot)
		}
		for i := int64(0); i < 5000; i += 7 {
			at := p.at(i)
			if before, from := p.due(at-1), p.due(at); i > 0 && before > i || from <= i {
				t.Errorf("rate %g: message %d planned at %d; due then %d, just before %d", rate, i, at, from, before)
			}
			exact := 1000 + float64(i)/rate*1e9
			if off := float64(at) - exact; off < -1e-6*exact || off > float64(p.slot)+1e-6*exact {
				t.Errorf("rate %g: message %d planned %g ns from its time", rate, i, off)
			}
		}
	}
}
