package figuretext

import "testing"

func TestWords(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Number(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for seconds, want := range map[float64]string{0: "–", 0.25: "250 ms", 12.4: "12 s", 59.9: "1m", 90: "1m 30s", 1080: "18m", 3600: "1h", 3599.9: "1h", 7384: "2h 3m", 90000: "1d 1h"} {
		if got := Age(seconds); got != want {
			t.Errorf("%v: %q, want %q", seconds, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 2048: "2 KiB", 70 << 20: "70 MiB", 3 << 29: "1.5 GiB", 75 << 30: "75 GiB"} {
		if got := Octets(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// A delivered share is of what has ended, and there is none where nothing has.
func TestDeliveredShare(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		delivered, undelivered int64
		want                   string
	}{{0, 0, "–"}, {0, 3, "0.0 %"}, {15, 8, "65.2 %"}, {7, 0, "100.0 %"}} {
		if got := Percent(DeliveredShare(one.delivered, one.undelivered)); got != one.want {
			t.Errorf("%d of %d: %s, not %s", one.delivered, one.delivered+one.undelivered, got, one.want)
		}
	}
}
