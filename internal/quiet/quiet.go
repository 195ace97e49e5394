// Package quiet finds the end of the quiet hours of recipients, by the local time of the recipients.
//
// # Start reading
//
// Hours.End.
package quiet

import (
	"fmt"
	"strings"
	"time"

	"pmg/internal/timetext"
	"pmg/sms/number"
)

// Hours are quiet hours, the same each day, in the time zones of recipients.
type Hours struct {
	from, to int            // minutes of the day; from is included, to is excluded
	zone     *time.Location // zone of other recipients; nil: other recipients have no quiet hours
	zones    number.Table[*time.Location]
}

// Options are the options of Hours.
type Options struct {
	From, To string   // times of the day, such as 21:00
	Zone     string   // zone of recipients without an entry in Zones, or empty
	Zones    []string // e.g. 46=Europe/Stockholm
}

// A Problem is the error of an option.
type Problem struct{ Option, Text string }

// New makes the hours of options.
func New(o Options) (*Hours, []Problem) {
	h := &Hours{}
	var problems []Problem
	problem := func(option, format string, args ...any) {
		problems = append(problems, Problem{option, fmt.Sprintf(format, args...)})
	}
	var okFrom, okTo bool
	if h.from, okFrom = minutes(o.From); !okFrom {
		problem("from", "must be a time of day such as 21:00, not %q", o.From)
	}
	if h.to, okTo = minutes(o.To); !okTo {
		problem("to", "must be a time of day such as 08:00, not %q", o.To)
	}
	if okFrom && okTo && h.from == h.to {
		problem("to", "must not be the same time as \"from\", because there would be no quiet hours")
	}
	if o.Zone == "" && len(o.Zones) == 0 {
		problem("zone", "must be given, or zones: quiet hours need a time zone")
	}
	const noZone = "must name a time zone such as Europe/Stockholm or UTC, not %q"
	var ok bool
	if h.zone, ok = timetext.LoadZone(o.Zone); o.Zone != "" && !ok {
		problem("zone", noZone, o.Zone)
	}
	for i, entry := range o.Zones {
		option := fmt.Sprintf("zones[%d]", i)
		text, name, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(text, "0") && !strings.HasPrefix(text, "+") {
			text = "+" + text // a country code; a leading 0 would mean a national number
		}
		prefix, digits := number.ParsePrefix(text)
		at, ok := timetext.LoadZone(name)
		switch {
		case !digits:
			problem(option, "must be digits, '=' and a zone, such as 46=Europe/Stockholm, not %q", entry)
		case !ok:
			problem(option, noZone, name)
		case h.isZone(prefix):
			problem(option, "repeats %s, which an earlier entry has: remove one of the two", prefix.Digits)
		default:
			h.zones.Set(prefix, at)
		}
	}
	return h, problems
}

// minutes reads a time of the day.
func minutes(text string) (int, bool) {
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err == nil && len(text) == len("15:04")
}

func (h *Hours) isZone(p number.Prefix) bool {
	_, known := h.zones.Of(p)
	return known
}

// Zone returns the time zone of a recipient, by the longest prefix of the number that has one. It returns nil if there is
// none.
func (h *Hours) Zone(recipient number.Number) *time.Location {
	if at, ok := h.zones.Find(recipient, func(*time.Location) bool { return true }); ok {
		return at
	}
	return h.zone
}

// End returns the first time, from at on, that is outside the quiet hours of a recipient, in Unix nanoseconds. If the clock of
// the zone is set forward past the end of the hours, they end at that moment. If it is set back before the end, they go on.
func (h *Hours) End(at int64, recipient number.Number) int64 {
	zone := h.Zone(recipient)
	if zone == nil {
		return at
	}
	for t := time.Unix(0, at).In(zone); ; {
		left := h.left(t)
		if left == 0 {
			return t.UnixNano()
		}
		_, changes := t.ZoneBounds()
		end := t.Add(left)
		if changes.IsZero() || end.Before(changes) {
			return end.UnixNano()
		}
		t = changes
	}
}

// left returns the rest of the quiet hours at a time, if the zone's clock is not set within it; 0: the time is outside the hours.
func (h *Hours) left(t time.Time) time.Duration {
	const day = 24 * 60
	hour, minute, second := t.Clock()
	now := hour*60 + minute
	if (now-h.from+day)%day >= (h.to-h.from+day)%day {
		return 0
	}
	left := time.Duration((h.to-now+day)%day) * time.Minute
	return left - time.Duration(second)*time.Second - time.Duration(t.Nanosecond())
}
