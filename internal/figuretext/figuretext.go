// Package figuretext writes numbers, shares, ages and octets as people read them.
//
// # Start reading
//
// figuretext.go (Number, DeliveredShare, Age, Octets).
package figuretext

import (
	"fmt"
	"strconv"
	"time"
)

// DeliveredShare returns the share of messages that are at the mobile, among the messages with a known end.
// Each of these has one final receipt, from the SMSC, or from the gateway for a message that no SMSC has
// accepted. It reports false if there are no such messages. All parts of the program that show a delivered
// share use this function.
func DeliveredShare(delivered, undelivered int64) (share float64, ok bool) {
	all := delivered + undelivered
	return float64(delivered) / float64(max(all, 1)), all > 0
}

// Percent writes a share, or a dash if ok is false.
func Percent(share float64, ok bool) string {
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// Number writes a number with separators between thousands.
func Number(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Age writes a number of seconds for people, with two units at most.
func Age(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d <= 0:
		return "–"
	case d < time.Second:
		return strconv.FormatFloat(float64(d.Round(time.Millisecond))/1e6, 'f', -1, 64) + " ms"
	case d < 59500*time.Millisecond:
		return fmt.Sprintf("%.0f s", seconds)
	}
	units := []struct {
		name string
		of   time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}
	for i, u := range units[:3] {
		next := units[i+1]
		if d = d.Round(next.of); d < u.of {
			d = time.Duration(seconds * float64(time.Second))
			continue
		}
		if rest := d % u.of / next.of; rest > 0 {
			return fmt.Sprintf("%d%s %d%s", d/u.of, u.name, rest, next.name)
		}
		return fmt.Sprintf("%d%s", d/u.of, u.name)
	}
	return d.String()
}

// Octets writes a number of octets for people.
func Octets(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
