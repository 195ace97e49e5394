package timetext

import (
	"testing"
	"time"
)

// A time without a zone is in the zone of who writes it, and one with a zone, or an age, means the same everywhere.
func TestParseTimeIn(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 29, 22, 30, 0, 0, time.UTC) // half past midnight, on the day behind a change of clocks
	zone, ok := LoadZone("Europe/Stockholm")
	if !ok {
		t.Fatal("no zone")
	}
	for text, want := range map[string]string{
		"2h": "2026-03-29T20:30:00Z", "2026-03-29": "2026-03-28T23:00:00Z", "2026-03-30": "2026-03-29T22:00:00Z",
		"2026-03-29T12:00": "2026-03-29T10:00:00Z", "2026-03-29 12:00:05": "2026-03-29T10:00:05Z", "2026-03-29T12:00:00Z": "2026-03-29T12:00:00Z",
		"2026-03-29T12:00+05:00": "2026-03-29T07:00:00Z", "00:30": "2026-03-29T22:30:00Z", "00:31": "2026-03-28T23:31:00Z", "12:00": "2026-03-29T10:00:00Z",
	} {
		got, err := ParseTimeIn(text, now, zone)
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v, not %s", text, got.UTC(), err, want)
		}
	}
	if got, err := ParseTime("12:00", now); err != nil || !got.Equal(time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)) {
		t.Error(got, err)
	}
	if got, err := ParseTimeIn("", now, zone); err != nil || !got.IsZero() {
		t.Error(got, err)
	}
	if _, err := ParseTimeIn("noon", now, zone); err == nil {
		t.Error("noon")
	}
}
