package node

import (
	"testing"
	"time"
)

// The time that a batch takes does not count as a step of the clock.
func TestWallClockIsSteady(t *testing.T) {
	c := Clock{WallClock: func() time.Time { return time.Unix(0, now+leastStep/2) }}
	c.See(now)
	if n := c.Ahead(); n != 0 {
		t.Errorf("%d ns ahead", n)
	}
}
