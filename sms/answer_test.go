package sms

import "testing"

// Each refusal is counted in all of them, and by its reason.
func TestTally(t *testing.T) {
	t.Parallel()
	var one Tally
	for _, code := range []Code{Throttled, BadDestination, Throttled, Blocked, OptedOut, NoCredit, codes, 255} {
		one.Refuse(code)
	}
	got := map[Code]int64{}
	one.RefusedBy(func(why Code, n int64) { got[why] = n })
	if one.Refused.Load() != 8 || len(got) != 6 || got[Throttled] != 2 || got[BadDestination] != 1 || got[Blocked] != 1 || got[OptedOut] != 1 || got[NoCredit] != 1 || got[Undecided] != 2 {
		t.Errorf("%d: %v", one.Refused.Load(), got)
	}
}
