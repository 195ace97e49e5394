package timetext

import (
	"time"
	_ "time/tzdata" // time zones, for machines that have no files of zones
)

// LoadZone returns the zone with a name, and reports whether there is one. "" is none, because a name was forgotten, and "Local"
// is none, because it differs from machine to machine.
func LoadZone(name string) (*time.Location, bool) {
	if name == "" || name == "Local" {
		return nil, false
	}
	at, err := time.LoadLocation(name)
	return at, err == nil
}
