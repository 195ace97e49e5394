package cluster

import (
	"strings"
	"testing"
)

// A line is written when a share is passed, not at each measurement, and again when there was room meanwhile.
func TestFullLog(t *testing.T) {
	t.Parallel()
	var l fullLog
	for i, c := range []struct {
		share float64
		rises bool
	}{{0.4, false}, {0.5, true}, {0.6, false}, {0.81, true}, {0.9, false}, {0.7, false}, {0.85, false}, {0.3, false}, {0.9, true}, {1, false}} {
		if got := l.rises(c.share); got != c.rises {
			t.Errorf("%d: %v: %t", i, c.share, got)
		}
	}
}

// The text about a limit that has no effect says how to change it.
func TestLimitDiffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		configured, limit int64
		want              string
	}{
		{0, 0, ""},
		{5, 5, ""},
		{0, 7, "says no limit, and the stream PMG has a limit of 7 octets: .*--max-bytes=-1"},
		{5, 0, "says a limit of 5 octets, and the stream PMG has no limit: .*--max-bytes=5"},
	} {
		got := limitDiffers("PMG", c.configured, c.limit)
		before, behind, _ := strings.Cut(c.want, ".*")
		if (got == "") != (c.want == "") || !strings.Contains(got, before) || !strings.Contains(got, behind) {
			t.Errorf("%d, %d: %q", c.configured, c.limit, got)
		}
	}
}
