// Package timetext reads and writes durations and times in forms for people.
//
// # Start reading
//
// ParseDuration, FormatDuration, ParseTime.
package timetext

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a duration, which may begin with days: 7d, 1d12h.
func ParseDuration(s string) (time.Duration, error) {
	before, rest, ok := strings.Cut(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	days, err := strconv.ParseUint(before, 10, 16)
	if err != nil {
		return time.ParseDuration(s)
	}
	d := time.Duration(days) * 24 * time.Hour
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err == nil && more < 0 {
		err = fmt.Errorf("%q has a sign after the days", s)
	}
	return d + more, err
}

// FormatDuration omits the zero units that time.Duration writes: 24h instead of 24h0m0s.
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

var errTime = errors.New(
	"use an age (10m, 24h, 7d), a time of day (19:05), a day (2026-11-20) or a time such as 2026-11-20T19:05:22Z",
)

// ParseTime parses a time in a form for people: an age, a time of day, a day, or both. Without a zone it is in UTC. It returns
// the zero time for "".
func ParseTime(s string, now time.Time) (time.Time, error) { return ParseTimeIn(s, now, time.UTC) }

// ParseTimeIn is ParseTime for people in a zone.
func ParseTimeIn(s string, now time.Time, zone *time.Location) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if ago, err := ParseDuration(s); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{
		time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly,
	} {
		if t, err := time.ParseInLocation(layout, strings.Replace(s, " ", "T", 1), zone); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return lastTime(t, now.In(zone)), nil
		}
	}
	return time.Time{}, errTime
}

// lastTime returns the latest time before now with the time of day of t, in the zone of now.
func lastTime(t, now time.Time) time.Time {
	y, m, d := now.Date()
	on := func(day int) time.Time {
		return time.Date(y, m, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), now.Location())
	}
	if at := on(d); !at.After(now) {
		return at
	}
	return on(d - 1)
}
