package protocols

import (
	"fmt"
	"time"
)

// TooLong appends a problem if the value of an option is longer than its field in a protocol.
func TooLong(problems []Problem, protocol, option, value string, most int) []Problem {
	if len(value) <= most {
		return problems
	}
	return append(problems, Problem{Option: option,
		Text: fmt.Sprintf("must be at most %d characters, the most that %s allows, not %d", most, protocol, len(value))})
}

// CheckZone appends a problem if the value of an option is no time zone.
func CheckZone(problems []Problem, option, value string) []Problem {
	if _, err := time.LoadLocation(value); err != nil {
		return append(
			problems,
			Problem{Option: option, Text: fmt.Sprintf("must be a time zone as Europe/Stockholm or UTC, not %q", value)},
		)
	}
	return problems
}

// Zone returns the time zone of an option. The option was checked. If the zone no longer exists, Zone returns UTC.
func Zone(value string) *time.Location {
	zone, err := time.LoadLocation(value)
	if err != nil {
		return time.UTC
	}
	return zone
}

// ParseBindType returns the bind type with that name in the configuration. It reports false if no bind type has the name.
func ParseBindType(name string) (b BindType, ok bool) {
	for b = Transmitter; b <= Transceiver; b++ {
		if b.String() == name {
			return b, true
		}
	}
	return 0, false
}
