package timetext

import (
	"testing"
	"time"
)

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": 0, "100ms": 100 * time.Millisecond, "10s": 10 * time.Second, "1m": time.Minute,
		"1m30s": 90 * time.Second, "24h": 24 * time.Hour, "1h30m": 90 * time.Minute, "1h0m1s": time.Hour + time.Second,
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%s is written %s", d, got)
		}
	}
}
