package stats

import (
	"context"
	"fmt"
	"testing"
	"time"

	_ "pmg/internal/timetext" // zones, for machines without them
)

// Days, months and hours are those of a zone, from the first hour of its first day to the last one of its last, over the days on which
// clocks change. Each event is in one row.
func TestZone(t *testing.T) {
	t.Parallel()
	c, number := begun(t), uint64(0)
	first, last := time.Date(2026, 10, 22, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	var lines [][]byte
	for at := first; at.Before(last); at = at.Add(time.Hour) {
		number++
		lines = append(lines, submit(number, "acme", at.Add(30*time.Minute)))
	}
	saved(t, c, lines...)
	for name, want := range map[string]struct {
		zone string
		by   string
		from time.Time
		to   time.Time
		rows string
	}{
		"UTC":              {"UTC", "day", date(2026, 10, 24), date(2026, 10, 26), "[2026-10-24: 24] [2026-10-25: 24] [2026-10-26: 24]"},
		"a long day":       {"Europe/Stockholm", "day", date(2026, 10, 24), date(2026, 10, 26), "[2026-10-24: 24] [2026-10-25: 25] [2026-10-26: 24]"},
		"an hour twice":    {"Europe/Stockholm", "hour", date(2026, 10, 25), date(2026, 10, 25), "[2026-10-25T00: 1] [2026-10-25T01: 1] [2026-10-25T02: 2] [2026-10-25T03: 1]"},
		"from the west":    {"America/New_York", "day", date(2026, 11, 1), date(2026, 11, 1), "[2026-11-01: 25]"},
		"from the east":    {"Pacific/Auckland", "day", date(2026, 11, 1), date(2026, 11, 1), "[2026-11-01: 24]"},
		"months":           {"America/New_York", "month", date(2026, 10, 31), date(2026, 11, 1), "[2026-10: 24] [2026-11: 25]"},
		"without a bound":  {"Asia/Tokyo", "month", time.Time{}, time.Time{}, "[2026-10: 231] [2026-11: 57]"},
		"before all":       {"Asia/Tokyo", "day", date(2026, 10, 1), date(2026, 10, 2), ""},
		"until the middle": {"Asia/Tokyo", "day", time.Time{}, date(2026, 10, 22), "[2026-10-22: 15]"},
	} {
		zone, err := time.LoadLocation(want.zone)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Read(context.Background(), c.dir, Query{From: want.from, To: want.to, Zone: zone, By: []string{want.by}})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for i, r := range rows {
			if want.by == "hour" && i == 4 {
				break
			}
			text += fmt.Sprintf(" [%s: %d]", r.Values[0], r.Figure("sent"))
		}
		if text != "" {
			text = text[1:]
		}
		if text != want.rows {
			t.Errorf("%s: %s, not %s", name, text, want.rows)
		}
	}
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// The hours of some zones are not those of UTC, in the whole year or in a part of it.
func TestHasHours(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"UTC": true, "Europe/Stockholm": true, "America/New_York": true, "Asia/Kolkata": false, "Asia/Kathmandu": false,
		"Australia/Adelaide": false, "Australia/Lord_Howe": false, "America/St_Johns": false,
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		if HasHours(zone, date(2026, 7, 1)) != want {
			t.Error(name)
		}
	}
}
